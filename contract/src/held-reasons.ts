// Why a campaign waits for a person, by code: a program and the dashboard say it in words of their own.
import type { z } from "zod";
import { saidBy, sayerOf } from "./advice.ts";

/** By code, with `{names}` of what is filled in. */
export const HELD_REASONS = {
  "held.missed":
    "Its time was missed by more than an hour, while the service did not run: send it, or give it another time.",
  "held.sender": "The domain {domain} is not verified in this project.",
  "held.overCap":
    "It has {recipients} recipients, and the cap on mails of campaigns leaves room for {room} this month. Nobody has got it yet: raise the cap or wait for the next month, then resume it.",
  "held.audience":
    "It paused by itself before anybody got it, because its recipients could not be determined: {said} Mend that and resume it, or cancel it.",
  "held.refused":
    "It paused by itself: more than a fifth of its last {last} mails were refused for who sends them or how, not for their recipients. The last answer was: {answer}",
  "held.doubtOfLast":
    "It paused by itself: more than a fifth of its last {last} mails were handed over and got no answer, so that nobody knows whether they were taken. They are UNCONFIRMED: look them up at the mail server. The last one: {answer}",
  "held.doubtInARow":
    "It paused by itself: {count} in a row were handed over and got no answer, so that nobody knows whether they were taken. They are UNCONFIRMED: look them up at the mail server. The last one: {answer}",
  "held.wentBack":
    "Held: the database went back to an earlier state, so what waits here may have left already. Send it on, or cancel it; whoever runs the installation can do so for all.",
  "held.unscheduled":
    "Not scheduled any more: the database went back to an earlier state, so it may have been sent already.",
  "held.forgotten":
    "Held: a standby of the database took over that knows nothing of its start, although {mails} of its mails had left. Sent again, it goes to these people again; the log names the mails.",
  "held.other": "{said}",
} as const;
export type HeldReasonCode = keyof typeof HELD_REASONS;

export const heldReasonPart = saidBy<HeldReasonCode>(HELD_REASONS);
export type HeldReason = z.output<typeof heldReasonPart>;

/** The reason of a code, with its values filled in. */
export const holdFor = sayerOf<HeldReasonCode>(HELD_REASONS);
