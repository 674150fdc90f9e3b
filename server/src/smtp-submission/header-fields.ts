// Splits the header of a message into its fields, and rejects what receiving servers would reject or read in different ways.
import { SmtpReply } from "./replies.ts";

export interface Field {
  name: string;
  /** In lower case. */
  key: string;
  /** Unfolded, without white space around it. */
  value: string;
  /** The lines as received, each with CRLF. */
  lines: string;
}

/** A header as text with one character for each byte, and the body. */
export interface SplitMessage {
  fields: Field[];
  body: Buffer;
}

/** RFC 5322 section 2.1.1. */
const MAX_LINE_BYTES = 998;
const MAX_HEADER_BYTES = 128 * 1024;
const SHOWN_NAME = 40;
const EMPTY_LINE = "\r\n\r\n";
const FIELD = /^([!-9;-~]+)[ \t]*:([^]*)$/;
const NOT_ASCII = /[\x80-\xff]/;
/** Large mailbox providers reject a message in which one of these is repeated (RFC 5322 section 3.6). */
const ONCE = new Set([
  "from",
  "sender",
  "reply-to",
  "to",
  "cc",
  "bcc",
  "message-id",
  "in-reply-to",
  "references",
  "subject",
  "date",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
]);

/**
 * Returns the fields and the body.
 * @param raw has CRLF line ends
 * @param utf8 whether the client declared SMTPUTF8
 * @throws SmtpReply about the header
 */
export function splitMessage(raw: Buffer, utf8: boolean): SplitMessage {
  const end = raw.indexOf(EMPTY_LINE);
  const header = end === -1 ? raw : raw.subarray(0, end + 2);
  if (header.length > MAX_HEADER_BYTES) throw invalid(`The header has more than ${MAX_HEADER_BYTES} bytes`);
  const unfolded = header.toString("latin1").split(/\r\n(?![ \t])/);
  if (unfolded.at(-1) === "") unfolded.pop();
  const fields = unfolded.map((text) => readField(text, utf8));
  const seen = new Set<string>();
  for (const { key, name } of fields) {
    if (seen.has(key) && (ONCE.has(key) || isControl(key)))
      throw invalid(`The header ${shown(name)} is repeated`);
    seen.add(key);
  }
  return { fields, body: end === -1 ? Buffer.alloc(0) : raw.subarray(end + EMPTY_LINE.length) };
}

/** Returns whether a field is for us and not for the recipient. */
export function isControl(key: string): boolean {
  return key.startsWith("x-postloft-") || key === "idempotency-key";
}

/** Returns a negative reply about the message. */
export function invalid(text: string): SmtpReply {
  return new SmtpReply(550, `5.6.0 ${text}`);
}

function readField(text: string, utf8: boolean): Field {
  const [, name, value = ""] = FIELD.exec(text) ?? [];
  if (name === undefined)
    throw invalid(`The header has a line that is not a field: ${shown(text.split("\r\n", 1)[0] ?? "")}`);
  if (text.split("\r\n").some((line) => line.length > MAX_LINE_BYTES))
    throw invalid(`The header ${shown(name)} has a line with more than ${MAX_LINE_BYTES} bytes. Fold it`);
  const flat = value.replaceAll("\r\n", "").trim();
  const lines = `${text}\r\n`;
  if (!NOT_ASCII.test(text)) return { name, key: name.toLowerCase(), value: flat, lines };
  if (!utf8)
    throw new SmtpReply(
      550,
      `5.6.7 The header ${shown(name)} has characters outside ASCII. Encode it (RFC 2047), or send with SMTPUTF8`,
    );
  return { name, key: name.toLowerCase(), value: fromUtf8(flat, name), lines };
}

function fromUtf8(latin1: string, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(latin1, "latin1"));
  } catch {
    throw invalid(`The header ${shown(name)} is not valid UTF-8`);
  }
}

/** Returns the beginning of a text from the client, with printable ASCII only. */
function shown(text: string): string {
  return text.slice(0, SHOWN_NAME).replaceAll(/[^ -~]/g, "?");
}
