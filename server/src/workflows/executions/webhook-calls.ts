// Calls of webhooks that executions ask for: what is sent, and what becomes of the execution when the call has ended.
import type { Tx } from "../../platform/database/database.ts";
import type { EndedCall } from "../../webhooks/run-calls.ts";
import { queueWebhookCalls } from "../../webhooks/webhook-calls.ts";
import type { Effect } from "./steps/step.ts";
import { updateAnswers } from "./execution-queries.ts";

type WebhookEffect = Extract<Effect, { is: "webhook" }>;

/** Queues the calls of executions that have just come to a WEBHOOK step. */
export async function queueCalls(tx: Tx, effects: readonly WebhookEffect[]): Promise<void> {
  const ids = await queueWebhookCalls(
    tx,
    effects.map(({ execution, contact, step: { config } }) => ({
      projectId: execution.projectId,
      ownerKind: "workflow" as const,
      ownerId: execution.id,
      ownerRef: execution.workflow.id,
      url: config.url,
      method: config.method ?? "POST",
      headers: config.headers ?? {},
      body: JSON.stringify(config.body ?? bodyOf(execution, contact)),
    })),
  );
  effects.forEach(({ run }, at) => {
    run.out = { callId: ids[at] };
  });
}

/** What is sent where the step names no body of its own (decisions §9). */
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

/** Gives executions the answers of calls that have ended; they go on at once. In the transaction in which the calls end. */
export async function takeAnswers(tx: Tx, calls: readonly EndedCall[]): Promise<void> {
  const answers = calls.map(({ projectId, ownerId, id, state, status, body, error }) => ({
    projectId,
    executionId: ownerId,
    callId: id,
    answer: JSON.stringify(
      state === "done" ? { is: "done", status, body } : { is: "failed", error: error ?? "Failed." },
    ),
  }));
  await updateAnswers(tx, answers);
}
