// The outbox: putting mails in, and telling where each stands.
// Before it: v1/ (later campaigns and workflows) enqueues in its own transaction. After it: sender.ts claims.
import { EMAIL_KINDS, type EmailKind, type EmailStatus } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../platform/database.ts";
import { contentId, isId, newId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/page.ts";
import { Refusal } from "../platform/refusal.ts";
import { listEventsOfEmail } from "../events/events.ts";
import { listResolutions } from "./doubt-queries.ts";
import { listWaiting, type WaitingRow } from "./batch-queries.ts";
import type { ListKind } from "../message/message-headers.ts";
import { kindOf, messageIdOf } from "./rules.ts";
import {
  countEmails,
  findContentIds,
  findEmail,
  insertContents,
  insertEmails,
  insertFile,
  listAttempts,
  listEmailRows,
  type ContentRow,
  type EmailFilter,
} from "./queries.ts";
import { timelineOf } from "./email-timeline.ts";
import { countReturned } from "./returned-message-queries.ts";

export { advanceEmails, type EmailStep, type EmailStepTaken } from "./returned-emails.ts";

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

/** Makes a content; its id is a hash of everything it says, so that equal contents are stored once. */
export function makeContent(parts: Omit<EmailContent, "id">, textsHash = hashTexts(parts)): EmailContent {
  const { projectId, from, replyTo, headers, attachments, listKind, tracked = true } = parts;
  const named = attachments.map(({ bytes: _bytes, ...rest }) => rest);
  const kind = { ...(listKind ? { listKind } : {}), ...(tracked ? {} : { tracked }) };
  const small = JSON.stringify({ projectId, from, replyTo, headers, attachments: named, textsHash, ...kind });
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
      list_kind: content.listKind ?? null,
      tracked: content.tracked ?? true,
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
  campaignId: string | null;
  workflowId: string | null;
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

/** Later than any retry: a mail that is due then waits for its destination, and nobody knows how long. */
const PARKED_FROM = new Date("9999-01-01T00:00:00Z");

type ListedEmail = Awaited<ReturnType<typeof listEmailRows>>[number] | ReturnType<typeof asMail>;

function present(row: ListedEmail): EmailView {
  return {
    id: row.id,
    contactId: row.contact_id,
    campaignId: row.campaign_id,
    workflowId: row.workflow_id,
    kind: kindOf(row.priority),
    status: row.status as EmailStatus,
    to: row.to_address,
    from: row.from_address,
    subject: row.subject,
    reason: row.reason,
    attempts: row.attempts,
    nextAttemptAt: row.status === "QUEUED" ? instantOf(row.due_at) : null,
    createdAt: row.created_at.toISOString(),
    sentAt: row.sent_at?.toISOString() ?? null,
  };
}

/** null for `infinity`, which is a number to the driver: the mail is held; and for one that is parked. */
function instantOf(dueAt: Date | number): string | null {
  return dueAt instanceof Date && dueAt < PARKED_FROM ? dueAt.toISOString() : null;
}

/** A recipient of a campaign who waits in a batch, as the mail it will be. */
const asMail = (row: WaitingRow) => ({
  ...row,
  status: "QUEUED",
  priority: EMAIL_KINDS.indexOf("CAMPAIGN") + 1,
  workflow_id: null,
  reason: null,
  attempts: 0,
  due_at: row.created_at,
  sent_at: null,
  copies: null,
  transport: null,
  answer: null,
  provider_message_id: null,
});

/** Mails of a contact that wait in batches and match. */
async function listWaitingMails(database: Database, projectId: string, filter: EmailFilter) {
  const { contactId, status = "QUEUED", campaignId, since } = filter;
  if (contactId === undefined || status !== "QUEUED") return [];
  const waiting = await listWaiting(database, projectId, { by: "contact_id", ids: [contactId] });
  return waiting
    .filter((row) => campaignId === undefined || row.campaign_id === campaignId)
    .filter((row) => since === undefined || row.created_at >= since)
    .map(asMail);
}

/** Mails newest first, those in batches only of a contact that is asked for; `total` is counted on the first page only. */
export async function listEmails(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  request: PageRequest,
): Promise<Page<EmailView> & { total: number }> {
  const { before } = request;
  const stored = await listEmailRows(database, projectId, filter, request);
  const waiting = await listWaitingMails(database, projectId, filter);
  const rows = [...stored, ...waiting.filter(({ id }) => before === null || id < before)]
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, request.limit + 1);
  const total = before === null ? (await countEmails(database, projectId, filter)) + waiting.length : 0;
  return { ...toPage("emails", request, rows, present), total };
}

/** A mail with all that happened to it, oldest first. @throws Refusal EMAIL_NOT_FOUND. */
export async function getEmail(database: Database, projectId: string, id: string) {
  if (!isId(id)) throw new Refusal("EMAIL_NOT_FOUND");
  const row =
    (await findEmail(database, projectId, id)) ??
    (await listWaiting(database, projectId, { by: "id", ids: [id] })).map(asMail)[0];
  if (row === undefined) throw new Refusal("EMAIL_NOT_FOUND");
  const copies = (row.copies ?? { cc: [], bcc: [] }) as Copies;
  const attempts = await listAttempts(database, projectId, id);
  const events = await listEventsOfEmail(database, projectId, id);
  const resolutions = await listResolutions(database, projectId, id);
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
    returnedMessages: await countReturned(database, projectId, id),
    timeline: timelineOf(row, attempts, events, resolutions),
  };
}
