// All step types by name.
import type { StepType } from "@postloft/contract/workflows/graph.ts";
import { FillError } from "../../../rendering/fill-text.ts";
import { takeBranch } from "./branch.ts";
import { takeCondition } from "./condition.ts";
import { takeDelay } from "./delay.ts";
import { takeRandomSplit } from "./random-split.ts";
import { takeSendEmail } from "./send-email.ts";
import { takeExit } from "./exit.ts";
import type { Situation, StepResult, TakeStep } from "./step.ts";
import { takeUpdateContact } from "./update-contact.ts";
import { takeWaitForEvent } from "./wait-for-event.ts";
import { takeWebhook } from "./webhook.ts";

const STEPS: { [Type in StepType]: TakeStep<Type> } = {
  TRIGGER: () => ({ goes: "on" }),
  SEND_EMAIL: takeSendEmail,
  DELAY: takeDelay,
  WAIT_FOR_EVENT: takeWaitForEvent,
  CONDITION: takeCondition,
  BRANCH: takeBranch,
  RANDOM_SPLIT: takeRandomSplit,
  UPDATE_CONTACT: takeUpdateContact,
  WEBHOOK: takeWebhook,
  EXIT: takeExit,
};

/** Takes a step. It fails if a variable cannot be filled in. */
export function takeStep<Type extends StepType>(situation: Situation<Type>): StepResult {
  try {
    return (STEPS[situation.step.type] as TakeStep<Type>)(situation);
  } catch (error) {
    if (error instanceof FillError) return { goes: "fail", error: error.message };
    throw error;
  }
}
