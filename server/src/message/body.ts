// Builds a message body from text, HTML and files: MIME tree, encoded parts and the hash to sign (RFC 2045, RFC 2046).
import { hash } from "node:crypto";
import type { Attachment } from "./attachment.ts";
import { attachmentHeader } from "./attachment.ts";
import { bodySha256, type UntidyRange } from "./body-hash.ts";
import { encodeText, startTexts, type EncodedText, type PartText } from "./part-text.ts";

export interface BodyParts {
  /** Without angle brackets. The boundaries derive from this id, so every attempt produces the same bytes. */
  messageId: string;
  /** Empty for a plain-text message. */
  html: PartText;
  /** Empty for an HTML-only message. */
  text: PartText;
  attachments: readonly Attachment[];
}

/** A message without its own header fields. Plain data, so it can be passed between threads. */
export interface MessageBody {
  /** The header fields that describe the encoding of the body, followed by the empty line. */
  contentFields: string;
  /** The body, preceded by HEADER_ROOM_BYTES of free space for the header. Not shared with other messages. */
  memory: Uint8Array<ArrayBuffer>;
  /** For the signature, see `bodySha256`. */
  sha256: string;
}

/** Twice the size of a marketing email's header including its signature. */
export const HEADER_ROOM_BYTES = 4096;

/** One flattened entity of the MIME tree: strings and lines are written unchanged, bytes as base64 lines. */
type Entity = [header: string, ...content: (string | Uint8Array | EncodedText)[]];

/** RFC 2045 section 6.8: an encoded line has at most 76 characters, which carry 57 bytes. */
const BASE64_LINE_LENGTH = 76;
const LINE_BREAK_LENGTH = 2;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Builds the body with CRLF line ends and no line over 998 octets.
 * Text and HTML become an alternative part. Inline parts with a content id are related to the HTML, and all other files are mixed around
 * both.
 */
export function buildBody(parts: BodyParts): MessageBody {
  startTexts();
  const [contentFields, ...content] = contentEntity(parts);
  const { memory, untidy } = serialize(content);
  return { contentFields, memory, sha256: bodySha256(memory, HEADER_ROOM_BYTES, untidy) };
}

/** Builds mixed [ alternative [ text, related [ html, inline… ] ], attachments… ] and omits levels with a single part. */
function contentEntity(parts: BodyParts): Entity {
  // Neither encoding can produce `=_`, so the boundary cannot occur inside a part.
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

/** Builds a multipart entity (RFC 2046 section 5.1), or returns a single child without a wrapper. */
function multipart(subtype: string, boundary: string, children: readonly Entity[]): Entity {
  const [only] = children;
  if (only !== undefined && children.length === 1) return only;
  // Every entity ends with CRLF; that CRLF belongs to the delimiter.
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

/** Writes everything into one buffer of the exact size, so that large parts are never concatenated or copied again. */
function serialize(content: readonly (string | Uint8Array | EncodedText)[]) {
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

/** Returns the output size of `writeBase64`; empty content becomes one empty line. */
function base64SizeBytes(contentBytes: number): number {
  const characters = Math.ceil(contentBytes / 3) * 4;
  return characters + Math.max(1, Math.ceil(characters / BASE64_LINE_LENGTH)) * LINE_BREAK_LENGTH;
}

/** Writes `content` as base64 lines with CRLF from `start`, and returns the position after the last line. */
function writeBase64(content: Uint8Array, target: Buffer, start: number): number {
  const end = start + base64SizeBytes(content.length);
  const encoded = Buffer.from(content.buffer, content.byteOffset, content.length).toString("base64");
  // Encodes once at the end of the space and moves the lines forward, which is faster than slicing strings.
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
