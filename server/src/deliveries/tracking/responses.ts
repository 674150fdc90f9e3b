// Static tracking responses: a 43-byte pixel and two plain pages.

/** One transparent pixel, GIF89a. */
export const PIXEL = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

export const PIXEL_HEADERS = { "content-type": "image/gif", "content-length": String(PIXEL.length) };

export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-robots-tag": "noindex",
};

export const NOT_FOUND_PAGE = page(
  "Link not found",
  "The link is incomplete or invalid. Open it from the email again.",
);

export const UNAVAILABLE_PAGE = page("This link is unavailable right now", "Try again in a moment.");

function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:30rem;padding:0 1rem;color:#1c2430;background:#fff}</style></head><body><h1>${title}</h1><p>${text}</p></body></html>`;
}
