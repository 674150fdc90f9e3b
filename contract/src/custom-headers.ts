// Decides which headers callers of /v1/send may set, and which only the service or the installation may set.
import { z } from "zod";
import { hasControlCharacters, issue } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { withValues, type Wording } from "./translation.ts";

/** Set by the service only, because a caller's value could contradict the envelope, the body or the signature. */
const OWN_HEADERS = new Set([
  "to",
  "cc",
  "bcc",
  "from",
  "sender",
  "subject",
  "return-path",
  "date",
  "message-id",
  "mime-version",
  "dkim-signature",
  "received",
  "authentication-results",
  "feedback-id",
]);
const OWN_HEADER_PREFIXES = ["content-", "arc-", "x-postloft-", "resent-"];
/** Headers that control the mail provider, such as account, pool and suppressions. Only the installation may set them. */
const PROVIDER_HEADER_PREFIXES = [
  "x-ses-",
  "x-amz-",
  "x-smtpapi",
  "x-sg-",
  "x-msys-",
  "x-mailgun-",
  "x-mc-",
  "x-mandrill-",
  "x-pm-",
  "x-mj-",
  "x-mailjet-",
  "x-mailin-",
  "x-sib-",
  "x-mt-",
  "x-smtp2go-",
  "x-ms-exchange-",
];
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** @param name in lower case */
export function isProviderHeader(name: string): boolean {
  return PROVIDER_HEADER_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function headerProblem(name: string, value: string): Wording | null {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) return "A header name may contain ASCII letters, digits and - only.";
  if (name.length > LIMITS.headerNameLength.value)
    return withValues("A header name may have at most {most} characters.", {
      most: LIMITS.headerNameLength.value,
    });
  if (OWN_HEADERS.has(lower) || OWN_HEADER_PREFIXES.some((prefix) => lower.startsWith(prefix)))
    return withValues("The header {name} is set by the service. Use the matching field instead.", { name });
  if (isProviderHeader(lower))
    return withValues(
      "The header {name} controls the mail provider, so only the installation may set it. Remove it.",
      { name },
    );
  if (hasControlCharacters(value))
    return "A header value must not contain line breaks or control characters.";
  return null;
}

/** Custom headers of an email, by name. */
export const customHeaders = z
  .record(z.string(), z.string().max(LIMITS.headerValueLength.value))
  .superRefine((all, context) => {
    const names = Object.keys(all).map((name) => name.toLowerCase());
    if (names.length > LIMITS.headers.value)
      context.addIssue(
        issue(
          withValues("Must have at most {most} headers.", { most: LIMITS.headers.value }),
          "too_big",
          all,
        ),
      );
    for (const [name, value] of Object.entries(all)) {
      const problem = headerProblem(name, value);
      if (problem !== null) context.addIssue(issue(problem, "invalid_string", value, [name.slice(0, 100)]));
    }
    if (new Set(names).size !== names.length)
      context.addIssue(issue("Each header may appear only once.", "custom", all));
    if (names.includes("list-unsubscribe") !== names.includes("list-unsubscribe-post"))
      context.addIssue(
        issue("Set both List-Unsubscribe and List-Unsubscribe-Post, or neither.", "custom", all),
      );
  });
