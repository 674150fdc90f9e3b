// Converts a message to its form on the wire.

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const CRLF = Buffer.from("\r\n");
const CR_DOT = Buffer.from("\r.");
const LF_DOT = Buffer.from("\n.");

/**
 * Returns the message with each dot at a line start doubled (RFC 5321 §4.5.2), ending in CRLF so that ".CRLF" ends it.
 * Rejects a dot after a bare CR or LF because some servers read it as the end of the message. The message would then leave before the
 * pre-send check, and the rest could smuggle in a second one.
 */
export function toWireBody(raw: Buffer): { body: Buffer } | { refusal: string } {
  // Searches for the bytes before the dots, because text is full of dots but our encoders never put one there.
  const bareCr = raw.indexOf(CR_DOT);
  if (bareCr !== -1) return { refusal: `5.6.0 bare CR before a dot at octet ${bareCr}` };
  const dots = raw[0] === DOT ? [0] : [];
  for (let at = raw.indexOf(LF_DOT); at !== -1; at = nextLfDot(raw, at + 1)) {
    if (raw[at - 1] !== CR) return { refusal: `5.6.0 bare LF before a dot at octet ${at}` };
    dots.push(at + 1);
  }
  const stuffed = dots.length === 0 ? raw : doubleDots(raw, dots);
  return { body: endLine(stuffed) };
}

/** Returns the message with a CRLF at its end. Does not copy a message that has one. */
export function endLine(message: Buffer): Buffer {
  const endsLine = message.length === 0 || (message.at(-1) === LF && message.at(-CRLF.length) === CR);
  return endsLine ? message : Buffer.concat([message, CRLF]);
}

/** Number of bytes to scan one at a time before searching, because a search per line is slower when every line starts with a dot. */
const SCANNED_BYTES = 32;

function nextLfDot(raw: Buffer, from: number): number {
  const end = Math.min(from + SCANNED_BYTES, raw.length - 1);
  for (let at = from; at < end; at++) if (raw[at] === LF && raw[at + 1] === DOT) return at;
  return raw.indexOf(LF_DOT, end);
}

/** @param dots positions of the dots, ascending */
function doubleDots(raw: Buffer, dots: readonly number[]): Buffer {
  const stuffed = Buffer.allocUnsafe(raw.length + dots.length);
  const first = dots[0] ?? raw.length;
  raw.copy(stuffed, 0, 0, first);
  let next = 0;
  // Byte by byte, because copying each of many short lines takes far longer.
  for (let at = first; at < raw.length; at++) {
    if (at === dots[next]) stuffed[at + next++] = DOT;
    stuffed[at + next] = raw[at] ?? 0;
  }
  return stuffed;
}
