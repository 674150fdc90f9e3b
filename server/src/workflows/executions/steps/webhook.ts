// WEBHOOK: calls a URL and continues with the response. The step's transaction queues the call, which is made separately.
import { fillWebhook } from "../fill-webhook.ts";
import type { TakeStep } from "./step.ts";

export const takeWebhook: TakeStep<"WEBHOOK"> = ({
  step,
  execution,
  contact,
  run,
  isFresh,
  facts,
  filler,
}) => {
  if (isFresh) {
    const { projectId } = execution;
    const request = fillWebhook(step.config, filler, { projectId, vault: facts.vault });
    return { goes: "wait", dueAt: null, effect: { is: "webhook", execution, run, contact, step, request } };
  }
  const { answer } = execution;
  if (answer === null) return { goes: "wait", dueAt: null };
  if (answer.is === "failed") return { goes: "fail", error: answer.error };
  const { status, body } = answer;
  return { goes: "on", out: { status }, result: { status, body } };
};
