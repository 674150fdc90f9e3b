// Why a campaign waits for a person, in the viewer's language: by its code, with what it names.
import type { HeldReason, HeldReasonCode } from "@postloft/contract/held-reasons.ts";
import { sayAll } from "../../text/say-all.ts";
import { saidByServer, t } from "../../text/t.ts";

type Name = "domain" | "recipients" | "room" | "last" | "count" | "mails" | "answer" | "said";
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

const SENTENCES: Record<HeldReasonCode, (values: Values) => string> = {
  "held.missed": () =>
    t(
      "Its time was missed by more than an hour, while the service did not run: send it, or give it another time.",
    ),
  "held.sender": (values) => t("The domain {domain} is not verified in this project.", values),
  "held.overCap": (values) =>
    t(
      "It has {recipients} recipients, and the cap on mails of campaigns leaves room for {room} this month. Nobody has got it yet: raise the cap or wait for the next month, then resume it.",
      values,
    ),
  "held.audience": ({ said }) =>
    t(
      "It paused by itself before anybody got it, because its recipients could not be determined: {said} Mend that and resume it, or cancel it.",
      { said: saidByServer(String(said)) },
    ),
  "held.refused": (values) =>
    t(
      "It paused by itself: more than a fifth of its last {last} mails were refused for who sends them or how, not for their recipients. The last answer was: {answer}",
      values,
    ),
  "held.doubtOfLast": (values) =>
    t(
      "It paused by itself: more than a fifth of its last {last} mails were handed over and got no answer. Nobody knows whether they were taken: look them up at the mail server. The last one: {answer}",
      values,
    ),
  "held.doubtInARow": (values) =>
    t(
      "It paused by itself: {count} mails in a row were handed over and got no answer. Nobody knows whether they were taken: look them up at the mail server. The last one: {answer}",
      values,
    ),
  "held.wentBack": () =>
    t(
      "The database went back to an earlier state, so what waits here may have left already. Send it on, or cancel it; whoever runs the installation can do so for all.",
    ),
  "held.unscheduled": () =>
    t(
      "Not scheduled any more: the database went back to an earlier state, so it may have been sent already.",
    ),
  "held.forgotten": (values) =>
    t(
      "A standby of the database took over that knows nothing of its start, although {mails} of its mails had left. Sent again, it goes to these people again; the log names the mails.",
      values,
    ),
  "held.other": ({ said }) => String(said),
};

/** Empty when it does not wait. */
export function heldReasonText({ heldReasonParts }: { heldReasonParts: readonly HeldReason[] }): string {
  return sayAll(SENTENCES, heldReasonParts);
}
