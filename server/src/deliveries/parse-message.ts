// Parses a MIME message, as far as reports need it.
import PostalMime, { type Email } from "postal-mime";

/** The message, or why it can't be parsed. */
export type Parsed = { email: Email } | { fault: string };

const PARSE_LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };

/** Parses a message. Never throws. */
export async function parseMessage(raw: Uint8Array): Promise<Parsed> {
  try {
    return { email: await PostalMime.parse(raw, PARSE_LIMITS) };
  } catch (error) {
    return { fault: String(error) };
  }
}
