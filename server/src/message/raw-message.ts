// Completes a message that is sent as it is: its own bytes, with a few fields in front (docs/decisions/0136-raw-messages.md).
import { HEADER_ROOM_BYTES } from "./body.ts";
import { bodySha256 } from "./body-hash.ts";
import { customField } from "./header.ts";
import { prepend, type Message } from "./message.ts";
import type { HeaderField } from "./message-headers.ts";

const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const FIRST_NON_ASCII = 0x80;
const EMPTY_LINE = Buffer.from("\r\n\r\n");
const UNTIDY = ["\t", "  ", " \r\n"];

/** Properties of a raw message that are the same for all of its recipients. */
export interface RawFacts {
  /** For the signature, see `bodySha256`. */
  bodySha256: string;
  /** Whether the header has bytes outside ASCII, so that the server must offer SMTPUTF8. */
  hasUtf8Header: boolean;
  /** Whether the message has bytes outside ASCII, so that the server must offer 8BITMIME. */
  is8Bit: boolean;
  /** The names of the header fields, in lower case. */
  fieldNames: ReadonlySet<string>;
}

/** Returns the position of the body. A message without an empty line has no body. */
function bodyStartOf(raw: Buffer): number {
  const headerEnd = raw.indexOf(EMPTY_LINE);
  return headerEnd === -1 ? raw.length : headerEnd + EMPTY_LINE.length;
}

/** @param raw has CRLF line ends, and an empty line after its header */
export function factsOfRaw(raw: Buffer): RawFacts {
  const bodyStart = bodyStartOf(raw);
  const header = raw.subarray(0, bodyStart);
  const body = raw.subarray(bodyStart);
  const hasUtf8Header = isNotAscii(header);
  const names = header.toString("latin1").matchAll(/^([!-9;-~]+)[ \t]*:/gm);
  return {
    bodySha256: bodySha256(relaxedBody(body), 0, []),
    hasUtf8Header,
    is8Bit: hasUtf8Header || isNotAscii(body),
    fieldNames: new Set(Array.from(names, ([, name = ""]) => name.toLowerCase())),
  };
}

/** Returns the message with the fields in front, in new memory, because other recipients get the same bytes. */
export function buildRawMessage(
  raw: Buffer,
  facts: RawFacts,
  fields: readonly HeaderField[],
): { message: Message; memory: ArrayBuffer } {
  const memory = new ArrayBuffer(HEADER_ROOM_BYTES + raw.length);
  const bytes = Buffer.from(memory, HEADER_ROOM_BYTES);
  raw.copy(bytes);
  const message = { bytes, roomBytes: HEADER_ROOM_BYTES, bodySha256: facts.bodySha256 };
  return {
    message: prepend(fields.map(({ name, value }) => customField(name, value)).join(""), message),
    memory,
  };
}

function isNotAscii(bytes: Buffer): boolean {
  return bytes.some((byte) => byte >= FIRST_NON_ASCII);
}

/**
 * Returns a body with single spaces and no white space at the end of a line (RFC 6376 section 3.4.4). `bodySha256` leaves out the empty lines
 * at the end.
 */
function relaxedBody(body: Buffer): Buffer {
  return UNTIDY.some((text) => body.includes(text)) ? withSingleSpaces(body) : body;
}

function withSingleSpaces(body: Buffer): Buffer {
  const relaxed = Buffer.allocUnsafe(body.length);
  let length = 0;
  let hasSpace = false;
  for (const byte of body) {
    if (byte === SPACE || byte === TAB) {
      hasSpace = true;
      continue;
    }
    if (hasSpace && byte !== CARRIAGE_RETURN) relaxed[length++] = SPACE;
    hasSpace = false;
    relaxed[length++] = byte;
  }
  return relaxed.subarray(0, length);
}
