// Parts of a mail to the bytes of a message: header, MIME tree, base64 bodies (RFC 5322, RFC 2045, RFC 2046).
// Before it: emails/sender.ts, which rendered the content. After it: dkim.ts signs, a transport takes the bytes.
import { hash } from "node:crypto";
import type { Attachment } from "./attachment.ts";
import { attachmentHeader } from "./attachment.ts";
import type { Mailbox } from "./header.ts";
import { customField, dateField, idField, mailboxField, textField } from "./header.ts";

/** Everything a message says. The envelope is not part of it. */
export interface MessageParts {
  /** Without angle brackets; also decides the boundaries, so the same parts give the same bytes on every attempt. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc?: readonly Mailbox[];
  replyTo?: Mailbox;
  subject: string;
  /** Empty: the message is plain text alone. */
  html: string;
  /** Empty: the message is HTML alone. */
  text: string;
  /** Custom and list headers, allow-checked by the caller, in the order they are written. */
  headers: readonly { name: string; value: string }[];
  attachments: readonly Attachment[];
}

/** One entity of the tree, flat: strings are written as they are, a Buffer is written as base64 lines. */
type Entity = (string | Buffer)[];

/** RFC 2045 section 6.8: encoded lines of at most 76 characters, which are 57 bytes. */
const BASE64_LINE_LENGTH = 76;
const LINE_BREAK_LENGTH = 2;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** Fields this file writes itself; one more of them would make two (RFC 5322 section 3.6) or reveal a Bcc. */
const OWN_FIELD =
  /^(from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*|dkim-signature)$/i;

/**
 * Builds the whole message: header and body, CRLF line ends, no line over 998 octets, no DKIM. Text and HTML become
 * an alternative, inline parts with a content id are related to the HTML, everything else is mixed around them.
 * @throws TypeError for what the caller must have refused: a malformed address, id, date or header name, a custom
 * header that the message has already.
 */
export function buildMessage(parts: MessageParts): Buffer {
  return serialise([messageHeader(parts), ...contentEntity(parts)]);
}

function messageHeader(parts: MessageParts): string {
  let header = mailboxField("From", [parts.from]) + mailboxField("To", parts.to);
  if (parts.cc !== undefined && parts.cc.length > 0) header += mailboxField("Cc", parts.cc);
  if (parts.replyTo !== undefined) header += mailboxField("Reply-To", [parts.replyTo]);
  header +=
    textField("Subject", parts.subject) +
    dateField("Date", parts.date) +
    idField("Message-ID", parts.messageId);
  for (const { name, value } of parts.headers) {
    if (OWN_FIELD.test(name)) throw new TypeError(`The message writes this header itself: ${name}`);
    header += customField(name, value);
  }
  return `${header}MIME-Version: 1.0\r\n`;
}

/** mixed [ alternative [ text, related [ html, inline… ] ], attachments… ], without the levels that hold one part. */
function contentEntity(parts: MessageParts): Entity {
  // No base64 line holds a hyphen, so no boundary can occur inside a part.
  const boundary = `pl_${hash("sha256", parts.messageId).slice(0, 24)}`;
  const bodies: Entity[] = [];
  if (parts.text !== "" || parts.html === "") bodies.push(textEntity("plain", parts.text));
  const isRelated = (attachment: Attachment) =>
    parts.html !== "" && attachment.disposition === "inline" && attachment.contentId !== undefined;
  if (parts.html !== "") {
    const related = parts.attachments.filter(isRelated).map(attachmentEntity);
    const html = textEntity("html", parts.html);
    bodies.push(multipart('related; type="text/html"', `${boundary}_r`, [html, ...related]));
  }
  const content = multipart("alternative", `${boundary}_a`, bodies);
  const attached = parts.attachments.filter((attachment) => !isRelated(attachment)).map(attachmentEntity);
  return multipart("mixed", `${boundary}_m`, [content, ...attached]);
}

/** RFC 2046 section 5.1. A single child needs no level around it. */
function multipart(subtype: string, boundary: string, children: readonly Entity[]): Entity {
  const [only] = children;
  if (only !== undefined && children.length === 1) return only;
  // Every entity ends with CRLF, which is the one that belongs to the delimiter.
  const entity: Entity = [`Content-Type: multipart/${subtype};\r\n boundary="${boundary}"\r\n\r\n`];
  for (const child of children) entity.push(`--${boundary}\r\n`, ...child);
  entity.push(`--${boundary}--\r\n`);
  return entity;
}

/** RFC 2045 section 6.8: line breaks of text are CRLF before it is encoded. */
function textEntity(subtype: "plain" | "html", text: string): Entity {
  const header = `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
  return [header, Buffer.from(text.replace(/\r\n?|\n/g, "\r\n"))];
}

function attachmentEntity(attachment: Attachment): Entity {
  return [`${attachmentHeader(attachment)}\r\n`, attachment.content];
}

/** Writes everything into one buffer of exactly the right size, so the large parts are never joined or grown. */
function serialise(entity: Entity): Buffer {
  const sizeBytes = entity.reduce(
    (sum, piece) =>
      sum + (typeof piece === "string" ? Buffer.byteLength(piece) : base64SizeBytes(piece.length)),
    0,
  );
  const message = Buffer.allocUnsafe(sizeBytes);
  let position = 0;
  for (const piece of entity) {
    position =
      typeof piece === "string"
        ? position + message.write(piece, position)
        : writeBase64(piece, message, position);
  }
  return message;
}

/** Size of `writeBase64`'s output; an empty content is one empty line. */
function base64SizeBytes(contentBytes: number): number {
  const characters = Math.ceil(contentBytes / 3) * 4;
  return characters + Math.max(1, Math.ceil(characters / BASE64_LINE_LENGTH)) * LINE_BREAK_LENGTH;
}

/** Writes `content` as base64 lines with CRLF at `start`; answers the position after them. */
function writeBase64(content: Buffer, target: Buffer, start: number): number {
  const end = start + base64SizeBytes(content.length);
  const encoded = content.toString("base64");
  // Encoded in one go at the end of the space, then moved forward line by line: faster than cutting strings.
  let from = end - encoded.length;
  target.write(encoded, from, "latin1");
  let position = start;
  do {
    const lineEnd = Math.min(from + BASE64_LINE_LENGTH, end);
    target.copyWithin(position, from, lineEnd);
    position += lineEnd - from;
    from = lineEnd;
    target[position++] = CARRIAGE_RETURN;
    target[position++] = LINE_FEED;
  } while (from < end);
  return position;
}
