// Translates why an email was skipped: the codes of events and traces, and the reasons that the server stores as text.
import { RECORDED_REASONS } from "@postloft/contract/recorded-reasons.ts";
import { reasonText } from "../../text/reason-text.ts";

const CODES: Readonly<Record<string, string>> = {
  PUBLIC_KEY_LIMIT: RECORDED_REASONS.publicKeyLimit,
  FIRST_EMAIL_LIMIT: RECORDED_REASONS.firstEmailLimit,
  PUBLIC_KEY_RECIPIENT: RECORDED_REASONS.publicKeyRecipient,
};

/** Returns a code or a reason in the user's language, or unchanged if we don't know it. */
export const skipReasonText = (reason: string): string => reasonText(CODES[reason] ?? reason);

/** Returns why a step was skipped from its output, or "" if the output doesn't say it. */
export function skipTextOf(output: Readonly<Record<string, unknown>> | null): string {
  const reason = output?.["code"] ?? output?.["reason"];
  return typeof reason === "string" ? skipReasonText(reason) : "";
}
