// A header before a body: the bytes of a message (RFC 5322).
import { HEADER_ROOM_BYTES, type MessageBody } from "./body.ts";
import type { Mailbox } from "./header.ts";
import { givenField, dateField, idField, mailboxField, textField } from "./header.ts";

/** What the header of a message says, but for what its body is. */
export interface HeaderParts {
  /** Without angle brackets. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc?: readonly Mailbox[];
  replyTo?: Mailbox;
  subject: string;
  /** Custom and list headers, allow-checked by the caller, in the order they are written. */
  headers: readonly { name: string; value: string }[];
}

/** Everything a message says. The envelope is not part of it. */
export interface MessageParts extends HeaderParts {
  body: MessageBody;
}

/** A message that can grow at its front. Whoever puts something there has the message from then on. */
export interface Message {
  bytes: Buffer;
  /** So much of the memory before the bytes is theirs too, and nobody has written to it. */
  roomBytes: number;
  /** The hash of the body, see `bodySha256`. */
  bodySha256: string;
}

/** Fields this file writes itself; one more of them would make two (RFC 5322 section 3.6) or reveal a Bcc. */
const OWN_FIELD =
  /^(from|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*|dkim-signature)$/i;

/**
 * Builds the whole message: header and body, CRLF line ends, no line over 998 octets, no DKIM. The body's memory becomes
 * the message's.
 * @throws TypeError for what the caller must have refused: a malformed address, id, date or header name, a custom
 * header that the message has already.
 */
export function buildMessage(parts: MessageParts): Message {
  const { contentFields, memory, sha256 } = parts.body;
  const bytes = Buffer.from(memory.buffer).subarray(HEADER_ROOM_BYTES);
  const body = { bytes, roomBytes: HEADER_ROOM_BYTES, bodySha256: sha256 };
  return prepend(messageHeader(parts) + contentFields, body);
}

/** Writes fields, as UTF-8, into the room before a message; only where that is too small the message is copied. */
export function prepend(fields: string, message: Message): Message {
  const length = Buffer.byteLength(fields);
  const { bytes, roomBytes } = message;
  if (length > roomBytes)
    return { ...message, bytes: Buffer.concat([Buffer.from(fields), bytes]), roomBytes: 0 };
  const grown = Buffer.from(bytes.buffer, bytes.byteOffset - length, length + bytes.length);
  grown.write(fields);
  return { ...message, bytes: grown, roomBytes: roomBytes - length };
}

/** The fields of a header in their order, as they are written but each in one line: for whoever shows them. */
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
  if (parts.replyTo !== undefined) header += mailboxField("Reply-To", [parts.replyTo]);
  header +=
    textField("Subject", parts.subject) +
    dateField("Date", parts.date) +
    idField("Message-ID", parts.messageId);
  for (const { name, value } of parts.headers) {
    if (OWN_FIELD.test(name)) throw new TypeError(`The message writes this header itself: ${name}`);
    header += givenField(name, value);
  }
  return `${header}MIME-Version: 1.0\r\n`;
}
