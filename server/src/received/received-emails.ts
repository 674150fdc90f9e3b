// Lists, reads and deletes received emails. Texts and attachments are read from the stored message.
import type * as contract from "@postloft/contract/received-emails.ts";
import type { z } from "zod";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import { createTaskThread, TaskOverLimit } from "../platform/threads/task-thread.ts";
import { readMessageIds } from "./keep-received.ts";
import type { ParseResult, ParseTask, ReceivedFile } from "./parse-received.ts";
import {
  countReceived,
  deleteReceivedRow,
  findReceived,
  listReceivedRows,
  type ReceivedFilter,
  type ReceivedRow,
  type WholeRow,
} from "./queries.ts";

export type ReceivedEmail = z.output<typeof contract.receivedEmail>;
type FullReceivedEmail = z.output<typeof contract.fullReceivedEmail>;

/** The largest message with ordinary lines takes 2 s of CPU time. */
const DEADLINE_MS = 10_000;
const POSITION = /^\d{1,3}$/;

/** One thread per process, stopped while unused. */
const thread = createTaskThread<ParseTask, ParseResult>({
  module: new URL("./parse-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  waitingPerOwner: 10,
  waiting: 100,
});

function present(row: ReceivedRow): ReceivedEmail {
  const { id, contactId, threadId, emailId, recipient, subject, messageId, sizeBytes, authentication } = row;
  return {
    id,
    contactId,
    threadId,
    emailId,
    from: { address: row.fromAddress, name: row.fromName },
    recipient,
    subject,
    messageId,
    sizeBytes,
    authentication,
    receivedAt: row.receivedAt.toISOString(),
  };
}

/** Returns emails, newest first. `total` is set on the first page only. */
export async function listReceived(
  database: Database,
  projectId: string,
  filter: ReceivedFilter,
  request: PageRequest,
): Promise<Page<ReceivedEmail> & { total: number }> {
  const rows = await listReceivedRows(database, projectId, filter, request);
  const total = request.before === null ? await countReceived(database, projectId, filter) : 0;
  return { ...toPage("received", request, rows, present), total };
}

const EXPORTED_A_PAGE = 100;

/** Yields the emails of a contact with their messages in base64, newest first, one message at a time. */
export async function* receivedOfContact(database: Database, projectId: string, contactId: string) {
  for (let before: string | null = null; ;) {
    const page: PageRequest = { limit: EXPORTED_A_PAGE, before };
    const rows = await listReceivedRows(database, projectId, { contactId }, page);
    for (const { id } of rows.slice(0, EXPORTED_A_PAGE)) {
      const row = await findReceived(database, projectId, id);
      // It may have been deleted meanwhile.
      if (row !== undefined) yield { ...present(row), raw: row.raw.toString("base64") };
    }
    const last = rows[EXPORTED_A_PAGE - 1];
    if (last === undefined || rows.length <= EXPORTED_A_PAGE) return;
    before = last.id;
  }
}

/**
 * Returns the stored email with its message.
 * @throws AppError EMAIL_NOT_FOUND
 */
export async function getReceivedRow(database: Database, projectId: string, id: string): Promise<WholeRow> {
  const row = isId(id) ? await findReceived(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("EMAIL_NOT_FOUND");
  return row;
}

/**
 * Returns a parsed email.
 * @throws AppError EMAIL_NOT_FOUND, CONFLICT if its message can't be parsed
 */
export async function getReceived(
  database: Database,
  projectId: string,
  id: string,
): Promise<FullReceivedEmail> {
  const { row, result } = await parse(database, { projectId, id, attachment: null });
  if (!("parts" in result)) throw notReadable();
  const { inReplyTo, references, ...parts } = result.parts;
  return {
    ...present(row),
    ...parts,
    inReplyTo: readMessageIds(inReplyTo)[0] ?? null,
    references: readMessageIds(references),
  };
}

/**
 * Returns an attachment by its place in the parsed email.
 * @throws AppError EMAIL_NOT_FOUND, RESOURCE_NOT_FOUND if there is no attachment at that place, CONFLICT if the message can't be parsed
 */
export async function getReceivedAttachment(
  database: Database,
  projectId: string,
  { id, index }: { id: string; index: string },
): Promise<ReceivedFile> {
  if (!POSITION.test(index)) throw new AppError("RESOURCE_NOT_FOUND");
  const { result } = await parse(database, { projectId, id, attachment: Number(index) });
  if (!("file" in result)) throw notReadable();
  if (result.file === null) throw new AppError("RESOURCE_NOT_FOUND");
  return result.file;
}

/** @throws AppError EMAIL_NOT_FOUND */
export async function deleteReceived(tx: Tx, projectId: string, id: string): Promise<void> {
  const isDeleted = isId(id) && (await deleteReceivedRow(tx, projectId, id));
  if (!isDeleted) throw new AppError("EMAIL_NOT_FOUND");
}

interface ToParse {
  projectId: string;
  id: string;
  attachment: ParseTask["attachment"];
}

/**
 * Loads a message in its turn, so that waiting calls hold none, and parses it.
 * @throws AppError EMAIL_NOT_FOUND, RATE_LIMIT_EXCEEDED when too many messages are waiting
 */
async function parse(
  database: Database,
  { projectId, id, attachment }: ToParse,
): Promise<{ row: WholeRow; result: ParseResult }> {
  const loaded: WholeRow[] = [];
  const load = async () => {
    const row = await getReceivedRow(database, projectId, id);
    loaded.push(row);
    return { raw: row.raw, attachment };
  };
  const result = await thread.run(projectId, load).catch((error: unknown): ParseResult => {
    if (error instanceof TaskOverLimit) return { fault: error.message };
    throw error;
  });
  const [row] = loaded;
  if (row === undefined) throw new AppError("EMAIL_NOT_FOUND");
  return { row, result };
}

const notReadable = () =>
  new AppError("CONFLICT", {
    message: "This message can't be parsed. Read its source with GET /received-emails/:id/raw.",
  });
