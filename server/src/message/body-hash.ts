// Computes the hash of a message body for its DKIM signature (RFC 6376).
import { createHash, hash } from "node:crypto";

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** A range of the body that is hashed in a different form than it is sent. */
export interface UntidyRange {
  start: number;
  end: number;
  /** The range with shortened white space (RFC 6376 section 3.4.4). */
  relaxed: Uint8Array;
}

/**
 * Returns the `bh=` tag of a signature: the base64 SHA-256 of the body in relaxed form.
 * @param memory contains the body from `start` to the end. Outside of `untidy` the body is already in relaxed form, except for empty lines
 * at its end.
 * @param untidy in ascending order
 */
export function bodySha256(memory: Buffer, start: number, untidy: readonly UntidyRange[]): string {
  const end = withoutEmptyLines(memory, start);
  if (untidy.length === 0) return hash("sha256", memory.subarray(start, end), "base64");
  const relaxed = createHash("sha256");
  let hashed = start;
  for (const range of untidy) {
    if (range.start > hashed) relaxed.update(memory.subarray(hashed, range.start));
    // Line breaks are the same in both forms, so the same number of bytes is cut from both.
    const cutBytes = Math.max(0, range.end - end);
    relaxed.update(range.relaxed.subarray(0, Math.max(0, range.relaxed.length - cutBytes)));
    hashed = range.end;
  }
  if (end > hashed) relaxed.update(memory.subarray(hashed, end));
  return relaxed.digest("base64");
}

/** Returns the end of the body without trailing empty lines; a body that has only empty lines counts as empty. */
function withoutEmptyLines(memory: Buffer, start: number): number {
  let end = memory.length;
  while (end - start >= 2 && memory[end - 2] === CARRIAGE_RETURN && memory[end - 1] === LINE_FEED) end -= 2;
  return end === start ? start : Math.min(end + 2, memory.length);
}
