// Parses a MIME message, as far as reports and the events of received emails need it.
import PostalMime, { type Email } from "postal-mime";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { headerLength } from "./read-incoming.ts";

/** The message, or why it can't be parsed and its header if that can be parsed alone. */
export type Parsed = { email: Email } | { fault: string; header: Email | null };

const PARSE_LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };
const HEADER_LIMITS = { ...PARSE_LIMITS, maxHeadersSize: LIMITS.inboundHeaderBytes.value };

/** Parses a message. Never throws. */
export async function parseMessage(raw: Uint8Array): Promise<Parsed> {
  try {
    return { email: await PostalMime.parse(raw, PARSE_LIMITS) };
  } catch (error) {
    return { fault: String(error), header: await parseHeader(Buffer.from(raw)) };
  }
}

/** Parses the header alone. Leaves out the recipients, because copying a hundred thousand of them from the thread takes too long. */
async function parseHeader(raw: Buffer): Promise<Email | null> {
  try {
    const header = raw.subarray(0, headerLength(raw) ?? raw.length);
    const { to: _to, cc: _cc, bcc: _bcc, replyTo, ...email } = await PostalMime.parse(header, HEADER_LIMITS);
    return { ...email, headerLines: [], replyTo: replyTo?.slice(0, 1) };
  } catch {
    return null;
  }
}
