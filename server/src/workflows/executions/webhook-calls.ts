// Queues webhook calls of executions, and resumes the executions when the calls end.
import type { Tx } from "../../platform/database/database.ts";
import type { EndedCall } from "../../webhooks/run-calls.ts";
import { queueWebhookCalls } from "../../webhooks/webhook-calls.ts";
import type { Effect } from "./steps/step.ts";
import { updateResponses } from "./execution-queries.ts";

type WebhookEffect = Extract<Effect, { is: "webhook" }>;

/** Queues the calls of executions that have just reached a WEBHOOK step. */
export async function queueCalls(tx: Tx, effects: readonly WebhookEffect[]): Promise<void> {
  const ids = await queueWebhookCalls(
    tx,
    effects.map(({ execution, run, contact, step: { config }, request }) => ({
      id: earlierCallOf(execution, run),
      projectId: execution.projectId,
      ownerKind: "workflow" as const,
      ownerId: execution.id,
      ownerRef: execution.workflow.id,
      url: request.url,
      method: config.method ?? "POST",
      headers: request.headers,
      body: request.body ?? JSON.stringify(bodyOf(execution, contact)),
    })),
  );
  effects.forEach(({ run }, at) => {
    run.out = { callId: ids[at] };
  });
}

/** Returns the id of the call that a retry makes again, so that its endpoint recognizes it. */
function earlierCallOf({ trace }: WebhookEffect["execution"], run: WebhookEffect["run"]): string | undefined {
  const before = trace.at(-2);
  const isRetry = before?.is === "FAILED" && before.n === run.n;
  const id = run.out?.["callId"] ?? (isRetry ? before.out?.["callId"] : undefined);
  return typeof id === "string" ? id : undefined;
}

/** Returns the default body, for a step without one (decisions §9). */
function bodyOf(execution: WebhookEffect["execution"], contact: WebhookEffect["contact"]) {
  const { contactId, workflow, id, startedAt, context, results } = execution;
  const { email, subscribed, data } = contact;
  return {
    contact: { id: contactId, email, subscribed, data },
    workflow,
    execution: { id, startedAt: startedAt.toISOString() },
    event: context,
    steps: results,
  };
}

/** Stores the responses of ended calls for their executions, which continue immediately. Runs in the transaction that ends the calls. */
export async function takeResponses(tx: Tx, calls: readonly EndedCall[]): Promise<void> {
  const responses = calls.map(({ projectId, ownerId, id, state, status, body, isCut, error }) => ({
    projectId,
    executionId: ownerId,
    callId: id,
    answer: JSON.stringify(
      state === "done"
        ? { is: "done", status, body, ...(isCut ? { isCut } : {}) }
        : { is: "failed", error: error ?? "Failed." },
    ),
  }));
  await updateResponses(tx, responses);
}
