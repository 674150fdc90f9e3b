// Enqueues emails and stores their contents.
import { EMAIL_KINDS, type EmailKind } from "@postloft/contract/emails.ts";
import { nowMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
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

/** A message template before variables are filled in. Immutable and shared by all emails of one call. */
export interface EmailContent {
  projectId: string;
  id: string;
  /** No email created after this instant uses the content. */
  usedUntil: Date;
  from: Mailbox;
  replyTo: string | null;
  subject: string;
  html: string;
  /** null: generated from the HTML. */
  text: string | null;
  headers: ReadonlyArray<{ name: string; value: string }>;
  attachments: readonly ContentAttachment[];
  /** Set for bulk mail, which gets unsubscribe headers and is sent to subscribed contacts only. */
  listKind?: ListKind | null;
  /** False disables open and click tracking regardless of the project's setting. */
  tracked?: boolean;
  /** The language of the template's variant that the texts are from. */
  locale?: string | null;
  /** Sent instead of the texts, if set. */
  raw?: RawMessage | null;
}

/** A complete message that is sent without rendering (docs/decisions/0136-raw-messages.md). */
export interface RawMessage {
  /** Header and body with CRLF line ends, with exactly one From, and ending in CRLF. */
  bytes: Buffer;
  /** Without angle brackets. */
  messageId: string;
}

/** An attachment as stored with its content, without the bytes. */
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
  /** null: the address does not belong to a contact. */
  contactId: string | null;
  kind: EmailKind;
  to: Mailbox;
  copies: Copies | null;
  content: EmailContent;
  templateId?: string;
  /** The campaign of the email. The database rejects the whole call if a contact would get two emails of one campaign. */
  campaignId?: string;
  /** The workflow and step that sent the email. */
  workflow?: { id: string; stepId: string };
  /** A workflow sends it because of a call with a public key; `FIRST`: the first one to a contact that never asked for email. */
  fromPublicKey?: "FIRST" | "LATER";
  /** Merged over the contact's data when the email is rendered. Holds TestVariables for a test email. */
  variables: Readonly<Record<string, unknown>>;
  /** Sent then. Default: immediately. */
  scheduledFor?: Date;
  tags?: readonly string[];
  metadata?: Readonly<Record<string, string>>;
  /** The email is left out of counts and notifications. */
  isTest?: true;
  /** Delivers to the local mailbox, whichever transport is configured. */
  staysHere?: true;
}

/** Hashes the texts of a content, the expensive part of its id. A caller that also needs the hash computes it once. */
export function hashTexts({ subject, html, text }: Pick<EmailContent, "subject" | "html" | "text">): string {
  return contentId(subject, html, text ?? "", text === null ? "0" : "1");
}

/** Returns the first instant of the next month (UTC). */
function nextMonth(): Date {
  const now = new Date(nowMs());
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
}

/**
 * Creates a content with a hash of its fields and the current month as its id. Equal contents are therefore stored once, and an old one can
 * be redacted while new emails use the same text (retention/). Each raw message has its own content, so that it can be erased with its
 * recipients.
 */
export function makeContent(
  parts: Omit<EmailContent, "id" | "usedUntil">,
  textsHash = hashTexts(parts),
): EmailContent {
  if (parts.raw) return { ...parts, usedUntil: nextMonth(), id: newId() };
  const { projectId, from, replyTo, headers, attachments, listKind, tracked = true, locale } = parts;
  const named = attachments.map(({ bytes: _bytes, ...rest }) => rest);
  const kind = {
    ...(listKind ? { listKind } : {}),
    ...(tracked ? {} : { tracked }),
    ...(locale ? { locale } : {}),
  };
  const usedUntil = nextMonth();
  const said = { projectId, from, replyTo, headers, attachments: named, textsHash, ...kind, usedUntil };
  return {
    ...parts,
    usedUntil,
    id: contentId(JSON.stringify(said), ...attachments.map(({ bytes }) => bytes)),
  };
}

const MAX_HTML_TO_RESEND = 2_000;

/** Enqueues emails and returns their ids in order. They become durable when the caller commits. */
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
    fromPublicKey: email.fromPublicKey ?? null,
    priority: EMAIL_KINDS.indexOf(email.kind) + 1,
    toAddress: email.to.address,
    toName: email.to.name,
    copies: email.copies === null ? null : JSON.stringify(email.copies),
    variables: Object.keys(email.variables).length === 0 ? null : JSON.stringify(email.variables),
    scheduledFor: email.scheduledFor?.toISOString() ?? null,
    tags: isEmpty(email.tags) ? null : JSON.stringify([...new Set(email.tags)]),
    metadata: isEmpty(email.metadata) ? null : JSON.stringify(email.metadata),
    isTest: email.isTest ?? null,
    staysHere: email.staysHere ?? null,
    submittedMessageId: email.content.raw?.messageId ?? null,
  }));
  await insertEmails(tx, rows);
  return rows.map((row) => row.id);
}

const isEmpty = (labels: object | undefined) => labels === undefined || Object.keys(labels).length === 0;

/** Stores contents that do not exist yet, equal ones once. */
export async function storeContents(tx: Tx, input: readonly EmailContent[]): Promise<void> {
  // Insert in a fixed order, so that two transactions with the same contents cannot deadlock.
  const contents = input.toSorted((one, other) => (one.id < other.id ? -1 : 1));
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
      locale: content.locale ?? null,
      raw: content.raw?.bytes ?? null,
      messageId: content.raw?.messageId ?? null,
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
