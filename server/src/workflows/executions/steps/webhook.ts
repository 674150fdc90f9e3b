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
  const { answer, projectId } = execution;
  if (isFresh || answer?.is === "again") {
    const request = fillWebhook(step.config, filler, { projectId, vault: facts.vault });
    return { goes: "wait", dueAt: null, effect: { is: "webhook", execution, run, contact, step, request } };
  }
  if (answer === null) return { goes: "wait", dueAt: null };
  if (answer.is === "failed") return { goes: "fail", error: answer.error };
  const { status, body, isCut } = answer;
  const cut = isCut === true ? { truncated: true } : {};
  return { goes: "on", out: { status, ...cut }, result: { status, body, ...cut } };
};
