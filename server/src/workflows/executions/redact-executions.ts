// Deletes the data of deleted contacts from executions and their webhook calls.
import type { Tx } from "../../platform/database/database.ts";
import { purgeCallsOfExecutions } from "../../webhooks/webhook-calls.ts";
import { emptyExecutionRowsOf, listExecutionIdsOf, lockExecutionRowsOf } from "./contact-queries.ts";

/**
 * Locks the executions of contacts before the contacts, as the engine does. Deletes their calls first, because a finished call is locked
 * before its execution.
 */
export async function lockExecutionsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await purgeCallsOfExecutions(tx, projectId, await listExecutionIdsOf(tx, projectId, contactIds));
  await lockExecutionRowsOf(tx, projectId, contactIds);
}

/**
 * Empties the executions of locked contacts, which can no longer start new ones. Also deletes calls that were added while the executions
 * were being locked.
 */
export async function redactExecutionsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await purgeCallsOfExecutions(tx, projectId, await emptyExecutionRowsOf(tx, projectId, contactIds));
}
