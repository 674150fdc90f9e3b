// Builds the message of a claimed platform email. Its text is used unchanged, without template, tracking, footer or unsubscribe link.
import { hasNonAsciiLocalPart } from "@postloft/contract/address.ts";
import { buildBody } from "../../message/body.ts";
import { buildMessage } from "../../message/message.ts";
import type { OutgoingMessage } from "../../transports/transport.ts";
import { messageDateOf, messageIdOf } from "../rows/rules.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** The content of a platform email, stored in its variables until it ends. */
export interface PlatformEmailContent {
  /** Plain text without variables. Must contain no secret, because it stays in the email row. */
  subject: string;
  text: string;
  html: string;
}

/** The sender of platform email. */
export interface SystemAddress {
  address: string;
  name?: string;
}

/** Returns the default sender of platform email, at the installation's own host. */
export function defaultSystemAddress(baseUrl: string): SystemAddress {
  return { address: `postloft@${new URL(baseUrl).hostname}`, name: "Postloft" };
}

/** Builds the message of a platform email. It is not signed, and bounces go to the sender's address. */
export function buildPlatformEmail(row: ClaimedRow, from: SystemAddress): OutgoingMessage {
  const { subject, text, html } = row.variables as PlatformEmailContent;
  const envelope = { from: from.address, to: [row.toAddress] };
  const messageId = messageIdOf(row.id, from.address);
  const built = buildMessage({
    messageId,
    date: messageDateOf(row.id),
    from,
    to: [{ address: row.toAddress }],
    subject,
    // RFC 3834 marks the message as automatic, so that no machine replies to it.
    headers: [{ name: "Auto-Submitted", value: "auto-generated" }],
    body: buildBody({ messageId, html, text, attachments: [] }),
  });
  return {
    emailId: row.id,
    projectId: row.projectId,
    attempt: row.attempts + 1,
    envelope,
    raw: built.bytes,
    needsSmtpUtf8: [envelope.from, ...envelope.to].some(hasNonAsciiLocalPart),
  };
}
