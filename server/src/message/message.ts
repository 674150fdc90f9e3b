// Builds the bytes of a message: a header in front of a body (RFC 5322).
import { HEADER_ROOM_BYTES, type MessageBody } from "./body.ts";
import type { Mailbox } from "./header.ts";
import { customField, dateField, idField, mailboxField, textField } from "./header.ts";

/** The header of a message without the fields that describe the body. */
export interface HeaderParts {
  /** Without angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc?: readonly Mailbox[];
  replyTo?: readonly Mailbox[];
  subject: string;
  /** Custom and list headers in writing order; the caller checks that they are allowed. */
  headers: readonly { name: string; value: string }[];
}

/** The content of a message. The envelope is not part of it. */
export interface MessageParts extends HeaderParts {
  body: MessageBody;
}

/** A message that can grow at its front. `prepend` takes ownership of its memory. */
export interface Message {
  bytes: Buffer;
  /** Number of unused bytes in front of `bytes` that belong to this message. */
  roomBytes: number;
  /** The hash of the body, see `bodySha256`. */
  bodySha256: string;
}

/** Fields that this file writes itself. A second one would be a duplicate (RFC 5322 section 3.6) or reveal a Bcc. */
const OWN_FIELD =
  /^(from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*|dkim-signature)$/i;

/**
 * Builds the whole message with CRLF line ends, no line over 998 octets and no DKIM. Takes ownership of the body's memory.
 * @throws TypeError for input the caller should have rejected: a malformed address, id, date or header name, or a custom header the message
 * already has.
 */
export function buildMessage(parts: MessageParts): Message {
  const { contentFields, memory, sha256 } = parts.body;
  const bytes = Buffer.from(memory.buffer).subarray(HEADER_ROOM_BYTES);
  const body = { bytes, roomBytes: HEADER_ROOM_BYTES, bodySha256: sha256 };
  return prepend(messageHeader(parts) + contentFields, body);
}

/** Writes fields as UTF-8 into the room in front of a message; copies the message only if the room is too small. */
export function prepend(fields: string, message: Message): Message {
  const length = Buffer.byteLength(fields);
  const { bytes, roomBytes } = message;
  if (length > roomBytes)
    return { ...message, bytes: Buffer.concat([Buffer.from(fields), bytes]), roomBytes: 0 };
  const grown = Buffer.from(bytes.buffer, bytes.byteOffset - length, length + bytes.length);
  grown.write(fields);
  return { ...message, bytes: grown, roomBytes: roomBytes - length };
}

/** Returns the header fields in their written order, each unfolded to one line, for display. */
export function headerFields(parts: HeaderParts): Array<{ name: string; value: string }> {
  const lines = messageHeader(parts).replaceAll("\r\n ", " ").trimEnd().split("\r\n");
  return lines.map((line) => {
    const [name = ""] = line.split(":", 1);
    return { name, value: line.slice(name.length + 1).trim() };
  });
}

function messageHeader(parts: HeaderParts): string {
  let header = mailboxField("From", [parts.from]) + mailboxField("To", parts.to);
  if (parts.cc !== undefined && parts.cc.length > 0) header += mailboxField("Cc", parts.cc);
  if (parts.replyTo !== undefined) header += mailboxField("Reply-To", parts.replyTo);
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
