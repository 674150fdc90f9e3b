// Keeps returned messages that only a person can interpret, for a month.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { deleteOldReturned, findEmailId, insertReturned, listReturned } from "./returned-message-queries.ts";

export interface MessageToKeep {
  projectId: string;
  emailId: string;
  from: string | null;
  subject: string | null;
  text: string | null;
}

/** Keeps the first few messages per email, in the transaction that interprets them. */
export async function keepReturnedMessages(tx: Tx, messages: readonly MessageToKeep[]): Promise<void> {
  for (const [projectId, own] of Map.groupBy(messages, (message) => message.projectId))
    await insertReturned(
      tx,
      projectId,
      own.map((message) => ({ ...message, id: newId() })),
      LIMITS.returnedMessages.value,
    );
}

/**
 * Lists the returned messages of an email, oldest first.
 * @throws AppError EMAIL_NOT_FOUND
 */
export async function listReturnedMessages(database: Database, projectId: string, emailId: string) {
  if (!isId(emailId) || (await findEmailId(database, projectId, emailId)) === undefined)
    throw new AppError("EMAIL_NOT_FOUND");
  const rows = await listReturned(database, projectId, emailId);
  return rows.map((row) => ({
    receivedAt: row.receivedAt.toISOString(),
    from: row.fromAddress,
    subject: row.subject,
    text: row.said,
  }));
}

/** Deletes messages that are older than a month. */
export async function sweepReturnedMessages(database: Database): Promise<void> {
  await deleteOldReturned(database, LIMITS.returnedMessageDays.value);
}
