// The outbox: putting mails in, and telling where each stands.
// Before it: v1/ (later campaigns and workflows) enqueues in its own transaction. After it: sender.ts claims.
import { EMAIL_KINDS, EMAIL_STATUSES, type EmailKind, type EmailStatus } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../platform/database.ts";
import { contentId, isId, newId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/page.ts";
import { Refusal } from "../platform/refusal.ts";
import { listEventsOfEmail } from "../events/events.ts";
import { isForward, messageIdOf } from "./rules.ts";
import {
  countEmails,
  eraseRecipient,
  findContentIds,
  findEmail,
  insertContents,
  insertEmails,
  insertFile,
  listAttempts,
  listEmailRows,
  updateStatuses,
  type ContentRow,
  type EmailFilter,
} from "./queries.ts";

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
  from: Mailbox;
  replyTo: string | null;
  subject: string;
  html: string;
  /** null: made from the HTML. */
  text: string | null;
  headers: ReadonlyArray<{ name: string; value: string }>;
  attachments: readonly ContentAttachment[];
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
  contactId: string;
  kind: EmailKind;
  to: Mailbox;
  copies: Copies | null;
  content: EmailContent;
  /** Laid over the contact's data when the mail is rendered. */
  variables: Readonly<Record<string, unknown>>;
}

/** A hash of the texts of a content, the long part of what its id is made from: a caller that needs it too makes it once. */
export function hashTexts({ subject, html, text }: Pick<EmailContent, "subject" | "html" | "text">): string {
  return contentId(subject, html, text ?? "", text === null ? "0" : "1");
}

/** Makes a content; its id is a hash of everything it says, so that equal contents are stored once. */
export function makeContent(parts: Omit<EmailContent, "id">, textsHash = hashTexts(parts)): EmailContent {
  const { projectId, from, replyTo, headers, attachments } = parts;
  const named = attachments.map(({ bytes: _bytes, ...rest }) => rest);
  const small = JSON.stringify({ projectId, from, replyTo, headers, attachments: named, textsHash });
  return { ...parts, id: contentId(small, ...attachments.map(({ bytes }) => bytes)) };
}

const MAX_HTML_TO_RESEND = 2_000;

/** Puts mails into the outbox and answers their ids, in order. They are durable with the caller's commit. */
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
    priority: EMAIL_KINDS.indexOf(email.kind) + 1,
    toAddress: email.to.address,
    toName: email.to.name,
    copies: email.copies === null ? null : JSON.stringify(email.copies),
    variables: Object.keys(email.variables).length === 0 ? null : JSON.stringify(email.variables),
  }));
  await insertEmails(tx, rows);
  return rows.map((row) => row.id);
}

async function storeContents(tx: Tx, given: readonly EmailContent[]): Promise<void> {
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
      project_id: content.projectId,
      id: content.id,
      from_address: content.from.address,
      from_name: content.from.name,
      reply_to: content.replyTo,
      subject: content.subject,
      html: content.html,
      text: content.text,
      headers: JSON.stringify(content.headers),
      attachments: JSON.stringify(await storeFiles(tx, content)),
    });
  }
  await insertContents(tx, rows);
}

async function storeFiles(tx: Tx, content: EmailContent): Promise<StoredAttachment[]> {
  const stored: StoredAttachment[] = [];
  for (const { bytes, ...named } of content.attachments) {
    const fileId = contentId(bytes);
    await insertFile(tx, { project_id: content.projectId, id: fileId, bytes });
    stored.push({ fileId, ...named, sizeBytes: bytes.length });
  }
  return stored;
}

export interface EmailView {
  id: string;
  contactId: string | null;
  kind: EmailKind;
  status: EmailStatus;
  to: string;
  from: string;
  subject: string;
  reason: string | null;
  attempts: number;
  nextAttemptAt: string | null;
  createdAt: string;
  sentAt: string | null;
}

type ListedEmail = Awaited<ReturnType<typeof listEmailRows>>[number];

function present(row: ListedEmail): EmailView {
  return {
    id: row.id,
    contactId: row.contact_id,
    kind: EMAIL_KINDS[row.priority - 1] ?? "TRANSACTIONAL",
    status: row.status as EmailStatus,
    to: row.to_address,
    from: row.from_address,
    subject: row.subject,
    reason: row.reason,
    attempts: row.attempts,
    nextAttemptAt: row.status === "QUEUED" ? row.due_at.toISOString() : null,
    createdAt: row.created_at.toISOString(),
    sentAt: row.sent_at?.toISOString() ?? null,
  };
}

/** Mails newest first; `total` is counted on the first page only. */
export async function listEmails(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  request: PageRequest,
): Promise<Page<EmailView> & { total: number }> {
  const rows = await listEmailRows(database, projectId, filter, request);
  const total = request.before === null ? await countEmails(database, projectId, filter) : 0;
  return { ...toPage("emails", request, rows, present), total };
}

/** A mail with all that happened to it, oldest first. @throws Refusal EMAIL_NOT_FOUND. */
export async function getEmail(database: Database, projectId: string, id: string) {
  const row = isId(id) ? await findEmail(database, projectId, id) : undefined;
  if (row === undefined) throw new Refusal("EMAIL_NOT_FOUND");
  const copies = (row.copies ?? { cc: [], bcc: [] }) as Copies;
  const attempts = await listAttempts(database, projectId, id);
  const events = await listEventsOfEmail(database, projectId, id);
  const timeline = [
    { type: "queued", at: row.created_at.toISOString(), detail: null },
    ...attempts.map((attempt) => ({
      type: "attempt",
      at: attempt.created_at.toISOString(),
      detail: `${attempt.outcome}: ${attempt.answer}`,
    })),
    ...events.map((event) => ({ type: event.name, at: event.createdAt, detail: null })),
  ];
  return {
    ...present(row),
    messageId: messageIdOf(id, row.from_address),
    cc: copies.cc.map((mailbox) => mailbox.address),
    bcc: copies.bcc.map((mailbox) => mailbox.address),
    replyTo: row.reply_to,
    body: row.html,
    attachments: (row.attachments as StoredAttachment[]).map(({ filename, contentType, sizeBytes }) => ({
      filename,
      contentType,
      sizeBytes,
    })),
    timeline: timeline.toSorted((one, other) => one.at.localeCompare(other.at)),
  };
}

/** Erases a person from the mails they got; what has not left is skipped, the rest stays in the books. */
export async function forgetRecipient(tx: Tx, projectId: string, contactId: string): Promise<void> {
  await eraseRecipient(tx, projectId, contactId);
}

/** Moves mails forward to where a notice says they are; one that is further already stays. Later entries win. */
export async function advanceEmails(
  tx: Tx,
  steps: ReadonlyArray<{ projectId: string; id: string; status: EmailStatus }>,
): Promise<void> {
  const last = new Map<string, (typeof steps)[number]>();
  for (const step of steps) {
    const before = last.get(step.id);
    if (before === undefined || isForward(before.status, step.status)) last.set(step.id, step);
  }
  for (const [status, group] of Map.groupBy(last.values(), (step) => step.status)) {
    await updateStatuses(
      tx,
      status,
      EMAIL_STATUSES.filter((from) => isForward(from, status)),
      group,
    );
  }
}
