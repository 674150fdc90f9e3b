// From a claimed row of system mail to its message: what it says is taken as it stands, with no template, tracking, footer or way out of a
// list.
import { hasNonAsciiLocalPart } from "@postloft/contract/address.ts";
import { buildBody } from "../../message/body.ts";
import { buildMessage } from "../../message/message.ts";
import type { OutgoingMessage } from "../../transports/transport.ts";
import { messageDateOf, messageIdOf } from "../outbox/rules.ts";
import type { ClaimedRow } from "../sending/sender-queries.ts";

/** What stands in the variables of a system mail until it has come to its end. */
export interface SystemMailContent {
  /** No template: nothing is filled in. No secret: it stays with the row of the mail. */
  subject: string;
  text: string;
  html: string;
}

/** Whom mail of the installation comes from. */
export interface SystemAddress {
  address: string;
  name?: string;
}

/** The address mail of the installation comes from when none is set: this installation's own name. */
export function defaultSystemAddress(baseUrl: string): SystemAddress {
  return { address: `postloft@${new URL(baseUrl).hostname}`, name: "Postloft" };
}

/** Builds the message of a system mail. Its bounces go to its sender's own address, and it is not signed. */
export function buildSystemMail(row: ClaimedRow, from: SystemAddress): OutgoingMessage {
  const { subject, text, html } = row.variables as SystemMailContent;
  const envelope = { from: from.address, to: [row.toAddress] };
  const messageId = messageIdOf(row.id, from.address);
  const built = buildMessage({
    messageId,
    date: messageDateOf(row.id),
    from,
    to: [{ address: row.toAddress }],
    subject,
    // RFC 3834: no person wrote it, and none is to be answered by a machine.
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
