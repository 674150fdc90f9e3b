// Enqueues platform email to users and admins in the transaction that causes it. It belongs to a separate project.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Page, PageRequest } from "../../platform/http/page.ts";
import { purgeOldMessages, listTexts, type MessageText } from "../../transports/kept-messages.ts";
import type { PlatformEmailContent } from "./prepare-platform-email.ts";
import {
  deleteOldPlatformEmails,
  findPlatformEmailState,
  insertPlatformEmails,
} from "./platform-email-queries.ts";
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

export interface NewPlatformEmail extends PlatformEmailContent {
  /** In canonical form. */
  to: string;
}

const PRIORITY = EMAIL_KINDS.indexOf("TRANSACTIONAL") + 1;

/**
 * Enqueues platform email, which is sent after the caller's commit. Returns the ids in order. The text stays in the row until the email
 * ends, and the subject stays after that.
 */
export async function enqueuePlatformEmails(tx: Tx, mails: readonly NewPlatformEmail[]): Promise<string[]> {
  const rows = mails.map(({ to, subject, text, html }) => {
    const content: PlatformEmailContent = { subject, text, html };
    return { id: newId(), priority: PRIORITY, to, subject, variables: JSON.stringify(content) };
  });
  if (rows.length > 0) await insertPlatformEmails(tx, rows);
  return rows.map(({ id }) => id);
}

/**
 * Lists the platform email in the local mailbox, newest first. Email sent by another transport is not shown, because its text is not kept.
 */
export async function listPlatformEmails(
  database: Database,
  request: PageRequest,
  search?: string,
): Promise<Page<MessageText> & { total: number }> {
  return listTexts(database, SYSTEM_PROJECT_ID, { search }, request);
}

export interface PlatformEmailState {
  /** `QUEUED` with an `answer` means that the email was deferred and will be retried. */
  status: string;
  /** The latest reply of the mail server, if any. */
  answer: string | null;
  transport: string | null;
}

/** Returns the state of a platform email, or undefined if the id is unknown. */
export async function readPlatformEmailState(
  database: Database,
  id: string,
): Promise<PlatformEmailState | undefined> {
  return findPlatformEmailState(database, id);
}

const KEPT_DAYS = 30;

/** Deletes platform email that ended over 30 days ago, together with its copy in the local mailbox. */
export async function sweepPlatformEmails(database: Database): Promise<void> {
  await deleteOldPlatformEmails(database, KEPT_DAYS);
  await purgeOldMessages(database, SYSTEM_PROJECT_ID, KEPT_DAYS);
}
