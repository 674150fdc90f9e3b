// Translates why an email was skipped: the codes of events and traces, and the sentences of the server that we know.
import { t } from "../../text/t.ts";

const REASONS: Readonly<Record<string, string>> = {
  PUBLIC_KEY_LIMIT: t("Too many emails to this contact because of events sent with the public key"),
  FIRST_EMAIL_LIMIT: t("Too many first emails to new contacts because of events sent with the public key"),
  PUBLIC_KEY_RECIPIENT: t("Events sent with the public key can't choose the recipient of an email"),
  "The contact is not subscribed.": t("The contact isn't subscribed."),
  "This month's cap on workflow emails is reached.": t("This month's cap on workflow emails is reached."),
  "The email was already sent before the move to another step.": t(
    "The email was already sent before the move to another step.",
  ),
  "The execution was moved to another step.": t("The execution was moved to another step."),
  "The contact was deleted.": t("The contact was deleted."),
  "The address is on the suppression list: its owner complained about a mail.": t(
    "The address is on the suppression list because of a spam complaint.",
  ),
  "The address is on the suppression list: a mail to it bounced.": t(
    "The address is on the suppression list because an email bounced.",
  ),
  "The address is on the suppression list: somebody put it there.": t(
    "The address is on the suppression list because a user added it.",
  ),
  "The address is on the suppression list: it was imported.": t(
    "The address is on the suppression list because it was imported.",
  ),
};

/** Returns a reason in the language of the user, or unchanged if we don't know it. */
export const skipReasonText = (reason: string): string => REASONS[reason] ?? reason;
