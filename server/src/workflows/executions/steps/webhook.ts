// WEBHOOK: calls somebody's address and goes on with the answer. The call is queued in the transaction of the step and made apart.
import type { TakeStep } from "./step.ts";

export const takeWebhook: TakeStep<"WEBHOOK"> = ({ step, execution, contact, run, isFresh }) => {
  if (isFresh) return { goes: "wait", dueAt: null, effect: { is: "webhook", execution, run, contact, step } };
  const { answer } = execution;
  if (answer === null) return { goes: "wait", dueAt: null };
  if (answer.is === "failed") return { goes: "fail", error: answer.error };
  const { status, body } = answer;
  return { goes: "on", out: { status }, result: { status, body } };
};
