// Translates the reason why a campaign is held until a person decides, which the server sends as a code and values.
import type { HeldReason, HeldReasonCode } from "@postloft/contract/held-reasons.ts";
import { translateParts } from "../../text/say-all.ts";
import { translateMessage, t } from "../../text/t.ts";

type Name = "domain" | "recipients" | "room" | "last" | "count" | "mails" | "answer" | "said";
type Values = Record<Name, string | number>;

const SENTENCES: Record<HeldReasonCode, (values: Values) => string> = {
  "held.missed": () => t("Missed its scheduled time because the server was down. Send it now or reschedule."),
  "held.sender": (values) => t("The domain {domain} isn't verified in this project.", values),
  "held.overCap": (values) =>
    t(
      "The campaign has {recipients} recipients, but your monthly cap only leaves {room}. Raise the cap or wait until next month, then resume.",
      values,
    ),
  "held.audience": ({ said }) =>
    t(
      "Paused automatically before sending, because we couldn't determine the recipients. {said} Fix it and resume, or cancel.",
      { said: translateMessage({ message: String(said) }) },
    ),
  "held.refused": (values) =>
    t(
      "Paused automatically: over 20% of the last {last} emails were rejected because of the sender, not the recipients. Last response: {answer}",
      values,
    ),
  "held.doubtOfLast": (values) =>
    t(
      "Paused automatically: over 20% of the last {last} emails weren't confirmed by the mail server. Check its log to see if they arrived. Last response: {answer}",
      values,
    ),
  "held.doubtInARow": (values) =>
    t(
      "Paused automatically: the mail server didn't confirm {count} emails in a row. Check its log to see if they arrived. Last response: {answer}",
      values,
    ),
  "held.wentBack": () =>
    t(
      "The database was restored to an earlier state, so these emails may have been sent already. Resume or cancel. Your instance admin can do this for all projects.",
    ),
  "held.unscheduled": () =>
    t(
      "No longer scheduled. The database was restored to an earlier state, so the campaign may have been sent already.",
    ),
  "held.forgotten": (values) =>
    t(
      "A database failover lost this campaign's start, but {mails} emails were sent. Sending again reaches those people twice. The server log lists them.",
      values,
    ),
  "held.other": ({ said }) => String(said),
};

/** Returns an empty text if the campaign is not held. */
export function heldReasonText({ heldReasonParts }: { heldReasonParts: readonly HeldReason[] }): string {
  return translateParts(SENTENCES, heldReasonParts);
}
