// Describes a message on the wire, and writes its MAIL and RCPT commands.
import type { EnvelopePaths } from "./smtp-address.ts";
import type { toWireBody } from "./smtp-body.ts";
import type { SmtpExtensions } from "./smtp-session.ts";

/** A message whose addresses were checked to be safe on the wire. */
export interface SmtpMessage {
  paths: EnvelopePaths;
  /** Without dot-stuffing. */
  raw: Buffer;
  /** Returns the bytes for DATA, or why they cannot be sent safely. Computed once, because BDAT does not need them. */
  wireBody(): ReturnType<typeof toWireBody>;
  needsSmtpUtf8: boolean;
  is8Bit: boolean;
  /** Starts at 1. */
  attempt: number;
}

export function mailCommand({ paths, raw, needsSmtpUtf8 }: SmtpMessage, extensions: SmtpExtensions): string {
  // RFC 1870 §3: the size before dot-stuffing.
  const size = extensions.size ? ` SIZE=${raw.length}` : "";
  const body = extensions.eightBitMime ? " BODY=8BITMIME" : "";
  return `MAIL FROM:${paths.from}${size}${body}${needsSmtpUtf8 ? " SMTPUTF8" : ""}`;
}

export function recipientCommands({ paths }: SmtpMessage): string[] {
  return paths.to.map((path) => `RCPT TO:${path}`);
}
