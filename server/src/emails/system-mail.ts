// Mail of the installation itself, to people who run or use it: queued with what causes it, sent by system-sender.ts, kept for a while.
// Before it: a verb of another folder, in its own transaction. After it: system-sender.ts; GET /mailbox/system may show what the local mailbox kept.
import type { Database, Tx } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/page.ts";
import {
  countKeptSystemMails,
  deleteOldSystemMails,
  findSystemMailState,
  insertSystemMails,
  listKeptSystemMails,
} from "./system-mail-queries.ts";

export interface NewSystemMail {
  /** In canonical form. */
  to: string;
  /** No template: nothing is filled in. */
  subject: string;
  text: string;
  html: string;
}

/** Queues mail of the installation; it leaves after the caller's commit. Answers the ids, in order. */
export async function enqueueSystemMails(tx: Tx, mails: readonly NewSystemMail[]): Promise<string[]> {
  const rows = mails.map((mail) => ({ id: newId(), ...mail }));
  if (rows.length > 0) await insertSystemMails(tx, rows);
  return rows.map(({ id }) => id);
}

export interface SystemMailView {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  sentAt: string;
}

/** What the local mailbox kept, newest first; what left the machine is not shown, and its text is not there any more. */
export async function listSystemMails(
  database: Database,
  request: PageRequest,
  search?: string,
): Promise<Page<SystemMailView> & { total: number }> {
  const rows = await listKeptSystemMails(database, search, request);
  const page = toPage("system mails", request, rows, (row) => ({
    id: row.id,
    to: row.to_address,
    subject: row.subject,
    text: row.text ?? "",
    html: row.html ?? "",
    sentAt: (row.ended_at ?? row.created_at).toISOString(),
  }));
  return { ...page, total: request.before === null ? await countKeptSystemMails(database, search) : 0 };
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

/** Deletes mail of the installation that came to its end long ago. */
export async function sweepSystemMails(database: Database): Promise<void> {
  await deleteOldSystemMails(database, KEPT_DAYS);
}
