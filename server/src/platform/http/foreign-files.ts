// Headers for files whose content comes from strangers.

/** Prevents a browser from running or loading anything in foreign content. */
export const FROM_OUTSIDE = "sandbox; default-src 'none'";

/**
 * Encodes a filename for a header (RFC 8187 §3.2.1): percent-encodes everything but letters and digits. A lone surrogate becomes U+FFFD.
 */
export function encodeFilename(filename: string): string {
  return encodeURIComponent(filename.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}
