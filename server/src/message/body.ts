// Text, HTML and files to the body of a message: MIME tree, encoded parts, and the hash to be signed (RFC 2045, RFC 2046).
import { hash } from "node:crypto";
import type { Attachment } from "./attachment.ts";
import { attachmentHeader } from "./attachment.ts";
import { bodySha256, type UntidyRange } from "./body-hash.ts";
import { encodeText, startTexts, type EncodedText, type PartText } from "./part-text.ts";

/** What the body of a message is made of. */
export interface BodyParts {
  /** Without angle brackets; decides the boundaries, so the same parts give the same bytes on every attempt. */
  messageId: string;
  /** Empty: the message is plain text alone. */
  html: PartText;
  /** Empty: the message is HTML alone. */
  text: PartText;
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

/** One entity of the tree, flat: strings and lines are written as they are, bytes as base64 lines. */
type Entity = [header: string, ...content: (string | Uint8Array | EncodedText)[]];

/** RFC 2045 section 6.8: encoded lines of at most 76 characters, which are 57 bytes. */
const BASE64_LINE_LENGTH = 76;
const LINE_BREAK_LENGTH = 2;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Builds the body: CRLF line ends, no line over 998 octets. Text and HTML become an alternative, inline parts with a
 * content id are related to the HTML, everything else is mixed around them.
 */
export function buildBody(parts: BodyParts): MessageBody {
  startTexts();
  const [contentFields, ...content] = contentEntity(parts);
  const { memory, untidy } = serialise(content);
  return { contentFields, memory, sha256: bodySha256(memory, HEADER_ROOM_BYTES, untidy) };
}

/** mixed [ alternative [ text, related [ html, inline… ] ], attachments… ], without the levels that hold one part. */
function contentEntity(parts: BodyParts): Entity {
  // Neither encoding ever holds `=_`, so no boundary can occur inside a part.
  const boundary = `=_pl_${hash("sha256", parts.messageId).slice(0, 24)}`;
  const bodies: Entity[] = [];
  const hasHtml = !isEmpty(parts.html);
  if (!hasHtml || !isEmpty(parts.text)) bodies.push(textEntity("plain", parts.text));
  const isRelated = (attachment: Attachment) =>
    hasHtml && attachment.disposition === "inline" && attachment.contentId !== undefined;
  if (hasHtml) {
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

function textEntity(subtype: "plain" | "html", text: PartText): Entity {
  const encoded = encodeText(text);
  const header = `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoded.transferEncoding}\r\n\r\n`;
  if (encoded.transferEncoding === "base64") return [header, ...encoded.pieces];
  return [header, encoded, "\r\n"];
}

function isEmpty(text: PartText): boolean {
  return text.length === 0 || (typeof text !== "string" && text.every((piece) => piece === ""));
}

function attachmentEntity(attachment: Attachment): Entity {
  return [`${attachmentHeader(attachment)}\r\n`, attachment.content];
}

/** Writes everything into one buffer of exactly the right size, so the large parts are never joined or grown. */
function serialise(content: readonly (string | Uint8Array | EncodedText)[]) {
  const memory = Buffer.allocUnsafeSlow(
    content.reduce((sum, piece) => sum + sizeOf(piece), HEADER_ROOM_BYTES),
  );
  const untidy: UntidyRange[] = [];
  let position = HEADER_ROOM_BYTES;
  for (const piece of content) {
    if (typeof piece === "string") position += memory.write(piece, position);
    else if (piece instanceof Uint8Array) position = writeBase64(piece, memory, position);
    else
      for (const [index, lines] of piece.pieces.entries()) {
        memory.set(lines, position);
        const relaxed = piece.relaxed[index] ?? lines;
        if (relaxed !== lines) untidy.push({ start: position, end: position + lines.length, relaxed });
        position += lines.length;
      }
  }
  return { memory, untidy };
}

function sizeOf(piece: string | Uint8Array | EncodedText): number {
  if (typeof piece === "string") return Buffer.byteLength(piece);
  if (piece instanceof Uint8Array) return base64SizeBytes(piece.length);
  return piece.pieces.reduce((sum, lines) => sum + lines.length, 0);
}

/** Size of `writeBase64`'s output; an empty content is one empty line. */
function base64SizeBytes(contentBytes: number): number {
  const characters = Math.ceil(contentBytes / 3) * 4;
  return characters + Math.max(1, Math.ceil(characters / BASE64_LINE_LENGTH)) * LINE_BREAK_LENGTH;
}

/** Writes `content` as base64 lines with CRLF at `start`; returns the position after them. */
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
