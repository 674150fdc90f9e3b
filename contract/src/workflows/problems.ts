// Defines the problems of a workflow that can be found before contacts enter it, and which of them its author may confirm.
import { z } from "zod";

/**
 * Problems of a workflow. Those with severity `error` must be fixed before it can be enabled, and no edit can bring one into an enabled
 * workflow.
 */
export const PROBLEM_CODES = {
  NO_TRIGGER_EVENT: "the trigger has no event, segment, schedule or date, so nothing starts the workflow",
  EVENT_NEVER_HAPPENS: "the name is reserved for the service, which never emits it",
  NO_AUDIENCE: "the schedule has no audience",
  MISSING_SEGMENT: "the segment does not exist",
  UNTRACKED_SEGMENT: "the trigger waits for entries or exits of a segment without tracking",
  NO_DATES: "no contact has a date in the field of the trigger",
  ONE_YEAR_ONLY: "the trigger repeats each year, but re-entry is not allowed",
  EXIT_ON_TRIGGER: "the event that starts the workflow is also one of its exit conditions",
  GOAL_ON_TRIGGER: "the event that starts the workflow is also its goal",
  GOAL_BY_STEP: "a step of the workflow causes the event of its goal",
  NO_STEPS: "there are no steps after the trigger",
  UNREACHABLE_STEP: "the step cannot be reached",
  NO_TEMPLATE: "the step has no template",
  MISSING_TEMPLATE: "the template of the step does not exist",
  NO_SENDER: "neither the template nor the project has a sender",
  UNKNOWN_VARIABLE: "the template or the step has a variable for which no contact has a value",
  LIST_MAIL_TO_CUSTOM: "bulk email to a custom address, which is not a contact",
  DEAD_BRANCH: "the branch can never be taken",
  MISSING_HEADER: "a header of a webhook has no value, because exports leave out credentials",
  MISSING_URL_VALUE:
    "a credential in the URL of a webhook has no value, because exports leave out credentials",
  CREDENTIAL_IN_BODY: "the body of a webhook contains a credential, which is not encrypted there",
  ENDLESS_WAIT: "a wait that may never end and has no next step",
  TRIGGERS_ITSELF: "a step causes the event that starts the workflow, directly or through other workflows",
  FREQUENT_SCHEDULE: "the schedule runs more often than daily for everyone",
  EXECUTIONS_FAILED: "executions failed at the step and wait for a retry or a skip",
  EMAILS_SKIPPED: "a limit for public keys skipped emails of the workflow in the last 24 hours",
} as const;
export type ProblemCode = keyof typeof PROBLEM_CODES;

/** Problems that may be intended. Once the author confirms one on the workflow, it is only a warning. */
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
