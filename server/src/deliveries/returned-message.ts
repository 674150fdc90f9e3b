// Classifies a message received over SMTP: a report about our email, a person writing, or an automatic reply.
import type { Attachment, Email } from "postal-mime";
import { domainOf, localPartOf, parseAddress } from "@postloft/contract/address.ts";
import { SIGNED_ID_HEADER } from "../message/message-headers.ts";
import type { MailNames } from "../emails/returned/returned-emails.ts";
import { htmlToText } from "../rendering/text-part.ts";
import { notifyCause } from "../transports/replies/replies.ts";
import { isInboundName } from "../projects/projects.ts";
import type { WrittenHeader } from "../received/keep-received.ts";
import { bareAddress, readFeedbackReport, readFieldGroups, type FieldGroup } from "./delivery-status.ts";
import { parseApart } from "./parse-apart.ts";
import { readBounce } from "./read-bounce.ts";
import { readText } from "../platform/foreign-values.ts";
import { readMessageId } from "./read-report.ts";
import type { ReturnPaths } from "./return-path.ts";
import { readSesEvent, type Report } from "./ses-events.ts";

export interface IncomingMessage {
  /** Local part of the project's address, or the project's domain. The project may not exist. */
  to: { inboundName: string } | { domain: string };
  /** Sender in canonical form, not verified. */
  from: string;
  header: WrittenHeader;
  data: {
    subject: string | null;
    from: string;
    /** Where it arrived, so that workflows and endpoints can react to some addresses only. */
    address: string;
    localPart: string;
    messageId: string | null;
    text: string | null;
  };
}

/** A message to the instance admin. */
export interface AdminMessage {
  /** The address it was sent to. */
  recipient: string;
  from: string;
  subject: string;
  text: string;
  /** Whether it may be forwarded. Reports about our own email could loop forever. */
  mayBePassedOn: boolean;
}

export type Reading =
  | { kind: "reports"; reports: Report[] }
  | { kind: "operator"; message: AdminMessage }
  | { kind: "message"; message: IncomingMessage }
  | { kind: "ignored"; why: string };

export interface Envelope {
  /** Empty for the null reverse-path of reports. */
  sender: string;
  recipient: string;
}

/** A report is short; the rest is the original email. */
const MAX_REPORT_BYTES = 128 * 1024;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_EXCERPT_LENGTH = 1_000;
const MAX_SUBJECT_LENGTH = 998;
const MAX_OPERATOR_TEXT_LENGTH = 20_000;
/** Accepted at each of our domains (RFC 5321 §4.5.1, RFC 2142 §4). */
const OPERATOR_NAMES: readonly string[] = ["postmaster", "abuse"];

/**
 * Classifies a received message. A message from one of `ownDomains`, where we receive email ourselves, is a loop. No content makes this
 * throw.
 * @throws TaskOverLimit if it takes too long; AppError RATE_LIMIT_EXCEEDED if too many wait
 */
export async function readReturnedMessage(
  raw: Buffer,
  envelope: Envelope,
  { returnPaths, ownDomains }: { returnPaths: ReturnPaths; ownDomains: readonly string[] },
): Promise<Reading> {
  const parsed = await parseApart(raw);
  const local = localPartOf(envelope.recipient).toLowerCase();
  const isProjectDomain = isAtProjectDomain(envelope.recipient, ownDomains);
  const isWritten = isProjectDomain ? returnPaths.read(local) === null : isInboundName(local);
  if ("fault" in parsed) {
    // A message from a person is received even if only its header can be read.
    if (parsed.header !== null && isWritten) return written(parsed.header, envelope, ownDomains);
    return { kind: "ignored", why: `not readable: ${readText(parsed.fault, 200) ?? ""}` };
  }
  const { email } = parsed;
  if (isProjectDomain && isWritten) return written(email, envelope, ownDomains);
  const reports = reportsIn(email, raw, envelope, returnPaths);
  if (reports.length > 0) return { kind: "reports", reports };
  // Providers also use the complaint address to ask whether it is ours.
  if (isOperatorName(local === "" ? envelope.recipient : local) || local === returnPaths.feedbackName)
    return { kind: "operator", message: toAdminMessage(email, envelope, ownDomains) };
  if (!isWritten) return { kind: "ignored", why: "no report in it" };
  return written(email, envelope, ownDomains);
}

