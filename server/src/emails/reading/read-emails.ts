// Lists emails and reads a single one with its history. Recipients in batches appear as the emails they will become.
import type * as contract from "@postloft/contract/emails.ts";
import { EMAIL_KINDS, type EmailStatus } from "@postloft/contract/emails.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { z } from "zod";
import type { Database } from "../../platform/database/database.ts";
import { idTimeMs, isId } from "../../platform/ids.ts";
import { cursorOf, toPage, type Page } from "../../platform/http/page.ts";
import { AppError } from "../../platform/app-error.ts";
import { domainsOf, providerDomains } from "../../transports/destinations.ts";
import { listWaiting, type WaitingRow } from "../outbox/batch-queries.ts";
import { listResolutions } from "./resolve-queries.ts";
import { timelineOf, type ListEventsOfEmail } from "./email-timeline.ts";
import type { Copies, StoredAttachment } from "../outbox/emails.ts";
import { findEmail, listAttempts } from "../outbox/queries.ts";
import { findEmails, inTime, type FindRequest } from "./find-emails.ts";
import { countEmails, type EmailFilter, type ListedEmailRow } from "./search-queries.ts";
import { countReturned } from "../returned/returned-message-queries.ts";
import { kindOf, messageIdOf } from "../rows/rules.ts";
import { readRawMessage } from "./raw-content.ts";

export type EmailView = z.output<typeof contract.email>;

/** Later than any retry. Emails due after this are deferred for their destination until an unknown time. */
const DEFERRED_FROM = new Date("9999-01-01T00:00:00Z");

type ListedEmail = ListedEmailRow | ReturnType<typeof asMail>;

function present(row: ListedEmail): EmailView {
  return {
    id: row.id,
    contactId: row.contactId,
    campaignId: row.campaignId,
    workflowId: row.workflowId,
    kind: kindOf(row.priority),
    status: row.status as EmailStatus,
    to: row.toAddress,
    from: row.fromAddress,
    subject: row.subject,
    reason: row.reason,
    attempts: row.attempts,
    nextAttemptAt: row.status === "QUEUED" ? instantOf(row.dueAt) : null,
    scheduledFor: row.scheduledFor?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    sentAt: row.sentAt?.toISOString() ?? null,
    tags: (row.tags ?? []) as string[],
    metadata: (row.metadata ?? {}) as Record<string, string>,
    forgottenAt: row.forgottenAt?.toISOString() ?? null,
  };
}

/** Returns null for deferred emails and for held ones, which have the due time `infinity` (a number in the driver). */
function instantOf(dueAt: Date | number): string | null {
  return dueAt instanceof Date && dueAt < DEFERRED_FROM ? dueAt.toISOString() : null;
}

/** Presents a batched campaign recipient as the email it will become. */
const asMail = (row: WaitingRow) => ({
  ...row,
  status: "QUEUED",
  priority: EMAIL_KINDS.indexOf("CAMPAIGN") + 1,
  workflowId: null,
  reason: null,
  attempts: 0,
  dueAt: row.createdAt,
  scheduledFor: null,
  sentAt: null,
  tags: null,
  metadata: null,
  forgottenAt: null,
  copies: null,
  transport: null,
  answer: null,
  providerMessageId: null,
  raw: null,
  messageId: null,
  locale: null,
});

/** Lists matching emails that wait in batches, if the filter has a contact or a whole address. */
async function listWaitingMails(database: Database, projectId: string, filter: EmailFilter) {
  const { to, contactId, status = "QUEUED", kind = "CAMPAIGN" } = filter;
  const address = to !== undefined && "address" in to ? to.address : undefined;
  const isNeverWaiting = [filter.ids, filter.tag, filter.workflowId, filter.transport].some(
    (one) => one !== undefined,
  );
  if (status !== "QUEUED" || kind !== "CAMPAIGN" || isNeverWaiting) return [];
  if (contactId === undefined && address === undefined) return [];
  const sought =
    contactId === undefined
      ? { by: "address" as const, addresses: [address ?? ""] }
      : { by: "contactId" as const, ids: [contactId] };
  const waiting = await listWaiting(database, projectId, sought);
  return waiting.filter((row) => isSought(row, filter)).map(asMail);
}

