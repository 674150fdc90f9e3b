// Checks the bytes of a message while it arrives. SMTP smuggling relies on servers that disagree about the end of a line.
import { SmtpReply } from "./replies.ts";

const NUL = 0x00;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

const BARE = new SmtpReply(
  550,
  "5.6.0 Lines must end in CR LF, so a CR or LF alone is rejected. Encode the part as quoted-printable or base64",
);
const HAS_NUL = new SmtpReply(550, "5.6.0 The message has a NUL byte. Encode the part as base64");

export interface LineCheck {
  /** Checks the next bytes. Pieces are short, so that one check takes less than a millisecond. */
  add(chunk: Buffer): void;
  /** Returns the reply for the message, or null if its bytes are allowed. */
  fault(): SmtpReply | null;
}

export function createLineCheck(): LineCheck {
  let before = 0;
  let found: SmtpReply | null = null;
  /** Allows LF after CR, and nothing else after it. */
  const isAllowed = (byte: number): boolean => {
    const isPair = (byte === LINE_FEED) === (before === CARRIAGE_RETURN);
    before = byte;
    if (byte === NUL) found = HAS_NUL;
    else if (!isPair) found = BARE;
    return found === null;
  };
  return {
    add(chunk) {
      if (found === null) chunk.every(isAllowed);
    },
    fault: () => found ?? (before === CARRIAGE_RETURN ? BARE : null),
  };
}
