// A message that came in over SMTP: a report about one of our mails, somebody who writes, or a machine that answers. Never throws.
// Before it: notices.ts has it as bytes. After it: interpret-notices.ts finds the mail, or the contact.
import PostalMime, { type Attachment, type Email } from "postal-mime";
import { domainOf, parseAddress } from "@postloft/contract/address.ts";
import { isId } from "../platform/ids.ts";
import type { MailNames } from "../emails/returned-emails.ts";
import { tellCause } from "../emails/answers.ts";
import { bareAddress, readFeedbackReport, readFieldGroups } from "./delivery-status.ts";
import { readBounce } from "./read-bounce.ts";
import { readMessageId, readText } from "./read-report.ts";
import type { ReturnPaths } from "./return-path.ts";
import { readSesEvent, type Report } from "./ses-events.ts";

export interface IncomingMessage {
  /** The project it is written to; it need not exist. */
  projectId: string;
  /** Who wrote, in canonical form; nobody proved it. */
  from: string;
  data: { subject: string | null; from: string; messageId: string | null; text: string | null };
}

export type Reading =
  | { kind: "reports"; reports: Report[] }
  | { kind: "message"; message: IncomingMessage }
  | { kind: "ignored"; why: string };

export interface Envelope {
  /** '' is the empty reverse-path of reports. */
  sender: string;
  recipient: string;
}

const PARSE_LIMITS = { maxNestingDepth: 20, maxHeadersSize: 256 * 1024, forceRfc822Attachments: true };
/** A report is short; what follows is the mail it is about. */
const MAX_REPORT_BYTES = 128 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_EXCERPT_LENGTH = 1_000;
const MAX_SUBJECT_LENGTH = 998;

/** `ownDomains`: where we take mail ourselves; a message that says it comes from there is a loop. */
export async function readReturnedMessage(
  raw: Buffer,
  envelope: Envelope,
  { returnPaths, ownDomains }: { returnPaths: ReturnPaths; ownDomains: readonly string[] },
): Promise<Reading> {
  let email: Email;
  try {
    email = await PostalMime.parse(raw, PARSE_LIMITS);
  } catch (error) {
    return { kind: "ignored", why: `not readable: ${readText(String(error), 200) ?? ""}` };
  }
  const reports = reportsIn(email, raw, envelope, returnPaths);
  if (reports.length > 0) return { kind: "reports", reports };
  const local = localPartOf(envelope.recipient).toLowerCase();
  if (!isId(local)) return { kind: "ignored", why: "no report in it" };
  const machine = automatic(email, envelope, ownDomains);
  if (machine !== null) return { kind: "ignored", why: machine };
  return incoming(email, local);
}

export function localPartOf(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf("@")));
}

function reportsIn(email: Email, raw: Buffer, envelope: Envelope, returnPaths: ReturnPaths): Report[] {
  const part = (type: string) => email.attachments.find(({ mimeType }) => mimeType === type);
  const original =
    part("message/rfc822") ??
    part("text/rfc822-headers") ??
    part("message/global") ??
    part("message/global-headers");
  const headers = original === undefined ? undefined : readFieldGroups(textOf(original, MAX_HEADER_BYTES))[0];
  const at = null;
  const feedback = part("message/feedback-report");
  if (feedback !== undefined) {
    const told = readFeedbackReport(textOf(feedback, MAX_REPORT_BYTES));
    if (told === null) return [];
    const path = [envelope.recipient, told.returnPath, bareAddress(headers?.get("return-path"))];
    const names = namesOf(path, headers?.get("message-id"), returnPaths);
    const recipients = told.recipient === null ? null : [told.recipient];
    return names === null ? [] : [{ names, recipients, kind: told.kind, at, data: reasonOf(told.reason) }];
  }
  // Only the address of the mail itself proves which mail it is: a bounce costs the contact its subscription.
  const names = namesOf([envelope.recipient], undefined, returnPaths);
  if (names === null) return [];
  // Outlook.com's feedback loop sends the mail without a report; this header is theirs.
  if (headers?.has("x-hmxmroriginalrecipient"))
    return [{ names, recipients: null, kind: "complaint", at, data: reasonOf("abuse Outlook.com") }];
  // Amazon SNS can mail the notices of SES.
  const told = readSesEvent(jsonIn(email.text));
  if (told?.report) return [{ ...told.report, names }];
  const bounce = readBounce(email, raw, envelope.sender);
  if (bounce.kind === "nothing") return [];
  return bounce.statuses.map(({ recipient, kind, reason, cause, refusedBy }) => ({
    names,
    recipients: recipient === null ? null : [recipient],
    kind,
    at,
    data: cause === null ? {} : { ...reasonOf(reason), ...tellCause(cause, refusedBy) },
  }));
}

/** Before what Amazon SNS writes below it. */
function jsonIn(text: string | undefined): string {
  // A line of it that was too long for a mail ends in "!".
  const start = (text ?? "").trimStart().replace(/!\r?\n /g, "");
  return start.startsWith('{"') ? start.slice(0, start.search(/\n--\r?\n|$(?![^])/)).trim() : "";
}

const reasonOf = (reason: string | null) => (reason === null ? {} : { reason });

/** The mail by one of the addresses that only we can make; else by our Message-ID, which only those know who got the mail. */
function namesOf(
  addresses: ReadonlyArray<string | null>,
  messageId: string | undefined,
  returnPaths: ReturnPaths,
): MailNames | null {
  for (const address of addresses) {
    const returned = address === null ? null : returnPaths.read(localPartOf(address));
    if (returned !== null) return { ...returned, providerId: null };
  }
  const emailId = readMessageId(messageId);
  return emailId === null ? null : { projectId: null, emailId, providerId: null };
}

function textOf({ content }: Attachment, maxBytes: number): string {
  const bytes = typeof content === "string" ? Buffer.from(content) : Buffer.from(content as Uint8Array);
  return bytes.subarray(0, maxBytes).toString("utf8");
}

/** RFC 3834 §2: what no person wrote is not answered, and here it starts nothing. Says what gave it away; null for a person. */
function automatic(email: Email, { sender }: Envelope, ownDomains: readonly string[]): string | null {
  const value = (name: string) =>
    email.headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase();
  if (sender === "") return "the empty sender of a machine";
  const submitted = value("auto-submitted");
  if (submitted !== undefined && !submitted.startsWith("no")) return "Auto-Submitted";
  if (/^(bulk|junk|list|auto_reply)/.test(value("precedence") ?? "")) return "Precedence";
  const telling = ["list-id", "list-unsubscribe", "x-autoreply", "x-autorespond", "feedback-id", "x-loop"];
  const found = telling.find((name) => value(name) !== undefined);
  if (found !== undefined) return found;
  if ((value("content-type") ?? "").startsWith("multipart/report")) return "a report";
  const domains = [sender, email.from?.address ?? ""].map((address) => domainOf(address.toLowerCase()));
  return domains.some((domain) => ownDomains.includes(domain)) ? "a loop" : null;
}

function incoming(email: Email, projectId: string): Reading {
  const parsed = parseAddress(email.from?.address ?? "");
  if (!parsed.ok) return { kind: "ignored", why: "no sender in it" };
  const from = parsed.address;
  return {
    kind: "message",
    message: {
      projectId,
      from,
      data: {
        subject: readText(email.subject, MAX_SUBJECT_LENGTH),
        from,
        messageId: readText(email.messageId?.replace(/^<|>$/g, ""), 400),
        text: readText(email.text, MAX_EXCERPT_LENGTH),
      },
    },
  };
}
