// Reads a message sent to an email's return path, from its machine-readable part or its words. Never throws.
import type { Email } from "postal-mime";
import { isAutomaticReply } from "./automatic-replies.ts";
import { readBounceText, explanationOf, withoutNoise } from "./bounce-text.ts";
import { readDeliveryStatus, type RecipientStatus } from "./delivery-status.ts";
import { readText } from "../platform/foreign-values.ts";
import type { ReadablePart } from "./read-report.ts";
import { partOf } from "./told-reply.ts";

export type Bounce =
  /** `kept`: the text a person may want to read, because only words gave the outcome. */
  | { kind: "statuses"; statuses: RecipientStatus[]; kept: ReadablePart | null }
  | { kind: "nothing"; why: string };

/** A report is short; the rest is the original email. */
const MAX_REPORT_BYTES = 128 * 1024;
const MAX_RAW_LENGTH = 64 * 1024;
const MAX_KEPT_LENGTH = 16_000;
const MAX_NAME_LENGTH = 500;

export function readBounce(email: Email, raw: Buffer, sender: string): Bounce {
  const text = textOf(email);
  const headers = new Map(email.headers.map(({ key, value }) => [key, value]));
  const machine = machineReadable(email);
  const byFields = machine === null ? null : readDeliveryStatus(machine, besideOf(text));
  if (byFields !== null && byFields.length > 0) return { kind: "statuses", statuses: byFields, kept: null };
  // Actions relayed, expanded and deliverable report that nothing went wrong.
  if (machine !== null && /^action\s{0,3}:\s{0,3}(?:relayed|expanded|deliverable)\b/im.test(machine))
    return { kind: "nothing", why: "nothing came back" };
  if (isReceipt(email) && !/was automatically rejected/i.test(text))
    return { kind: "nothing", why: "a receipt" };
  const name = email.from?.name ?? "";
  const isFromDaemon =
    isDaemon(email.from?.address ?? "") || isDaemon(name) || /^\s*mail(?:er)?\s*$/i.test(name);
  const evidence = isDaemon(sender) || isFromDaemon;
  const isBounce =
    headers.has("x-failed-recipients") ||
    /\breport-type="?delivery-status/i.test(headers.get("content-type") ?? "");
  if (!isBounce && isAutomaticReply(email, headers, isFromDaemon))
    return { kind: "nothing", why: "an automatic reply" };
  if (!isBounce && !evidence && sender !== "") return { kind: "nothing", why: "no report in it" };
  return { kind: "statuses", ...readWords(email, raw, text, headers) };
}

function readWords(
  email: Email,
  raw: Buffer,
  text: string,
  headers: ReadonlyMap<string, string>,
): { statuses: RecipientStatus[]; kept: ReadablePart } {
  const subject = email.subject ?? "";
  const failed = addressesIn(headers.get("x-failed-recipients"));
  const asIs = rawText(raw);
  const said = text.trim() === "" ? asIs : text;
  const kept = {
    subject: readText(subject, MAX_NAME_LENGTH),
    from: readText(email.from?.address, MAX_NAME_LENGTH),
    text: readText(explanationOf(said).trim(), MAX_KEPT_LENGTH),
  };
  const statuses =
    // Read the raw text for fields, because the parts may not match what the header says.
    nonEmpty(fieldsIn(asIs) === null ? [] : readDeliveryStatus(asIs, besideOf(asIs))) ??
    readBounceText({ subject, text, failed }) ??
    readBounceText({ subject, text: asIs, failed });
  return {
    kept,
    statuses: statuses ?? [
      {
        recipient: failed[0] ?? null,
        kind: "soft-bounce",
        reason: readText(`${subject} ${kept.text ?? ""}`.replace(/\s+/g, " ").trim(), MAX_NAME_LENGTH),
        cause: "not-told",
        refusedBy: null,
      },
    ],
  };
}

const nonEmpty = (statuses: RecipientStatus[]) => (statuses.length > 0 ? statuses : null);

/** Returns the fields of RFC 3464, wherever a server put them. */
function machineReadable(email: Email): string | null {
  const proper = email.attachments.find(({ mimeType }) =>
    ["message/delivery-status", "message/global-delivery-status"].includes(mimeType),
  );
  if (proper !== undefined) return contentOf(proper.content);
  const odd = email.attachments
    .filter(({ mimeType }) => mimeType.startsWith("text/") && mimeType !== "text/rfc822-headers")
    .map(({ content }) => contentOf(content));
  for (const text of [...odd, email.text ?? ""]) if (fieldsIn(text) !== null) return text;
  return null;
}

function fieldsIn(text: string): string | null {
  const hasAll = [/^action\s{0,3}:\s{0,3}[a-z]/im, /^(?:final|original)-recipient\s{0,3}:/im].every((field) =>
    field.test(text.slice(0, MAX_RAW_LENGTH)),
  );
  return hasAll ? text : null;
}

function besideOf(text: string) {
  const notifying = explanationOf(text);
  return { text: withoutNoise(notifying), part: partOf(notifying) };
}

function contentOf(content: ArrayBuffer | Uint8Array | string): string {
  const bytes = typeof content === "string" ? Buffer.from(content) : Buffer.from(content as Uint8Array);
  return bytes.subarray(0, MAX_REPORT_BYTES).toString("utf8");
}

/** Returns the text a mail program would show. */
function textOf({ text, html, attachments }: Email): string {
  if (text !== undefined && text.trim() !== "") return text;
  if (html !== undefined && html.trim() !== "")
    return html
      .slice(0, MAX_RAW_LENGTH)
      .replace(/<(?:br|p|div|tr|li)\b[^<>]{0,500}>/gi, "\n")
      .replace(/<[^<>]{0,2000}>/g, " ")
      .replace(/&nbsp;/g, " ")
      .replace(/&lt;/g, "<")
      .replace(/&gt;/g, ">");
  const part = attachments.find(
    ({ mimeType }) => mimeType.startsWith("text/") && mimeType !== "text/rfc822-headers",
  );
  return part === undefined ? "" : contentOf(part.content);
}

/** Returns the raw body, for messages with a broken structure. */
function rawText(raw: Buffer): string {
  const head = raw.subarray(0, MAX_RAW_LENGTH).toString("utf8").replaceAll("\r\n", "\n");
  const end = head.indexOf("\n\n");
  const original = head.search(/^content-type: ?(?:message\/rfc822|text\/rfc822-headers)/im);
  return (end === -1 ? "" : head.slice(end + 2, original > end ? original : undefined))
    .replace(/^boundary=[^\n]{0,300}$/gim, "")
    .replace(/^--\S{1,200}$/gm, "")
    .replace(/^content-[a-z-]{1,30}:[^\n]{0,500}(?:\n[ \t][^\n]{0,500}){0,5}/gim, "");
}

function addressesIn(field: string | undefined): string[] {
  return (field ?? "")
    .slice(0, 4_000)
    .split(/[\s,<>]+/)
    .filter((word) => word.includes("@"));
}

/** Returns whether it is a disposition notification (RFC 8098): a person or program opened or deleted the email. */
function isReceipt(email: Email): boolean {
  return email.attachments.some(({ mimeType }) => mimeType === "message/disposition-notification");
}

/** Returns whether servers use this address or display name to send reports. */
function isDaemon(name: string): boolean {
  return /^(?:mailer-?daemon|post_?master|postmaster|mdaemon|double-bounce|mail delivery (?:system|subsystem)|mail administrator|system administrator)\b|mail deliver|mailer.?daemon/i.test(
    name.trim(),
  );
}
