// The outbox: putting mails in.
import { EMAIL_KINDS, type EmailKind } from "@postloft/contract/emails.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database.ts";
import { contentId, newId } from "../../platform/ids.ts";
import type { ListKind } from "../../message/message-headers.ts";
import { findContentIds, insertContents, insertEmails, insertFile, type ContentRow } from "./queries.ts";

export interface Mailbox {
  address: string;
  name: string | null;
}

export interface ContentAttachment {
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: "attachment" | "inline";
  bytes: Buffer;
}

/** What a mail says, before variables are filled in. Immutable; shared by all mails of one call. */
export interface EmailContent {
  projectId: string;
  id: string;
  /** No mail that is made later uses it. */
  usedUntil: Date;
  from: Mailbox;
  replyTo: string | null;
  subject: string;
  html: string;
  /** null: made from the HTML. */
  text: string | null;
  headers: ReadonlyArray<{ name: string; value: string }>;
  attachments: readonly ContentAttachment[];
  /** Mail to a list: it gets a way out in its headers and leaves to subscribed contacts only. */
  listKind?: ListKind | null;
  /** False: neither opens nor clicks are looked at, whatever the project says. */
  tracked?: boolean;
}

/** How an attachment is stored beside its content: everything but the bytes. */
export interface StoredAttachment {
  fileId: string;
  filename: string;
  contentType: string;
  contentId: string | null;
  disposition: "attachment" | "inline";
  sizeBytes: number;
}

export interface Copies {
  cc: readonly Mailbox[];
  bcc: readonly Mailbox[];
}

export interface NewEmail {
  projectId: string;
  /** null: to an address that is no contact's. */
  contactId: string | null;
  kind: EmailKind;
  to: Mailbox;
  copies: Copies | null;
  content: EmailContent;
  /** The template it was made with. */
  templateId?: string;
  /** The campaign it belongs to: to a contact at most one mail of each, or the database refuses the whole call. */
  campaignId?: string;
  /** The workflow, and its step, that sent it. */
  workflow?: { id: string; stepId: string };
  /** Laid over the contact's data when the mail is rendered; of a test what TestVariables says. */
  variables: Readonly<Record<string, unknown>>;
  /** Nothing that comes of it is counted or told. */
  isTest?: true;
  /** Goes to the local mailbox, whatever the transport is. */
  staysHere?: true;
}

/** A hash of the texts of a content, the long part of what its id is made from: a caller that needs it too makes it once. */
export function hashTexts({ subject, html, text }: Pick<EmailContent, "subject" | "html" | "text">): string {
  return contentId(subject, html, text ?? "", text === null ? "0" : "1");
}

/** The first instant of the next month (UTC). */
function nextMonth(): Date {
  const now = new Date(nowMs());
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
}

/**
 * Makes a content; its id is a hash of everything it says and of the month, so that equal contents are stored once, and what an old
 * one said can be forgotten while the same is said again (retention/).
 */
export function makeContent(
  parts: Omit<EmailContent, "id" | "usedUntil">,
  textsHash = hashTexts(parts),
): EmailContent {
  const { projectId, from, replyTo, headers, attachments, listKind, tracked = true } = parts;
  const named = attachments.map(({ bytes: _bytes, ...rest }) => rest);
  const kind = { ...(listKind ? { listKind } : {}), ...(tracked ? {} : { tracked }) };
  const usedUntil = nextMonth();
  const said = { projectId, from, replyTo, headers, attachments: named, textsHash, ...kind, usedUntil };
  return {
    ...parts,
    usedUntil,
    id: contentId(JSON.stringify(said), ...attachments.map(({ bytes }) => bytes)),
  };
}

const MAX_HTML_TO_RESEND = 2_000;

/** Puts mails into the outbox and returns their ids, in order. They are durable with the caller's commit. */
export async function enqueueEmails(tx: Tx, emails: readonly NewEmail[]): Promise<string[]> {
  if (emails.length === 0) return [];
  await storeContents(tx, [
    ...new Map(emails.map(({ content }) => [`${content.projectId} ${content.id}`, content])).values(),
  ]);
  const rows = emails.map((email) => ({
    projectId: email.projectId,
    id: newId(),
    contactId: email.contactId,
    contentId: email.content.id,
    templateId: email.templateId ?? null,
    campaignId: email.campaignId ?? null,
    workflowId: email.workflow?.id ?? null,
    workflowStepId: email.workflow?.stepId ?? null,
    priority: EMAIL_KINDS.indexOf(email.kind) + 1,
    toAddress: email.to.address,
    toName: email.to.name,
    copies: email.copies === null ? null : JSON.stringify(email.copies),
    variables: Object.keys(email.variables).length === 0 ? null : JSON.stringify(email.variables),
    isTest: email.isTest ?? null,
    staysHere: email.staysHere ?? null,
  }));
  await insertEmails(tx, rows);
  return rows.map((row) => row.id);
}

/** Stores contents that are not there yet; equal ones are stored once. */
export async function storeContents(tx: Tx, given: readonly EmailContent[]): Promise<void> {
  // In one order everywhere: two transactions that store the same contents must not wait for each other.
  const contents = given.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const isLarge = (content: EmailContent) =>
    content.html.length > MAX_HTML_TO_RESEND || content.attachments.length > 0;
  const large = contents.filter(isLarge);
  const known = large.length === 0 ? new Set<string>() : await findContentIds(tx, large);
  const missing = contents.filter((content) => !known.has(content.id));
  if (missing.length === 0) return;
  const rows: ContentRow[] = [];
  for (const content of missing) {
    rows.push({
      projectId: content.projectId,
      id: content.id,
      fromAddress: content.from.address,
      fromName: content.from.name,
      replyTo: content.replyTo,
      subject: content.subject,
      html: content.html,
      text: content.text,
      headers: JSON.stringify(content.headers),
      attachments: JSON.stringify(await storeFiles(tx, content)),
      listKind: content.listKind ?? null,
      tracked: content.tracked ?? true,
      usedUntil: content.usedUntil,
    });
  }
  await insertContents(tx, rows);
}

async function storeFiles(tx: Tx, content: EmailContent): Promise<StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (const { bytes, ...named } of content.attachments) {
    const { projectId, usedUntil } = content;
    const fileId = contentId(usedUntil.toISOString(), bytes);
    await insertFile(tx, { projectId, id: fileId, bytes, usedUntil });
    stored.push({ fileId, ...named, sizeBytes: bytes.length });
  }
  return stored;
}
