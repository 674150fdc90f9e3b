// Names that the API gives to steps without a name of their own.
import type { StepType } from "./graph.ts";

/** Default names of steps. */
export const STEP_NAMES: Readonly<Record<StepType, string>> = {
  TRIGGER: "Trigger",
  SEND_EMAIL: "Send email",
  DELAY: "Delay",
  WAIT_FOR_EVENT: "Wait for event",
  CONDITION: "Condition",
  BRANCH: "Branch",
  RANDOM_SPLIT: "Random split",
  UPDATE_CONTACT: "Update contact",
  WEBHOOK: "Webhook",
  EXIT: "Exit",
};
