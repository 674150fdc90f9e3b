// Lists emails and reads a single one with its history. Recipients in batches appear as the emails they will become.
import type * as contract from "@postloft/contract/emails.ts";
import { EMAIL_KINDS, type EmailStatus } from "@postloft/contract/emails.ts";
import type { z } from "zod";
import type { Database } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../../platform/http/page.ts";
import { AppError } from "../../platform/app-error.ts";
import { listWaiting, type WaitingRow } from "../outbox/batch-queries.ts";
import { listResolutions } from "./resolve-queries.ts";
import { timelineOf, type ListEventsOfEmail } from "./email-timeline.ts";
import type { Copies, StoredAttachment } from "../outbox/emails.ts";
import { countEmails, findEmail, listAttempts, listEmailRows, type EmailFilter } from "../outbox/queries.ts";
import { countReturned } from "../returned/returned-message-queries.ts";
import { kindOf, messageIdOf } from "../rows/rules.ts";

export type EmailView = z.output<typeof contract.email>;

/** Later than any retry. Emails due after this are deferred for their destination until an unknown time. */
const DEFERRED_FROM = new Date("9999-01-01T00:00:00Z");

type ListedEmail = Awaited<ReturnType<typeof listEmailRows>>[number] | ReturnType<typeof asMail>;

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
    createdAt: row.createdAt.toISOString(),
    sentAt: row.sentAt?.toISOString() ?? null,
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
  sentAt: null,
  forgottenAt: null,
  copies: null,
  transport: null,
  answer: null,
  providerMessageId: null,
});

/** Lists matching emails of a contact that wait in batches. */
async function listWaitingMails(database: Database, projectId: string, filter: EmailFilter) {
  const { contactId, status = "QUEUED", campaignId, since } = filter;
  if (contactId === undefined || status !== "QUEUED") return [];
  const waiting = await listWaiting(database, projectId, { by: "contactId", ids: [contactId] });
  return waiting
    .filter((row) => campaignId === undefined || row.campaignId === campaignId)
    .filter((row) => since === undefined || row.createdAt >= since)
    .map(asMail);
}

/** Lists emails, newest first. Includes batched emails only when filtering by contact. `total` is counted on the first page only. */
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
  const { replyTo, html, attachments } =
    row.forgottenAt === null ? row : { replyTo: null, html: "", attachments: [] };
  return {
    ...present(row),
    messageId: messageIdOf(id, row.fromAddress),
    cc: copies.cc.map((mailbox) => mailbox.address),
    bcc: copies.bcc.map((mailbox) => mailbox.address),
    replyTo,
    body: html,
    attachments: (attachments as StoredAttachment[]).map(({ filename, contentType, sizeBytes }) => ({
      filename,
      contentType,
      sizeBytes,
    })),
    returnedMessages: await countReturned(database, projectId, id),
    timeline: timelineOf(row, attempts, events, resolutions),
  };
}
