// Checks the bytes of a message while it arrives. SMTP smuggling relies on servers that disagree about the end of a line.
import { SmtpReply } from "./replies.ts";

/** A CR at the end may be followed by LF in the next bytes. */
const BARE_END = /\r[^\n]|[^\r]\n|^\n/;

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
  let endsInCr = false;
  let found: SmtpReply | null = null;
  return {
    add(chunk) {
      if (found !== null || chunk.length === 0) return;
      const text = (endsInCr ? "\r" : "") + chunk.toString("latin1");
      endsInCr = text.endsWith("\r");
      if (text.includes("\0")) found = HAS_NUL;
      else if (BARE_END.test(text)) found = BARE;
    },
    fault: () => found ?? (endsInCr ? BARE : null),
  };
}