/** Returns whether a waiting recipient matches the filter, apart from its contact. */
function isSought(
  row: WaitingRow,
  { to, campaignId, provider, subject, since, until }: EmailFilter,
): boolean {
  const { toAddress, createdAt } = row;
  if (to !== undefined && !("address" in to ? toAddress === to.address : toAddress.startsWith(to.beginning)))
    return false;
  if (provider !== undefined && !isAtProvider(toAddress, provider)) return false;
  if (subject !== undefined && !row.subject.toLowerCase().includes(subject.toLowerCase())) return false;
  if (campaignId !== undefined && row.campaignId !== campaignId) return false;
  return (since === undefined || createdAt >= since) && (until === undefined || createdAt < until);
}

function isAtProvider(address: string, provider: NonNullable<EmailFilter["provider"]>): boolean {
  const domain = domainOf(address);
  return provider === "other"
    ? providerDomains().every((one) => one.domain !== domain)
    : domainsOf(provider).includes(domain);
}

export interface ListRequest extends FindRequest {
  /** Whether to count all matches if the page has only a part of them. */
  withTotal: boolean;
}

/**
 * Lists emails, newest first. Includes batched emails only when filtering by contact or whole address. `total` is known on the first page
 * only. `searchedTo` is set if a page ended because time ran out.
 * @throws AppError VALIDATION_ERROR if a full page or the total exceeds the statement timeout
 */
export async function listEmails(
  database: Database,
  projectId: string,
  filter: EmailFilter,
  request: ListRequest,
): Promise<Page<EmailView> & { total: number; searchedTo?: string }> {
  const { before, limit, withTotal } = request;
  const { rows: stored, end } = await findEmails(database, projectId, filter, request);
  const waiting = await listWaitingMails(database, projectId, filter);
  const rows = [
    ...stored,
    ...waiting.filter(({ id }) => (before === null || id < before) && (end === null || id >= end)),
  ].toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const page = toPage("emails", request, rows.slice(0, limit + 1), present);
  const isWhole = !page.hasMore && end === null;
  const count = async () => (await inTime(filter, countEmails(database, projectId, filter))) + waiting.length;
  const known = async () => (isWhole ? page.data.length : withTotal ? count() : 0);
  const total = before === null ? await known() : 0;
  if (page.hasMore || end === null) return { ...page, total };
  const searchedTo = new Date(idTimeMs(end)).toISOString();
  return { ...page, cursor: cursorOf("emails", end), hasMore: true, total, searchedTo };
}

/**
 * Returns an email with its history, oldest first.
 * @throws AppError EMAIL_NOT_FOUND
 */
export async function getEmail(
  database: Database,
  projectId: string,
  id: string,
  listEventsOfEmail: ListEventsOfEmail,
) {
  if (!isId(id)) throw new AppError("EMAIL_NOT_FOUND");
  const row =
    (await findEmail(database, projectId, id)) ??
    (await listWaiting(database, projectId, { by: "id", ids: [id] })).map(asMail)[0];
  if (row === undefined) throw new AppError("EMAIL_NOT_FOUND");
  const copies = (row.copies ?? { cc: [], bcc: [] }) as Copies;
  const attempts = await listAttempts(database, projectId, id);
  const events = await listEventsOfEmail(database, projectId, id);
  const resolutions = await listResolutions(database, projectId, id);
  // Hide the content, which is kept only because newer emails still use it.
  const { replyTo, html, attachments, raw, locale } =
    row.forgottenAt === null ? row : { replyTo: null, html: "", attachments: [], raw: null, locale: null };
  const shown = raw === null ? { html, attachments } : await readRawMessage(projectId, raw);
  return {
    ...present(row),
    messageId: row.messageId ?? messageIdOf(id, row.fromAddress),
    cc: copies.cc.map((mailbox) => mailbox.address),
    bcc: copies.bcc.map((mailbox) => mailbox.address),
    locale,
    replyTo,
    body: shown.html,
    attachments: (shown.attachments as StoredAttachment[]).map(({ filename, contentType, sizeBytes }) => ({
      filename,
      contentType,
      sizeBytes,
    })),
    returnedMessages: await countReturned(database, projectId, id),
    timeline: timelineOf(row, attempts, events, resolutions),
  };
}
