// Enqueues platform email to users and admins in the transaction that causes it. It belongs to a separate project.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Page, PageRequest } from "../../platform/http/page.ts";
import { forgetOldMessages, listTexts, type MessageText } from "../../transports/kept-messages.ts";
import type { SystemMailContent } from "./prepare-system-mail.ts";
import { deleteOldSystemMails, findSystemMailState, insertSystemMails } from "./system-mail-queries.ts";
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

export interface NewSystemMail extends SystemMailContent {
  /** In canonical form. */
  to: string;
}

const PRIORITY = EMAIL_KINDS.indexOf("TRANSACTIONAL") + 1;

/**
 * Enqueues platform email, which is sent after the caller's commit. Returns the ids in order. The text stays in the row until the email
 * ends, and the subject stays after that.
 */
export async function enqueueSystemMails(tx: Tx, mails: readonly NewSystemMail[]): Promise<string[]> {
  const rows = mails.map(({ to, subject, text, html }) => {
    const content: SystemMailContent = { subject, text, html };
    return { id: newId(), priority: PRIORITY, to, subject, variables: JSON.stringify(content) };
  });
  if (rows.length > 0) await insertSystemMails(tx, rows);
  return rows.map(({ id }) => id);
}

/**
 * Lists the platform email in the local mailbox, newest first. Email sent by another transport is not shown, because its text is not kept.
 */
export async function listSystemMails(
  database: Database,
  request: PageRequest,
  search?: string,
): Promise<Page<MessageText> & { total: number }> {
  return listTexts(database, SYSTEM_PROJECT_ID, { search }, request);
}

export interface SystemMailState {
  /** `QUEUED` with an `answer` means that the email was deferred and will be retried. */
  status: string;
  /** The latest reply of the mail server, if any. */
  answer: string | null;
  transport: string | null;
}

/** Returns the state of a platform email, or undefined if the id is unknown. */
export async function readSystemMailState(
  database: Database,
  id: string,
): Promise<SystemMailState | undefined> {
  return findSystemMailState(database, id);
}

const KEPT_DAYS = 30;

/** Deletes platform email that ended over 30 days ago, together with its copy in the local mailbox. */
export async function sweepSystemMails(database: Database): Promise<void> {
  await deleteOldSystemMails(database, KEPT_DAYS);
  await forgetOldMessages(database, SYSTEM_PROJECT_ID, KEPT_DAYS);
}
