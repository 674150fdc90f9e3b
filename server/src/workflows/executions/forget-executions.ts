// What executions and their calls hold of contacts that are deleted goes with them.
import type { Tx } from "../../platform/database/database.ts";
import { forgetCallsOfExecutions } from "../../webhooks/webhook-calls.ts";
import { emptyExecutionRowsOf, listExecutionIdsOf, lockExecutionRowsOf } from "./contact-queries.ts";

/**
 * Locks the executions of contacts, as the engine does before it touches the contacts. Their calls go before that: a call that ends is
 * locked before its execution.
 */
export async function lockExecutionsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await forgetCallsOfExecutions(tx, projectId, await listExecutionIdsOf(tx, projectId, contactIds));
  await lockExecutionRowsOf(tx, projectId, contactIds);
}

/**
 * Empties the executions of contacts that are locked: none can begin any more. With the calls that came while their executions were being
 * locked.
 */
export async function forgetExecutionsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await forgetCallsOfExecutions(tx, projectId, await emptyExecutionRowsOf(tx, projectId, contactIds));
}
