// The hash of a message's body, which its DKIM signature holds (RFC 6376).
import { createHash, hash } from "node:crypto";

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** A stretch of a body that is hashed in another form than it is sent in. */
export interface UntidyRange {
  start: number;
  end: number;
  /** White space shortened (RFC 6376 section 3.4.4). */
  relaxed: Uint8Array;
}

/**
 * The `bh=` tag of a signature: SHA-256 of the body in relaxed form, base64.
 * @param memory holds the body from `start` to its end; outside of `untidy` it is in that form already, up to empty lines at its end.
 * @param untidy in order
 */
export function bodySha256(memory: Buffer, start: number, untidy: readonly UntidyRange[]): string {
  const end = withoutEmptyLines(memory, start);
  if (untidy.length === 0) return hash("sha256", memory.subarray(start, end), "base64");
  const relaxed = createHash("sha256");
  let hashed = start;
  for (const range of untidy) {
    if (range.start > hashed) relaxed.update(memory.subarray(hashed, range.start));
    // Line breaks are the same in both forms, so what is cut off of one is cut off of the other.
    const cutBytes = Math.max(0, range.end - end);
    relaxed.update(range.relaxed.subarray(0, Math.max(0, range.relaxed.length - cutBytes)));
    hashed = range.end;
  }
  if (end > hashed) relaxed.update(memory.subarray(hashed, end));
  return relaxed.digest("base64");
}

/** Where the body ends without the empty lines after its last line; a body of nothing else is empty. */
function withoutEmptyLines(memory: Buffer, start: number): number {
  let end = memory.length;
  while (end - start >= 2 && memory[end - 2] === CARRIAGE_RETURN && memory[end - 1] === LINE_FEED) end -= 2;
  return end === start ? start : Math.min(end + 2, memory.length);
}
