// Turns errors into SMTP replies with an enhanced status code (RFC 3463) and a text that names the fix.
import { ERRORS, type ErrorCode } from "@postloft/contract/errors.ts";
import { asAppError } from "../platform/http/errors.ts";
import type { AppError } from "../platform/app-error.ts";
import { CONTACT_CONSTRAINTS } from "../contacts/constraint-errors.ts";

/** RFC 5321 section 4.5.3.1.5, without the code and the line end. */
const MAX_TEXT_LENGTH = 500;

/** Returns a text that every client can read. */
function asciiLine(text: string): string {
  return text
    .replaceAll("…", "...")
    .replaceAll(/[^ -~]/g, "?")
    .slice(0, MAX_TEXT_LENGTH);
}

/** A negative reply. The server sends `responseCode` and the message. */
export class SmtpReply extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, text: string) {
    super(asciiLine(text));
    this.responseCode = responseCode;
  }
}

/** The headers with which a client sets fields of `/v1/send`. */
export const CONTROL_HEADERS = {
  tags: "X-Postloft-Tags",
  metadata: "X-Postloft-Metadata",
  scheduledFor: "X-Postloft-Scheduled-For",
  template: "X-Postloft-Template",
  locale: "X-Postloft-Locale",
  data: "X-Postloft-Data",
  tracking: "X-Postloft-Tracking",
} as const;

/** Replies by error code. All others are temporary, because the client can't know a better time. */
const REPLIES: Partial<Readonly<Record<ErrorCode, readonly [number, string]>>> = {
  INVALID_API_KEY: [535, "5.7.8"],
  FORBIDDEN: [535, "5.7.8"],
  PROJECT_DISABLED: [550, "5.7.1"],
  DOMAIN_NOT_VERIFIED: [550, "5.7.1"],
  VALIDATION_ERROR: [550, "5.6.0"],
  TEMPLATE_NOT_FOUND: [550, "5.6.0"],
  CONFLICT: [550, "5.6.0"],
  CONTACT_UNSUBSCRIBED: [550, "5.7.1"],
  PAYLOAD_TOO_LARGE: [552, "5.3.4"],
  BILLING_LIMIT_EXCEEDED: [452, "4.7.1"],
  RATE_LIMIT_EXCEEDED: [450, "4.7.1"],
};
const TEMPORARY = [451, "4.3.0"] as const;

const NOT_NOW = new SmtpReply(451, "4.3.0 The message could not be stored, try again later");

/** Returns the reply for an error, or for a failure of ours one that makes the client try again. */
export function replyTo(error: unknown): SmtpReply {
  if (error instanceof SmtpReply) return error;
  const known = asAppError(error, CONTACT_CONSTRAINTS);
  if (known === null) return NOT_NOW;
  const [code, enhanced] = REPLIES[known.code] ?? TEMPORARY;
  return new SmtpReply(code, `${enhanced} ${textOf(known)}`);
}

function textOf({ code, message, fields, retryAfterSeconds }: AppError): string {
  const faults = (fields ?? []).map((fault) => `${headerOf(fault.field)}: ${fault.message}`);
  const text = faults.length > 0 && message === ERRORS[code].message ? faults.join(" ") : message;
  return retryAfterSeconds === null ? text : `${text} Try again in ${retryAfterSeconds} s.`;
}

function headerOf(field: string): string {
  const [first = "", name] = field.split(".");
  if (first === "headers" && name !== undefined) return name;
  return first in CONTROL_HEADERS ? CONTROL_HEADERS[first as keyof typeof CONTROL_HEADERS] : field;
}
