// Text, HTML and files to the body of a message: MIME tree, base64 lines, and the hash to be signed (RFC 2045, RFC 2046).
// Before it: rendering/render-worker.ts, which rendered the content. After it: message.ts puts the header before it.
import { hash } from "node:crypto";
import type { Attachment } from "./attachment.ts";
import { attachmentHeader } from "./attachment.ts";
import { bodySha256 } from "./body-hash.ts";

/** What the body of a message is made of. */
export interface BodyParts {
  /** Without angle brackets; decides the boundaries, so the same parts give the same bytes on every attempt. */
  messageId: string;
  /** Empty: the message is plain text alone. */
  html: string;
  /** Empty: the message is HTML alone. */
  text: string;
  attachments: readonly Attachment[];
}

/** Everything of a message but its own header. Plain data: it can go from thread to thread. */
export interface MessageBody {
  /** The fields of the message's header that say how the body is read, and the empty line after them. */
  contentFields: string;
  /** The body, after HEADER_ROOM_BYTES of room for the header. Memory of its own. */
  memory: Uint8Array<ArrayBuffer>;
  /** For its signature: see `bodySha256`. */
  sha256: string;
}

/** Twice what the header of a marketing mail takes, its signature included. */
export const HEADER_ROOM_BYTES = 4096;

/** One entity of the tree, flat: strings are written as they are, bytes as base64 lines. */
type Entity = [header: string, ...content: (string | Uint8Array)[]];

/** RFC 2045 section 6.8: encoded lines of at most 76 characters, which are 57 bytes. */
const BASE64_LINE_LENGTH = 76;
const LINE_BREAK_LENGTH = 2;
/** Texts of a mail that is not unusually long. */
const SCRATCH_BYTES = 512 * 1024;
/** Of a UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** Where the texts of a body become bytes: writing them there takes a tenth of the time that a buffer of their own would. */
const scratch = {
  memory: Buffer.allocUnsafeSlow(SCRATCH_BYTES),
  used: 0,
  encode(text: string): Uint8Array {
    const start = this.used;
    if (this.memory.length - start < text.length * UTF8_BYTES_MAX) return Buffer.from(text);
    this.used += this.memory.write(text, start);
    return this.memory.subarray(start, this.used);
  },
};

/**
 * Builds the body: CRLF line ends, no line over 998 octets. Text and HTML become an alternative, inline parts with a
 * content id are related to the HTML, everything else is mixed around them.
 */
export function buildBody(parts: BodyParts): MessageBody {
  scratch.used = 0;
  const [contentFields, ...content] = contentEntity(parts);
  const memory = serialise(content);
  return { contentFields, memory, sha256: bodySha256(memory.subarray(HEADER_ROOM_BYTES)) };
}

/** mixed [ alternative [ text, related [ html, inline… ] ], attachments… ], without the levels that hold one part. */
function contentEntity(parts: BodyParts): Entity {
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
  return [header, scratch.encode(text.replace(/\r\n?|\n/g, "\r\n"))];
}

function attachmentEntity(attachment: Attachment): Entity {
  return [`${attachmentHeader(attachment)}\r\n`, attachment.content];
}

/** Writes everything into one buffer of exactly the right size, so the large parts are never joined or grown. */
function serialise(content: readonly (string | Uint8Array)[]): Buffer<ArrayBuffer> {
  const sizeBytes = content.reduce(
    (sum, piece) =>
      sum + (typeof piece === "string" ? Buffer.byteLength(piece) : base64SizeBytes(piece.length)),
    HEADER_ROOM_BYTES,
  );
  const memory = Buffer.allocUnsafeSlow(sizeBytes);
  let position = HEADER_ROOM_BYTES;
  for (const piece of content) {
    position =
      typeof piece === "string"
        ? position + memory.write(piece, position)
        : writeBase64(piece, memory, position);
  }
  return memory;
}

/** Size of `writeBase64`'s output; an empty content is one empty line. */
function base64SizeBytes(contentBytes: number): number {
  const characters = Math.ceil(contentBytes / 3) * 4;
  return characters + Math.max(1, Math.ceil(characters / BASE64_LINE_LENGTH)) * LINE_BREAK_LENGTH;
}

/** Writes `content` as base64 lines with CRLF at `start`; answers the position after them. */
function writeBase64(content: Uint8Array, target: Buffer, start: number): number {
  const end = start + base64SizeBytes(content.length);
  const encoded = Buffer.from(content.buffer, content.byteOffset, content.length).toString("base64");
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
