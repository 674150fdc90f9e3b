// Mail of the installation itself, to people who run or use it: put into the outbox with what causes it, under a project of its own.
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { newId } from "../../platform/ids.ts";
import type { Page, PageRequest } from "../../platform/page.ts";
import { forgetOldMessages, listTexts, type MessageText } from "../../transports/kept-messages.ts";
import type { SystemMailContent } from "./prepare-system-mail.ts";
import { deleteOldSystemMails, findSystemMailState, insertSystemMails } from "./system-mail-queries.ts";
import { SYSTEM_PROJECT_ID } from "./system-project.ts";

export interface NewSystemMail extends SystemMailContent {
  /** In canonical form. */
  to: string;
}

const PRIORITY = EMAIL_KINDS.indexOf("TRANSACTIONAL") + 1;

/**
 * Queues mail of the installation; it leaves after the caller's commit. Returns the ids, in order. What it says stands in its row until
 * it has come to its end; the subject stays with the row.
 */
export async function enqueueSystemMails(tx: Tx, mails: readonly NewSystemMail[]): Promise<string[]> {
  const rows = mails.map(({ to, subject, text, html }) => {
    const content: SystemMailContent = { subject, text, html };
    return { id: newId(), priority: PRIORITY, to, subject, variables: JSON.stringify(content) };
  });
  if (rows.length > 0) await insertSystemMails(tx, rows);
  return rows.map(({ id }) => id);
}

/** What the local mailbox kept, newest first; what left the machine is not shown, and nobody has its text any more. */
export async function listSystemMails(
  database: Database,
  request: PageRequest,
  search?: string,
): Promise<Page<MessageText> & { total: number }> {
  return listTexts(database, SYSTEM_PROJECT_ID, { search }, request);
}

/** How far a mail of the installation has come. */
export interface SystemMailState {
  /** `QUEUED` with an answer: refused for now, tried again. */
  status: string;
  /** What the mail server said last, if anything. */
  answer: string | null;
  transport: string | null;
}

/** How far a mail of the installation has come; undefined when there is none of that id. */
export async function readSystemMailState(
  database: Database,
  id: string,
): Promise<SystemMailState | undefined> {
  return findSystemMailState(database, id);
}

const KEPT_DAYS = 30;

/** Deletes mail of the installation that came to its end long ago, with what the local mailbox kept of it. */
export async function sweepSystemMails(database: Database): Promise<void> {
  await deleteOldSystemMails(database, KEPT_DAYS);
  await forgetOldMessages(database, SYSTEM_PROJECT_ID, KEPT_DAYS);
}
