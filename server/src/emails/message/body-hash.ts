// The hash of a message's body, which its DKIM signature holds (RFC 6376).
// Before it: body.ts. After it: dkim.ts signs it together with the header.
import { hash } from "node:crypto";

/** The `bh=` tag of a signature: SHA-256 of the body in relaxed form, base64. */
export function bodySha256(body: Buffer): string {
  return hash("sha256", canonicalBody(body), "base64");
}

/** RFC 6376 section 3.4.4. What body.ts builds is in this form already, and looking costs next to nothing. */
function canonicalBody(body: Buffer): Buffer {
  const untidy = body.includes("  ") || body.includes("\t") || body.includes(" \r\n");
  if (!untidy && /[^\r\n]\r\n$/.test(body.toString("latin1", Math.max(0, body.length - 4)))) return body;
  const text = body
    .toString("latin1")
    .replace(/[ \t]+/g, " ")
    .replace(/ (?=\r\n|$)/g, "");
  let end = text.length;
  while (end > 0 && text.startsWith("\r\n", end - 2)) end -= 2;
  return Buffer.from(end === 0 ? "" : `${text.slice(0, end)}\r\n`, "latin1");
}
