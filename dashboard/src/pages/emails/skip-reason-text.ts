// Translates why an email was skipped: the codes of events and traces, and the reasons that the server stores as text.
import { reasonText } from "../../text/reason-text.ts";
import { t } from "../../text/t.ts";

const CODES: Readonly<Record<string, string>> = {
  PUBLIC_KEY_LIMIT: t("Too many emails to this contact because of events sent with the public key"),
  FIRST_EMAIL_LIMIT: t("Too many first emails to new contacts because of events sent with the public key"),
  PUBLIC_KEY_RECIPIENT: t("Events sent with the public key can't choose the recipient of an email"),
};

/** Returns a reason in the language of the user, or unchanged if we don't know it. */
export const skipReasonText = (reason: string): string => CODES[reason] ?? reasonText(reason);

/** Returns why a step was skipped from its output, or "" if the output doesn't say it. */
export function skipTextOf(output: Readonly<Record<string, unknown>> | null): string {
  const reason = output?.["code"] ?? output?.["reason"];
  return typeof reason === "string" ? skipReasonText(reason) : "";
}
