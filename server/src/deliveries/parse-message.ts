// Takes a message apart, as far as reports go.
import PostalMime, { type Email } from "postal-mime";

/** The message, or why it is none. */
export type Parsed = { email: Email } | { fault: string };

const PARSE_LIMITS = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, forceRfc822Attachments: true };

/** Never throws. */
export async function parseMessage(raw: Uint8Array): Promise<Parsed> {
  try {
    return { email: await PostalMime.parse(raw, PARSE_LIMITS) };
  } catch (error) {
    return { fault: String(error) };
  }
}
