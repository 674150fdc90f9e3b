// Queues, cancels and sweeps calls to users' endpoints. Calls are rows, added in the transaction that causes them.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import type { WebhookMethod } from "./check-webhook.ts";
import {
  deleteCallsOfExecutions,
  deleteEndedCalls,
  deleteWaitingCalls,
  insertCalls,
  type CallKey,
} from "./queries.ts";

export type CallOwner = "workflow" | "member";

export interface NewWebhookCall {
  /** The id of a call that has ended, to make it again. A new id by default. */
  id?: string | undefined;
  projectId: string;
  ownerKind: CallOwner;
  /** Id of the execution or member. */
  ownerId: string;
  /** Returned unchanged when the call has ended. */
  ownerRef: string;
  /** Validated by `checkWebhookUrl`, which each attempt repeats. */
  url: string;
  method: WebhookMethod;
  /** Validated by `checkWebhookHeaders`. The default `content-type` of a body is JSON. */
  headers: Readonly<Record<string, string>>;
  /** Sent unchanged, except with GET. */
  body: string | null;
}

/**
 * Queues calls that are due from the commit on. Notify the loop of `startWebhookCalls` afterwards.
 * @returns the ids in order, which are also the `webhook-id` of every attempt
 */
export async function queueWebhookCalls(tx: Tx, calls: readonly NewWebhookCall[]): Promise<string[]> {
  if (calls.length === 0) return [];
  const rows = calls.map((call) => ({
    ...call,
    id: call.id ?? newId(),
    headers: JSON.stringify(call.headers),
    body: call.method === "GET" ? null : call.body,
  }));
  await insertCalls(tx, rows);
  return rows.map(({ id }) => id);
}

/**
 * Deletes calls that have not ended, without a retry or a notification. A running attempt continues.
 * @returns the ids of the deleted calls, the others had ended
 */
export async function cancelWebhookCalls(tx: Tx, keys: readonly CallKey[]): Promise<string[]> {
  return keys.length === 0 ? [] : deleteWaitingCalls(tx, keys);
}

/** Deletes all requests and responses of executions, without a retry. A running attempt continues. */
export async function purgeCallsOfExecutions(
  tx: Tx,
  projectId: string,
  executionIds: readonly string[],
): Promise<void> {
  if (executionIds.length > 0) await deleteCallsOfExecutions(tx, projectId, executionIds);
}

/** Deletes calls that ended a week ago. */
export async function sweepWebhookCalls(database: Database): Promise<void> {
  await deleteEndedCalls(database, LIMITS.webhookDays.value);
}
