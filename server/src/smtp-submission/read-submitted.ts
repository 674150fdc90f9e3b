// Reads a submitted message: sender, subject, identity, control headers, and the bytes that are sent.
import { decodeWords } from "postal-mime";
import { parseAddress, parseDisplayName, parseMailbox, domainOf } from "@postloft/contract/address.ts";
import { isProviderHeader } from "@postloft/contract/custom-headers.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { parseMailboxList } from "@postloft/contract/mailbox-list.ts";
import { messageOf } from "@postloft/contract/refused-address.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import type { Mailbox, RawMessage } from "../emails/outbox/emails.ts";
import { dateField, idField, neutralize } from "../message/header.ts";
import { invalid, isControl, splitMessage, type Field } from "./header-fields.ts";
import { CONTROL_HEADERS } from "./replies.ts";

export interface SubmittedMessage {
  from: Mailbox;
  /** Decoded, for display. */
  subject: string;
  raw: RawMessage;
  /** Names the message in repeats, by the Idempotency-Key or else by the client's Message-ID. Null without both. */
  identity: { key?: string; messageId?: string } | null;
  /** The values of control headers by field of `/v1/send`, not checked yet. With a template the message itself is not sent. */
  controls: Readonly<Record<string, unknown>>;
  /** Where the recipients reply to an email made from a template. */
  replyTo: string | undefined;
}

/** Reveals recipients, or belongs to the server that delivers. Our own fields would be repeated when a message is forwarded. */
const REMOVED = new Set(["bcc", "resent-bcc", "return-path", "x-postloft-id"]);
const BRACKETED_ID = /<([^<>\s]{1,900})>/;
/** A name without quotes may have an `@` or a comment here, because many programs write such names. A comma would begin another address. */
const UNQUOTED_NAME = /^([^<>",;]*)<([^<>\s]+)>$/;
/** The types of a message without files, and of its parts. */
const TEXT_ONLY = /^(?:text\/(?:plain|html)|multipart\/alternative)\s*(?:;|$)/i;
/** The header of a part. A line of a text that looks like one can only reject a message, which says so. */
const TYPE_OF_PART = /^content-type:[ \t]*(?:\r\n[ \t]+)?([^\r\n]*)/gim;
const KNOWN_CONTROLS = new Set(
  [...Object.values(CONTROL_HEADERS), "Idempotency-Key", "X-Postloft-Id"].map((name) => name.toLowerCase()),
);

/**
 * Reads a message.
 * @param bytes has CRLF line ends
 * @throws SmtpReply about the message
 */
export function readSubmitted(bytes: Buffer, utf8: boolean): SubmittedMessage {
  const { fields, body } = splitMessage(bytes, utf8);
  for (const { name, key } of fields) {
    if (isProviderHeader(key))
      throw invalid(`The header ${name} controls the mail provider, so only the installation may set it`);
    if (isControl(key) && !KNOWN_CONTROLS.has(key))
      throw invalid(`The header ${name} is unknown. Use ${Object.values(CONTROL_HEADERS).join(", ")}`);
  }
  const from = readFrom(fields.find(({ key }) => key === "from"));
  const messageId = readMessageId(valueOf(fields, "message-id"));
  const kept = fields.filter(
    ({ key, value }) => !isControl(key) && !REMOVED.has(key) && (key !== "message-id" || value !== ""),
  );
  const ownKey = valueOf(fields, "idempotency-key");
  const id = messageId ?? `${newId()}@${domainOf(from.address)}`;
  const added = [
    kept.some(({ key }) => key === "message-id") ? "" : idField("Message-ID", id),
    kept.some(({ key }) => key === "date") ? "" : dateField("Date", now()),
  ];
  const header = [...kept.map(({ lines }) => lines), ...added, "\r\n"].join("");
  return {
    from,
    subject: readText(valueOf(fields, "subject") ?? "").slice(0, LIMITS.subjectLength.value),
    raw: { bytes: Buffer.concat([Buffer.from(header, "latin1"), body]), messageId: id },
    identity: ownKey !== undefined ? { key: ownKey } : messageId === null ? null : { messageId },
    controls: readControls(fields, body),
    replyTo: valueOf(fields, "reply-to"),
  };
}

function valueOf(fields: readonly Field[], sought: string): string | undefined {
  return fields.find(({ key }) => key === sought)?.value;
}

/** Returns the decoded words on one line. */
function readText(value: string): string {
  return neutralize(decodeWords(value)).toWellFormed().trim();
}

function readFrom(field: Field | undefined): Mailbox {
  if (field === undefined) throw invalid("The message has no From header");
  const mailboxes = parseMailboxList(field.value);
  if (mailboxes.length !== 1) throw invalid("The header From must have exactly one address");
  const parsed = parseMailbox(field.value);
  const [, phrase = "", inBrackets] = UNQUOTED_NAME.exec(field.value) ?? [];
  const address = parsed.ok || inBrackets === undefined ? parsed : parseAddress(inBrackets);
  if (!address.ok)
    throw invalid(`The header From is not valid: ${messageOf(parsed.ok ? address : parsed).message}`);
  const name = parseDisplayName(readText(parsed.ok ? (parsed.name ?? "") : phrase));
  return { address: address.address, name: name.ok && name.name !== "" ? name.name : null };
}

/** Returns the id without brackets, or null if there is none. */
function readMessageId(value: string | undefined): string | null {
  const id = BRACKETED_ID.exec(value ?? "")?.[1] ?? value ?? "";
  return id === "" ? null : id;
}

/** @throws SmtpReply for a value that is not JSON, and for a combination that would lose something */
function readControls(fields: readonly Field[], body: Buffer): Record<string, unknown> {
  const controls: Record<string, unknown> = {};
  for (const [field, header] of Object.entries(CONTROL_HEADERS)) {
    const value = valueOf(fields, header.toLowerCase());
    if (value !== undefined)
      controls[field] = readControl(field as keyof typeof CONTROL_HEADERS, readText(value));
  }
  if (controls["template"] === undefined) requireNone(controls, ["locale", "data", "tracking"]);
  else requireOnlyText(valueOf(fields, "content-type"), body);
  return controls;
}

function requireNone(
  controls: Readonly<Record<string, unknown>>,
  names: ReadonlyArray<keyof typeof CONTROL_HEADERS>,
): void {
  for (const name of names)
    if (controls[name] !== undefined)
      throw invalid(
        `The header ${CONTROL_HEADERS[name]} needs ${CONTROL_HEADERS.template}, because other messages are sent unchanged`,
      );
}

/** A template replaces the parts of the message, so files and calendars would be lost. */
function requireOnlyText(contentType = "text/plain", body: Buffer): void {
  const ofParts = body.toString("latin1").matchAll(TYPE_OF_PART);
  const types = [contentType, ...[...ofParts].map(([, type = ""]) => type)];
  if (!types.every((type) => TEXT_ONLY.test(type)))
    throw invalid(
      `A message with ${CONTROL_HEADERS.template} may contain texts only, no attachments or images`,
    );
}

function readControl(field: keyof typeof CONTROL_HEADERS, text: string): unknown {
  if (field === "tags") return text.split(",").map((tag) => tag.trim());
  if (field === "scheduledFor" || field === "template" || field === "locale") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`The header ${CONTROL_HEADERS[field]} is not valid JSON`);
  }
}
