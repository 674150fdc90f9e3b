// Reasons why a campaign waits for a person, by code, so that programs and the dashboard can use their own wording.
import type { z } from "zod";
import { sentenceSchema, sentenceBuilderOf } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const HELD_REASONS = {
  "held.missed":
    "Missed its scheduled time by more than an hour because the server was down. Send it now or reschedule it.",
  "held.sender": "The domain {domain} is not verified in this project.",
  "held.overCap":
    "It has {recipients} recipients, but the monthly cap on campaign email leaves room for {room}. No emails were sent yet. Raise the cap or wait for next month, then resume it.",
  "held.audience":
    "Paused automatically before any email was sent, because the recipients could not be determined: {said} Fix this and resume the campaign, or cancel it.",
  "held.refused":
    "Paused automatically: over 20% of the last {last} emails were rejected because of the sender, not the recipients. Last response: {answer}",
  "held.doubtOfLast":
    "Paused automatically because over 20% of the last {last} emails got no response, so it is unknown whether they were accepted. They are UNCONFIRMED; check the logs of your mail server. Last error: {answer}",
  "held.doubtInARow":
    "Paused automatically because {count} emails in a row got no response, so it is unknown whether they were accepted. They are UNCONFIRMED; check the logs of your mail server. Last error: {answer}",
  "held.wentBack":
    "Held because the database was rolled back to an earlier state, so some emails may have been sent already. Send or cancel it. Your administrator can do so for all held items.",
  "held.unscheduled":
    "No longer scheduled, because the database was rolled back to an earlier state and the campaign may have been sent already.",
  "held.forgotten":
    "Held because a standby database took over that has no record of its start, although {mails} of its emails were sent. If you send it again, these recipients get it twice. The log lists the emails.",
  "held.other": "{said}",
} as const;
export type HeldReasonCode = keyof typeof HELD_REASONS;

export const heldReasonPart = sentenceSchema<HeldReasonCode>(HELD_REASONS);
export type HeldReason = z.output<typeof heldReasonPart>;

/** Returns the reason for a code with its values filled in. */
export const holdFor = sentenceBuilderOf<HeldReasonCode>(HELD_REASONS);
