// Checks envelope addresses before they are written into SMTP commands, so that none can end the path or the line.
import type { OutgoingMessage } from "./transport.ts";

/** Addresses in angle brackets for `MAIL FROM:` and `RCPT TO:`. The first of `to` is the primary recipient. */
export interface EnvelopePaths {
  from: string;
  to: readonly string[];
}

/** RFC 5321 §4.5.3.1.3 allows 256 octets for the path, including brackets. */
const MAX_ADDRESS_BYTES = 254;
/** Control characters (CR, LF, NUL, …), all spaces and line separators including U+FEFF, and angle brackets. */
const UNSAFE_CHARACTER = /[\s\p{Cc}\p{Z}<>]/u;
const ASCII_ONLY = /^\p{ASCII}*$/u;

/**
 * Returns the paths of a message, or the reason why they must not be used in commands.
 * Earlier layers validate addresses. This check makes command injection impossible (CWE-93), so that no mistake there can address other
 * people.
 */
export function toEnvelopePaths(
  message: Pick<OutgoingMessage, "envelope" | "needsSmtpUtf8">,
): { paths: EnvelopePaths } | { refusal: string } {
  const { from, to } = message.envelope;
  if (to.length === 0 || to.includes("")) return { refusal: "5.1.3 a recipient address is missing" };
  for (const address of [from, ...to]) {
    const fault = findFault(address, message.needsSmtpUtf8);
    // RFC 3463: 5.1.3 refers to the recipient. The sender's address is our own argument, so its code is 5.5.4.
    if (fault !== undefined)
      return { refusal: `${address === from ? "5.5.4 sender" : "5.1.3 recipient"} address ${fault}` };
  }
  return { paths: { from: `<${from}>`, to: to.map((address) => `<${address}>`) } };
}

function findFault(address: string, mayBeUtf8: boolean): string | undefined {
  if (UNSAFE_CHARACTER.test(address)) return "with a space, control character or angle bracket";
  if (!address.isWellFormed()) return "with half a surrogate pair";
  if (Buffer.byteLength(address) > MAX_ADDRESS_BYTES) return `of more than ${MAX_ADDRESS_BYTES} octets`;
  if (!mayBeUtf8 && !ASCII_ONLY.test(address)) return "outside ASCII in a message not marked as SMTPUTF8";
  return undefined;
}
