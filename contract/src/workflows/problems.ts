// Defines what can be wrong with a workflow before anyone enters it, and what its author may confirm.
import { z } from "zod";

/** What can be wrong with a workflow. Those of the severity `error` must be mended before it can be enabled. */
export const PROBLEM_CODES = {
  NO_TRIGGER_EVENT: "nothing starts it: the name of the event is missing",
  EVENT_NEVER_HAPPENS: "a name that is reserved for the service, which never emits it",
  MISSING_SEGMENT: "a segment that is not there",
  UNTRACKED_SEGMENT: "the trigger waits for entries or exits of a segment that is not tracked",
  NO_STEPS: "there is nothing after the trigger",
  UNREACHABLE_STEP: "no way leads to the step",
  NO_TEMPLATE: "the step has no template",
  MISSING_TEMPLATE: "the template of the step is not there",
  NO_SENDER: "neither the template nor the project names a sender",
  UNKNOWN_VARIABLE: "the template has a variable for which no contact has a value",
  LIST_MAIL_TO_CUSTOM: "mail to a list, sent to an address that is no contact's",
  DEAD_BRANCH: "nobody can take the branch",
  MISSING_HEADER: "a header of a webhook has no value, because documents leave credentials out",
  MISSING_URL_VALUE:
    "a credential in the URL of a webhook has no value, because documents leave credentials out",
  CREDENTIAL_IN_BODY: "the body of a webhook contains a credential, which is not encrypted there",
  ENDLESS_WAIT: "a wait that may never end, and leads nowhere",
  TRIGGERS_ITSELF: "a step causes the event that starts the workflow, directly or through other workflows",
  FREQUENT_SCHEDULE: "it runs more often than daily for everyone",
  EMAILS_SKIPPED: "a limit on what public keys may cause skipped emails of the workflow in the last 24 hours",
} as const;
export type ProblemCode = keyof typeof PROBLEM_CODES;

/** Problems that may be meant: once the author confirms one on the workflow, it is a warning. */
export const CONFIRMABLE_PROBLEMS = [
  "TRIGGERS_ITSELF",
  "FREQUENT_SCHEDULE",
] as const satisfies readonly ProblemCode[];
export type ConfirmableProblem = (typeof CONFIRMABLE_PROBLEMS)[number];

export const workflowProblem = z.object({
  code: z.enum(Object.keys(PROBLEM_CODES) as [ProblemCode, ...ProblemCode[]]),
  severity: z.enum(["error", "warning"]).describe("A workflow with an `error` cannot be enabled."),
  stepId: z.uuid().nullable(),
  message: z.string(),
});
export type WorkflowProblem = z.output<typeof workflowProblem>;
