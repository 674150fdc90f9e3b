// The message as it stands on the wire between 354 and the final dot.
// Before it: smtp.ts. After it: smtp-delivery.ts, which writes it, asks the gate and writes the dot.

const CR = 0x0d;
const LF = 0x0a;
const DOT = 0x2e;
const CRLF = Buffer.from("\r\n");

/**
 * The message with each dot that begins a line doubled (RFC 5321 §4.5.2), ending in CRLF, so that ".CRLF" ends it.
 * A dot after a bare CR or LF is refused: some servers would read it as the end of the message, which would then leave
 * before the gate and smuggle a second one behind it.
 */
export function toWireBody(raw: Buffer): { body: Buffer } | { refusal: string } {
  const dots: number[] = [];
  // Looked for by its dots, of which base64 has none.
  for (let at = raw.indexOf(DOT); at !== -1; at = raw.indexOf(DOT, at + 1)) {
    const before = raw[at - 1];
    if (before === CR) return { refusal: `5.6.0 bare CR before a dot at octet ${at - 1}` };
    if (before === LF && raw[at - 2] !== CR)
      return { refusal: `5.6.0 bare LF before a dot at octet ${at - 1}` };
    if (before === LF || at === 0) dots.push(at);
  }
  const stuffed = dots.length === 0 ? raw : doubleDots(raw, dots);
  const endsLine = raw.length === 0 || raw.subarray(-CRLF.length).equals(CRLF);
  return { body: endsLine ? stuffed : Buffer.concat([stuffed, CRLF]) };
}

/** `dots`: where the dots stand, ascending. */
function doubleDots(raw: Buffer, dots: readonly number[]): Buffer {
  const stuffed = Buffer.allocUnsafe(raw.length + dots.length);
  let copiedTo = 0;
  let length = 0;
  for (const dot of dots) {
    length += raw.copy(stuffed, length, copiedTo, dot);
    stuffed[length++] = DOT;
    copiedTo = dot;
  }
  raw.copy(stuffed, length, copiedTo);
  return stuffed;
}
