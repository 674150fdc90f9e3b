// WEBHOOK: calls a URL and continues with the response. The step's transaction queues the call, which is made separately.
import type { TakeStep } from "./step.ts";

export const takeWebhook: TakeStep<"WEBHOOK"> = ({ step, execution, contact, run, isFresh }) => {
  if (isFresh) return { goes: "wait", dueAt: null, effect: { is: "webhook", execution, run, contact, step } };
  const { answer } = execution;
  if (answer === null) return { goes: "wait", dueAt: null };
  if (answer.is === "failed") return { goes: "fail", error: answer.error };
  const { status, body } = answer;
  return { goes: "on", out: { status }, result: { status, body } };
};