/** Returns whether an address is at the domain of a project, where every address receives email. Only `postmaster` has no domain. */
export function isAtProjectDomain(recipient: string, ownDomains: readonly string[]): boolean {
  return recipient.includes("@") && !ownDomains.includes(domainOf(recipient.toLowerCase()));
}

/** Returns the message of a person, and ignores that of a machine. */
function written(email: Email, envelope: Envelope, ownDomains: readonly string[]): Reading {
  const machine = automatic(email, envelope, ownDomains);
  if (machine !== null) return { kind: "ignored", why: machine };
  return incoming(email, envelope, ownDomains);
}

/** Returns whether every domain must have this local part. */
export function isOperatorName(localPart: string): boolean {
  return OPERATOR_NAMES.includes(localPart.toLowerCase());
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
    const reported = readFeedbackReport(textOf(feedback, MAX_REPORT_BYTES));
    if (reported === null) return [];
    const names = complainedAbout(envelope.recipient, reported.returnPath, headers, returnPaths);
    const recipients = reported.recipient === null ? null : [reported.recipient];
    return names === null
      ? []
      : [{ names, recipients, kind: reported.kind, at, data: reasonOf(reported.reason) }];
  }
  // Outlook.com's feedback loop sends the email without a report; this header is specific to it.
  if (headers?.has("x-hmxmroriginalrecipient")) {
    const about = complainedAbout(envelope.recipient, null, headers, returnPaths);
    const data = reasonOf("abuse Outlook.com");
    return about === null ? [] : [{ names: about, recipients: null, kind: "complaint", at, data }];
  }
  // Only the email's own address proves which email bounced, because a bounce can unsubscribe the contact.
  const names = namesOf([localPartOf(envelope.recipient)], undefined, returnPaths);
  if (names === null) return [];
  // Amazon SNS can deliver SES notices by email.
  const reported = readSesEvent(jsonIn(email.text));
  if (reported !== null && reported.reports.length > 0)
    return reported.reports.map((report) => ({ ...report, names }));
  const bounce = readBounce(email, raw, envelope.sender);
  if (bounce.kind === "nothing") return [];
  const { kept } = bounce;
  return bounce.statuses.map(({ recipient, kind, reason, cause, refusedBy }, index) => ({
    ...(kept === null || index > 0 ? {} : { kept }),
    names,
    // Words without a recipient can't be assigned to the contact if the email had copies.
    recipients: recipient === null ? (kept === null ? null : []) : [recipient],
    kind,
    at,
    data: cause === null ? {} : { ...reasonOf(reason), ...notifyCause(cause, refusedBy) },
  }));
}

/** Returns the JSON before the footer that Amazon SNS adds. */
function jsonIn(text: string | undefined): string {
  // A line too long for email is broken after "!".
  const start = (text ?? "").trimStart().replace(/!\r?\n /g, "");
  return start.startsWith('{"') ? start.slice(0, start.search(/\n--\r?\n|$(?![^])/)).trim() : "";
}

const reasonOf = (reason: string | null) => (reason === null ? {} : { reason });

/**
 * Finds the email of a complaint by a token only we can create, in the report or the email it includes. Without a token our Message-ID
 * counts only at the unguessable address.
 */
function complainedAbout(
  recipient: string,
  returnPath: string | null,
  headers: FieldGroup | undefined,
  returnPaths: ReturnPaths,
): MailNames | null {
  const signedIds = [
    localPartOf(recipient),
    localPartOf(returnPath ?? ""),
    localPartOf(bareAddress(headers?.get("return-path")) ?? ""),
    headers?.get(SIGNED_ID_HEADER.toLowerCase())?.trim() ?? "",
  ];
  const isBelieved = localPartOf(recipient).toLowerCase() === returnPaths.feedbackName;
  return namesOf(signedIds, isBelieved ? headers?.get("message-id") : undefined, returnPaths);
}

/** Finds the email by a token only we can create, otherwise by our Message-ID. */
function namesOf(
  signedIds: readonly string[],
  messageId: string | undefined,
  returnPaths: ReturnPaths,
): MailNames | null {
  for (const signedId of signedIds) {
    const returned = returnPaths.read(signedId);
    if (returned !== null) return { ...returned, providerId: null };
  }
  const emailId = readMessageId(messageId);
  return emailId === null ? null : { projectId: null, emailId, providerId: null };
}

