// What came back about mails in words for people alone: kept for a month, so that somebody can read what no program could.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Database, Tx } from "../../platform/database.ts";
import { isId, newId } from "../../platform/ids.ts";
import { Refusal } from "../../platform/refusal.ts";
import { deleteOldReturned, findEmailId, insertReturned, listReturned } from "./returned-message-queries.ts";

export interface MessageToKeep {
  projectId: string;
  emailId: string;
  from: string | null;
  subject: string | null;
  text: string | null;
}

/** Keeps the first few of a mail, in the transaction in which they are interpreted. */
export async function keepReturnedMessages(tx: Tx, messages: readonly MessageToKeep[]): Promise<void> {
  for (const [projectId, own] of Map.groupBy(messages, (message) => message.projectId))
    await insertReturned(
      tx,
      projectId,
      own.map((message) => ({ ...message, id: newId() })),
      LIMITS.returnedMessages.value,
    );
}

/** The messages that came back about a mail, oldest first. @throws Refusal EMAIL_NOT_FOUND. */
export async function listReturnedMessages(database: Database, projectId: string, emailId: string) {
  if (!isId(emailId) || (await findEmailId(database, projectId, emailId)) === undefined)
    throw new Refusal("EMAIL_NOT_FOUND");
  const rows = await listReturned(database, projectId, emailId);
  return rows.map((row) => ({
    receivedAt: row.receivedAt.toISOString(),
    from: row.fromAddress,
    subject: row.subject,
    text: row.said,
  }));
}

/** Forgets what is older than a month. */
export async function sweepReturnedMessages(database: Database): Promise<void> {
  await deleteOldReturned(database, LIMITS.returnedMessageDays.value);
}
