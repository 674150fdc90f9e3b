// Encodes text as quoted-printable lines (RFC 2045 section 6.7), which keep ASCII readable in the source of an email.

/** Progress of encoding a part. */
export interface LineEnd {
  /** Octets written to the target so far. */
  position: number;
  /** Octets on the last line; 0 at its start. */
  column: number;
}

/** A line has at most 76 octets; the last is the `=` of a soft line break. */
const COLUMN_MAX = 75;
const SOFT_BREAK_BYTES = 3;
const ESCAPE_BYTES = 3;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const CAPITAL_F = 0x46;
const HEX = Buffer.from("0123456789ABCDEF");

const PLAIN = 0;
const ESCAPED = 1;
const BLANK = 2;
const LINE_BREAK = 3;
/** First octets of sequences of two, three and four octets are 4, 5 and 6, the length plus two. */
const LEAD_OF_TWO = 4;

/** How each octet is encoded. */
const KINDS = Uint8Array.from({ length: 256 }, (_, octet) => {
  if (octet === CARRIAGE_RETURN || octet === LINE_FEED) return LINE_BREAK;
  if (octet === SPACE || octet === TAB) return BLANK;
  if (octet >= 0xc2 && octet <= 0xf4) return LEAD_OF_TWO + (octet >= 0xe0 ? 1 : 0) + (octet >= 0xf0 ? 1 : 0);
  return octet > SPACE && octet < 0x7f && octet !== EQUALS ? PLAIN : ESCAPED;
});

/** Returns the largest number of octets that `encodeLines` writes for `sourceBytes`. */
export function encodedSizeMax(sourceBytes: number): number {
  const escaped = sourceBytes * ESCAPE_BYTES + ESCAPE_BYTES;
  // A character of four octets may leave eleven octets of a line unused.
  return escaped + Math.ceil(escaped / (COLUMN_MAX - 4 * ESCAPE_BYTES)) * SOFT_BREAK_BYTES + SOFT_BREAK_BYTES;
}

/**
 * Writes `source` (UTF-8) to `target` from `line` on, and advances `line`. Any line break becomes CRLF.
 * Characters are never split. No line ends in white space or starts with a dot, which relays may corrupt.
 * No line starts with `From ` either, because some relays prefix it with `>` and break the signature.
 * @param isEnd whether this is the end of the part.
 */
export function encodeLines(source: Uint8Array, isEnd: boolean, target: Uint8Array, line: LineEnd): void {
  const end = source.length;
  let { position, column } = line;
  let at = 0;
  while (at < end) {
    // Fast path for most of a text.
    if (column > 0) {
      const lineEnd = Math.min(end, at + COLUMN_MAX - column);
      const start = at;
      for (; at < lineEnd; at += 1) {
        const plain = source[at] as number;
        if (KINDS[plain] !== PLAIN && (plain !== SPACE || KINDS[source[at + 1] as number] !== PLAIN)) break;
        target[position++] = plain;
      }
      column += at - start;
      if (at === end) break;
    }
    const octet = source[at] as number;
    const kind = KINDS[octet] as number;
    if (kind === LINE_BREAK) {
      at += octet === CARRIAGE_RETURN && source[at + 1] === LINE_FEED ? 2 : 1;
      target[position++] = CARRIAGE_RETURN;
      target[position++] = LINE_FEED;
      column = 0;
      continue;
    }
    const isLiteral =
      kind === BLANK
        ? !isAtLineEnd(source, at + 1, isEnd)
        : kind === PLAIN && (column > 0 || !isRisky(source, at));
    const octets = kind >= LEAD_OF_TWO ? Math.min(kind - LEAD_OF_TWO + 2, end - at) : 1;
    if (column + (isLiteral ? 1 : octets * ESCAPE_BYTES) > COLUMN_MAX) {
      position = writeSoftBreak(target, position);
      // An octet that is fine within a line may not start one, so it is checked again.
      column = 0;
      continue;
    }
    if (isLiteral) {
      target[position++] = octet;
      column += 1;
      at += 1;
      continue;
    }
    for (const last = at + octets; at < last; at += 1)
      position = writeEscape(source[at] as number, target, position);
    column += octets * ESCAPE_BYTES;
  }
  line.position = position;
  line.column = column;
}

function writeEscape(octet: number, target: Uint8Array, start: number): number {
  target[start] = EQUALS;
  target[start + 1] = HEX[octet >> 4] as number;
  target[start + 2] = HEX[octet & 0x0f] as number;
  return start + ESCAPE_BYTES;
}

/** Starts a new line with a soft break unless the current line is empty. */
export function breakSoftly(target: Uint8Array, line: LineEnd): void {
  if (line.column === 0) return;
  line.position = writeSoftBreak(target, line.position);
  line.column = 0;
}

function writeSoftBreak(target: Uint8Array, start: number): number {
  target[start] = EQUALS;
  target[start + 1] = CARRIAGE_RETURN;
  target[start + 2] = LINE_FEED;
  return start + SOFT_BREAK_BYTES;
}

/** Returns whether this octet must not start a line. */
function isRisky(source: Uint8Array, at: number): boolean {
  const octet = source[at];
  if (octet === DOT) return true;
  return octet === CAPITAL_F && source[at + 1] === 0x72 && source[at + 2] === 0x6f && source[at + 3] === 0x6d;
}

function isAtLineEnd(source: Uint8Array, next: number, isEnd: boolean): boolean {
  return next === source.length ? isEnd : KINDS[source[next] as number] === LINE_BREAK;
}

/** Returns the lines in relaxed form (RFC 6376 section 3.4.4), or the same buffer if nothing changes. */
export function relaxedLines(encoded: Buffer): Buffer {
  if (!encoded.includes("  ") && !encoded.includes("\t")) return encoded;
  const relaxed = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  let isBlank = false;
  for (let at = 0; at < encoded.length; at += 1) {
    const octet = encoded[at] as number;
    const wasBlank = isBlank;
    isBlank = octet === SPACE || octet === TAB;
    if (!isBlank) relaxed[length++] = octet;
    else if (!wasBlank) relaxed[length++] = SPACE;
  }
  return relaxed.subarray(0, length);
}