function textOf({ content }: Attachment, maxBytes: number): string {
  const bytes = typeof content === "string" ? Buffer.from(content) : Buffer.from(content as Uint8Array);
  return bytes.subarray(0, maxBytes).toString("utf8");
}

/** Returns what shows that a machine wrote the message (RFC 3834 §2), or null for a person. */
function automatic(
  email: Email,
  { sender, recipient }: Envelope,
  ownDomains: readonly string[],
): string | null {
  const value = (name: string) =>
    email.headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase();
  if (sender === "") return "the empty sender of a machine";
  const submitted = value("auto-submitted");
  if (submitted !== undefined && !submitted.startsWith("no")) return "Auto-Submitted";
  if (/^(bulk|junk|list|auto_reply)/.test(value("precedence") ?? "")) return "Precedence";
  // Senders such as Amazon SES mark every email like this, also that of a person. A reply address gets only replies, a domain all kinds.
  const sending = isAtProjectDomain(recipient, ownDomains) ? [] : ["list-unsubscribe", "feedback-id"];
  const notifying = ["list-id", "x-autoreply", "x-autorespond", "x-loop", ...sending];
  const found = notifying.find((name) => value(name) !== undefined);
  if (found !== undefined) return found;
  if ((value("content-type") ?? "").startsWith("multipart/report")) return "a report";
  const domains = [sender, email.from?.address ?? ""].map((address) => domainOf(address.toLowerCase()));
  return domains.some((domain) => ownDomains.includes(domain)) ? "a loop" : null;
}

/** Returns the text a person wrote, or the text within the HTML if there is only HTML. */
function wordsOf({ text, html }: Email): string | undefined {
  if (html === undefined || (text !== undefined && text.trim() !== "")) return text;
  return htmlToText(html.slice(0, MAX_REPORT_BYTES));
}

function toAdminMessage(email: Email, envelope: Envelope, ownDomains: readonly string[]): AdminMessage {
  const domains = [envelope.sender, email.from?.address ?? ""].map((one) => domainOf(one.toLowerCase()));
  return {
    recipient: envelope.recipient,
    from: readText(email.from?.address, MAX_SUBJECT_LENGTH) ?? envelope.sender,
    subject: readText(email.subject, MAX_SUBJECT_LENGTH) ?? "",
    text: readText(wordsOf(email), MAX_OPERATOR_TEXT_LENGTH) ?? "",
    mayBePassedOn: envelope.sender !== "" && !domains.some((domain) => ownDomains.includes(domain)),
  };
}

/**
 * Falls back to the envelope's sender if From is an address that no contact can have, because a person's message must not be lost. A message
 * without any address in From is a machine's.
 */
function incoming(email: Email, { sender, recipient }: Envelope, ownDomains: readonly string[]): Reading {
  const author = email.from?.address ?? "";
  const senders = [author, author.includes("@") ? sender : ""].map((one) => parseAddress(one));
  const found = senders.find((parsed) => parsed.ok);
  if (found === undefined) return { kind: "ignored", why: "no sender in it" };
  const from = found.address;
  const address = recipient.toLowerCase();
  const localPart = localPartOf(address);
  const header = readHeader(email);
  return {
    kind: "message",
    message: {
      to: isAtProjectDomain(address, ownDomains) ? { domain: domainOf(address) } : { inboundName: localPart },
      from,
      header,
      data: {
        subject: readText(email.subject, MAX_SUBJECT_LENGTH),
        from,
        address,
        localPart,
        messageId: readText(header.messageId?.replace(/^<|>$/g, ""), 400),
        text: readText(wordsOf(email), MAX_EXCERPT_LENGTH),
      },
    },
  };
}

const readField = (value: string | undefined) => readText(value, Infinity);

/** Returns the header fields without NUL, which PostgreSQL rejects. `keepReceivedEmails` bounds their length. */
function readHeader(email: Email): WrittenHeader {
  return {
    fromName: readField(email.from?.name),
    replyTo: readField(email.replyTo?.[0]?.address),
    subject: readField(email.subject),
    messageId: readField(email.messageId),
    inReplyTo: readField(email.inReplyTo),
    references: readField(email.references),
  };
}
