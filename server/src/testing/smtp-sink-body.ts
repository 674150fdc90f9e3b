// Finds the end of a message in the bytes after 354 and decodes the message.

export interface BodyReader {
  /** Reads bytes and returns those after the final dot, or undefined while it has not arrived. */
  read(chunk: Buffer): Buffer | undefined;
  /** Returns the number of octets read so far, as on the wire. */
  byteCount(): number;
  /** Returns the message without dot-stuffing and final dot. */
  message(): Buffer;
}

const END = Buffer.from("\r\n.\r\n");
const LINE_DOT = Buffer.from("\r\n.");
const CRLF_BYTES = 2;
const MAX_HEADER_BYTES = 64 * 1024;

/** Only CRLF "." CRLF ends a message (RFC 5321 §4.1.1.4). */
export function createBodyReader(): BodyReader {
  const chunks: Buffer[] = [];
  // Starts with the line end before the message, so that a dot in its first line is found. Removed again below.
  let tail: Buffer = END.subarray(0, CRLF_BYTES);
  let byteCount = 0;
  return {
    read(chunk) {
      const window = Buffer.concat([tail, chunk]);
      const end = window.indexOf(END);
      if (end === -1) {
        const kept = Math.max(0, window.length - END.length + 1);
        chunks.push(window.subarray(0, kept));
        tail = window.subarray(kept);
        byteCount += chunk.length;
        return undefined;
      }
      chunks.push(window.subarray(0, end + CRLF_BYTES));
      const rest = window.subarray(end + END.length);
      byteCount += chunk.length - rest.length;
      return rest;
    },
    byteCount: () => byteCount,
    message: () => removeStuffing(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  };
}

/** Removes dot-stuffing. `wire` begins with the line end before the message. */
function removeStuffing(wire: Buffer): Buffer {
  let dot = wire.indexOf(LINE_DOT);
  if (dot === -1) return wire.subarray(CRLF_BYTES);
  const parts: Buffer[] = [];
  let start = CRLF_BYTES;
  for (; dot !== -1; dot = wire.indexOf(LINE_DOT, start)) {
    parts.push(wire.subarray(start, dot + CRLF_BYTES));
    start = dot + LINE_DOT.length;
  }
  return Buffer.concat([...parts, wire.subarray(start)]);
}

/** Returns the Message-ID with its brackets, or an empty string. */
export function findMessageId(raw: Buffer): string {
  const headerEnd = raw.indexOf("\r\n\r\n");
  const header = raw.toString(
    "latin1",
    0,
    Math.min(headerEnd === -1 ? raw.length : headerEnd, MAX_HEADER_BYTES),
  );
  return /^message-id:\s*(<[^>]*>)/im.exec(header)?.[1] ?? "";
}
