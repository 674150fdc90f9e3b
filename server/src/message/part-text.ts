// Encodes the text parts of an email. Text shared by many emails is encoded once, and each part gets the shorter transfer encoding.
import { breakSoftly, encodedSizeMax, encodeLines, relaxedLines } from "./quoted-printable.ts";

/** A text, either whole or as consecutive pieces. */
export type PartText = string | readonly (string | SharedText)[];

/** A text part, encoded for a message. */
export interface EncodedText {
  transferEncoding: "quoted-printable" | "base64";
  /** Quoted-printable lines in pieces, or one piece that is still to be base64-encoded. */
  pieces: readonly Uint8Array[];
  /** The same pieces in the form that is hashed for the signature. */
  relaxed: readonly Uint8Array[];
}

/** Size of the reused memory for one message's texts. Reusing memory takes a tenth of the time of allocating it. */
const SCRATCH_BYTES = 512 * 1024;
/** Per UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
/** Growth by base64 including line breaks: 57 octets become 78. */
const BASE64_GROWTH = 78 / 57;
/** Quoted-printable is readable, but would triple the size of Arabic or Chinese text. */
const QUOTED_PRINTABLE_SIZE_MAX = 1.5;
/** Sharing shorter texts is not worth the overhead. */
const SHARED_LENGTH_MIN = 120;
/** Longest text in front of shared text, because that text continues the line of the preceding piece. */
const HEAD_LENGTH_MAX = 160;
const HEAD_LENGTH = 40;

/** Reusable memory handed out sequentially; requests that do not fit get a separate buffer. */
class Scratch {
  private readonly memory = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private used = 0;

  /** Returns memory that the next call may return again unless `keep` is called. */
  offer(sizeBytes: number): Buffer {
    if (this.memory.length - this.used < sizeBytes) return Buffer.allocUnsafe(sizeBytes);
    return this.memory.subarray(this.used, this.used + sizeBytes);
  }

  /** Reserves the memory offered last, up to this size. */
  keep(sizeBytes: number): void {
    this.used = Math.min(this.used + sizeBytes, this.memory.length);
  }

  clear(): void {
    this.used = 0;
  }
}

/** Text as UTF-8, until it is encoded. */
const sources = new Scratch();
/** Encoded text, until the message is written. */
const encodings = new Scratch();

/** Text that is the same in many emails. Its encoding starts on a new line and so does not depend on the preceding text. */
export class SharedText {
  readonly text: string;
  private lines: Lines | null = null;

  /** @param text must not end in white space or half a character, see `sharePieces`. */
  constructor(text: string) {
    this.text = text;
  }

  /** Encodes on first use, because displaying an email needs no encoding. */
  encoded(): Lines {
    this.lines ??= encodeShared(this.text);
    return this.lines;
  }
}

interface Lines {
  encoded: Buffer;
  /** In the form hashed for the signature; usually the same memory as `encoded`. */
  relaxed: Buffer;
  /** Number of octets on the last line. */
  column: number;
  sourceBytes: number;
}

function encodeShared(text: string): Lines {
  const source = Buffer.from(text);
  const target = Buffer.allocUnsafe(encodedSizeMax(source.length));
  const line = { position: 0, column: 0 };
  encodeLines(source, false, target, line);
  // Copied to the exact size because this memory lives as long as the content.
  const encoded = Buffer.from(target.subarray(0, line.position));
  const relaxed = relaxedLines(encoded);
  return {
    encoded,
    relaxed: relaxed === encoded ? encoded : Buffer.from(relaxed),
    column: line.column,
    sourceBytes: source.length,
  };
}

/** Cuts shared text out of a text. The rest before and after it is encoded together with its neighbors. */
export function sharePieces(text: string): (string | SharedText)[] {
  const lineEnd = text.indexOf("\n") + 1;
  let start = lineEnd > 0 && lineEnd <= HEAD_LENGTH_MAX ? lineEnd : HEAD_LENGTH;
  // Not within a character or a line break.
  while (/^[\n\uDC00-\uDFFF]/.test(text.charAt(start))) start += 1;
  let end = text.length;
  while (end > start && /[\s\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
  if (end - start < SHARED_LENGTH_MIN) return [text];
  return [text.slice(0, start), new SharedText(text.slice(start, end)), text.slice(end)];
}

/** Returns the text as it was before cutting. */
export function wholeText(text: PartText): string {
  if (typeof text === "string") return text;
  return text.reduce<string>((whole, piece) => whole + (typeof piece === "string" ? piece : piece.text), "");
}

/** Releases the encodings of the previous message; its octets are no longer valid. */
export function startTexts(): void {
  encodings.clear();
}

/** Encodes a part with line breaks as CRLF. Its octets are valid until `startTexts`. */
export function encodeText(text: PartText): EncodedText {
  const pieces = typeof text === "string" ? [text] : text;
  const encoded: Buffer[] = [];
  const relaxed: Buffer[] = [];
  let column = 0;
  let sourceBytes = 0;
  let encodedBytes = 0;
  for (const [index, piece] of pieces.entries()) {
    const lines =
      typeof piece === "string" ? encodeOwn(piece, column, index === pieces.length - 1) : piece.encoded();
    encoded.push(lines.encoded);
    relaxed.push(lines.relaxed);
    column = lines.column;
    sourceBytes += lines.sourceBytes;
    encodedBytes += lines.encoded.length;
  }
  if (encodedBytes <= sourceBytes * BASE64_GROWTH * QUOTED_PRINTABLE_SIZE_MAX)
    return { transferEncoding: "quoted-printable", pieces: encoded, relaxed };
  const bytes = utf8In(encodings, wholeText(text).replace(/\r\n?|\n/g, "\r\n"));
  encodings.keep(bytes.length);
  return { transferEncoding: "base64", pieces: [bytes], relaxed: [bytes] };
}

/** Encodes text of a single email, continuing a line at `column`. */
function encodeOwn(text: string, column: number, isEnd: boolean): Lines {
  const source = utf8In(sources, text);
  const target = encodings.offer(encodedSizeMax(source.length));
  const line = { position: 0, column };
  encodeLines(source, isEnd, target, line);
  // Shared text starts on a new line.
  if (!isEnd) breakSoftly(target, line);
  encodings.keep(line.position);
  const encoded = target.subarray(0, line.position);
  return { encoded, relaxed: relaxedLines(encoded), column: line.column, sourceBytes: source.length };
}

function utf8In(scratch: Scratch, text: string): Buffer {
  const memory = scratch.offer(text.length * UTF8_BYTES_MAX);
  return memory.subarray(0, memory.write(text));
}
