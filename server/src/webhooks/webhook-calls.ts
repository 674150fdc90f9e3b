// Calls to endpoints of users, as rows: queued in the transaction of what caused them, cancelled, swept.
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

/** On whose behalf endpoints are called. */
export type CallOwner = "workflow" | "member";

export interface NewWebhookCall {
  projectId: string;
  ownerKind: CallOwner;
  /** What it belongs to: an execution, a member. */
  ownerId: string;
  /** Comes back as it is when the call has ended. */
  ownerRef: string;
  /** Checked by `checkWebhookUrl`; what does not pass is refused again at each try. */
  url: string;
  method: WebhookMethod;
  /** Checked by `checkWebhookHeaders`. Without a `content-type` a body is JSON. */
  headers: Readonly<Record<string, string>>;
  /** Sent as it is; not with GET. */
  body: string | null;
}

/**
 * Queues calls: with the commit they are due.
 * @returns the id of each, in order; it is also the `webhook-id` the endpoint sees in every try
 */
export async function queueWebhookCalls(tx: Tx, calls: readonly NewWebhookCall[]): Promise<string[]> {
  if (calls.length === 0) return [];
  const rows = calls.map((call) => ({
    ...call,
    id: newId(),
    headers: JSON.stringify(call.headers),
    body: call.method === "GET" ? null : call.body,
  }));
  await insertCalls(tx, rows);
  return rows.map(({ id }) => id);
}

/**
 * Forgets calls that have not ended: they are not tried again, and nobody hears of their end. A try that is under way goes on.
 * @returns the ids of those it forgot; the others had ended
 */
export async function cancelWebhookCalls(tx: Tx, keys: readonly CallKey[]): Promise<string[]> {
  return keys.length === 0 ? [] : deleteWaitingCalls(tx, keys);
}

/** Forgets all that was sent and answered for executions: what has not ended is not tried again. A try that is under way goes on. */
export async function forgetCallsOfExecutions(
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
