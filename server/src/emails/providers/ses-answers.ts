// What an answer of Amazon SES other than 200 means for the message: refused, not now, or nobody knows. Pure.
// Before it: ses.ts has the answer. After it: the outcome, for emails/sender.ts.

export type Refusal = "rejected" | "outage" | "uncertain";

/** Errors about this one message, which no other attempt would mend (SESv2 SendEmail, and AWS' common errors). */
const ABOUT_THE_MESSAGE = [
  "MessageRejected",
  "MailFromDomainNotVerified",
  "BadRequest",
  "Validation",
  "InvalidParameterValue",
  "Serialization",
];
const CONTENT_TOO_LARGE = 413;
const SERVICE_UNAVAILABLE = 503;

/**
 * Reads the status and the error's name, empty when the answer names none: then it is not SES that speaks.
 *
 * - 4xx and 3xx: surely not taken. About the message → rejected. All others (throttled, quota, paused, suspended, bad
 *   signature, no right to send, no such configuration set, a proxy in the way) are about the account or our settings
 *   and the next message would meet them too → outage.
 * - 5xx with SES' own error name: "if the call fails, Amazon SES returns an error message and does not send the
 *   email" (SES developer guide, "Amazon SES email sending errors") → outage. The same for any 503: the request was not
 *   handled (RFC 9110 §15.6.4).
 * - 5xx without a name comes from something between, which does not know what SES did with the request → uncertain.
 */
export function judgeAnswer(status: number, errorName: string): Refusal {
  if (status < 300) return "uncertain";
  if (status >= 500) return errorName !== "" || status === SERVICE_UNAVAILABLE ? "outage" : "uncertain";
  const isAboutTheMessage = ABOUT_THE_MESSAGE.includes(errorName.replace(/(Exception|Error)$/, ""));
  return isAboutTheMessage || status === CONTENT_TOO_LARGE ? "rejected" : "outage";
}
