// A text part of a mail in pieces: what many mails share is encoded once, the rest for each. Chooses how the part travels.
import { breakSoftly, encodedSizeMax, encodeLines, relaxedLines } from "./quoted-printable.ts";

/** A text, whole or as the pieces that it is when they are joined. */
export type PartText = string | readonly (string | SharedText)[];

/** A part as it stands in a message. */
export interface EncodedText {
  transferEncoding: "quoted-printable" | "base64";
  /** Quoted-printable lines in pieces, or one piece that is still to become base64. */
  pieces: readonly Uint8Array[];
  /** The same pieces in the form that is hashed for the signature. */
  relaxed: readonly Uint8Array[];
}

/** Where the texts of one message become octets: writing them there takes a tenth of the time that memory of their own would. */
const SCRATCH_BYTES = 512 * 1024;
/** Of a UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
/** Octets that base64 makes of one, line breaks included: 78 for 57. */
const BASE64_GROWTH = 78 / 57;
/** Quoted-printable is readable, but text in Arabic or Chinese would be three times as long. */
const QUOTED_PRINTABLE_SIZE_MAX = 1.5;
/** Shorter ones are not worth their place. */
const SHARED_LENGTH_MIN = 120;
/** What stands before shared text, at most: it goes on in the line of what comes before. */
const HEAD_LENGTH_MAX = 160;
const HEAD_LENGTH = 40;

/** Memory for one thing after the other; what does not fit gets its own. */
class Scratch {
  private readonly memory = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private used = 0;

  /** Memory that the next call may be given as well. */
  offer(sizeBytes: number): Buffer {
    if (this.memory.length - this.used < sizeBytes) return Buffer.allocUnsafe(sizeBytes);
    return this.memory.subarray(this.used, this.used + sizeBytes);
  }

  /** Nobody else is given what was offered last, up to this size. */
  keep(sizeBytes: number): void {
    this.used = Math.min(this.used + sizeBytes, this.memory.length);
  }

  clear(): void {
    this.used = 0;
  }
}

/** Text as UTF-8, until it is encoded. */
const sources = new Scratch();
/** What is encoded, until the message is written. */
const encodings = new Scratch();

/** Text that is the same in many mails. It begins a line of the encoding, so its lines do not depend on what is before it. */
export class SharedText {
  readonly text: string;
  private lines: Lines | null = null;

  /** Ends neither in white space nor in half a character, see `sharePieces`. */
  constructor(text: string) {
    this.text = text;
  }

  /** Made when a body asks for it: whoever only looks at a mail needs none. */
  encoded(): Lines {
    this.lines ??= encodeForGood(this.text);
    return this.lines;
  }
}

interface Lines {
  encoded: Buffer;
  /** In the form that is hashed for the signature; mostly the same memory. */
  relaxed: Buffer;
  /** Octets on the last line. */
  column: number;
  sourceBytes: number;
}

function encodeForGood(text: string): Lines {
  const source = Buffer.from(text);
  const target = Buffer.allocUnsafe(encodedSizeMax(source.length));
  const line = { position: 0, column: 0 };
  encodeLines(source, false, target, line);
  // Held for as long as the content is: no larger than it must be.
  const encoded = Buffer.from(target.subarray(0, line.position));
  const relaxed = relaxedLines(encoded);
  return {
    encoded,
    relaxed: relaxed === encoded ? encoded : Buffer.from(relaxed),
    column: line.column,
    sourceBytes: source.length,
  };
}

/** Cuts shared text out of text: what is left before and after it is to be encoded together with its neighbours. */
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

/** The text as it was before it was cut. */
export function wholeText(text: PartText): string {
  if (typeof text === "string") return text;
  return text.reduce<string>((whole, piece) => whole + (typeof piece === "string" ? piece : piece.text), "");
}

/** Forgets what was encoded for the message before: those octets are no longer valid. */
export function startTexts(): void {
  encodings.clear();
}

/** Encodes a part, line breaks as CRLF. Its octets are valid until `startTexts`. */
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

/** What one mail alone has, from `column` of a line on. */
function encodeOwn(text: string, column: number, isEnd: boolean): Lines {
  const source = utf8In(sources, text);
  const target = encodings.offer(encodedSizeMax(source.length));
  const line = { position: 0, column };
  encodeLines(source, isEnd, target, line);
  // What is shared begins a line.
  if (!isEnd) breakSoftly(target, line);
  encodings.keep(line.position);
  const encoded = target.subarray(0, line.position);
  return { encoded, relaxed: relaxedLines(encoded), column: line.column, sourceBytes: source.length };
}

function utf8In(scratch: Scratch, text: string): Buffer {
  const memory = scratch.offer(text.length * UTF8_BYTES_MAX);
  return memory.subarray(0, memory.write(text));
}
