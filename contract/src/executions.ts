// Executions of workflows over HTTP: starting, watching and ending them (decisions §9).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { id, instant, issue, pathId, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { BRANCHES, EXECUTION_STATUSES, STEP_TYPES } from "./workflows/graph.ts";

/** One step run: what a step did when the execution came to it. */
export const stepRun = z.object({
  stepId: z.uuid(),
  name: z.string(),
  type: z.enum(STEP_TYPES),
  status: z.enum(["WAITING", "RUNNING", "COMPLETED", "SKIPPED", "FAILED", "CANCELLED"]),
  startedAt: instant,
  completedAt: instant.nullable(),
  waitsUntil: instant.nullable().describe("Of a step that waits by the clock."),
  branch: z.enum(BRANCHES).nullable().describe("Which way it went on."),
  output: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      "What came out: the mail, the values that were compared, the event that came, the answer's status; of a skipped step `reason`, and `code` if a limit was reached.",
    ),
  error: z.string().nullable(),
  email: z
    .object({ id: z.uuid(), status: z.string(), subject: z.string() })
    .nullable()
    .describe("The mail this step made, as it stands now."),
});

const listedExecution = z.object({
  id: z.uuid(),
  workflowId: z.uuid(),
  workflow: z.object({ id: z.uuid(), name: z.string() }),
  version: z.int().describe("Of the graph it started on, which it keeps."),
  contactId: z.uuid().nullable().describe("null: the contact was deleted."),
  contact: z.object({ id: z.uuid(), email: z.string() }).nullable(),
  status: z.enum(EXECUTION_STATUSES),
  currentStepId: z.uuid().nullable().describe("Where it stands; of a failed one, where it failed."),
  currentStep: z.object({ id: z.uuid(), name: z.string(), type: z.enum(STEP_TYPES) }).nullable(),
  waitsFor: z.string().nullable().describe("The event it waits for."),
  nextAt: instant.nullable().describe("When it goes on by the clock."),
  exitReason: z.string().nullable(),
  startedAt: instant,
  completedAt: instant.nullable(),
});
const execution = listedExecution.extend({
  context: z.record(z.string(), z.unknown()).describe("The data of what started it."),
  results: z.record(z.string(), z.unknown()).describe("What steps came to that later ones may use, by name."),
  steps: z.array(stepRun).describe("What it did so far, in order."),
});

/** What one execution holds of its contact. */
export const contactExecution = execution.pick({
  id: true,
  workflow: true,
  status: true,
  startedAt: true,
  completedAt: true,
  context: true,
  results: true,
});

/** In the path. */
export const ofWorkflow = z.object({ id: pathId });
const one = z.object({ id: pathId, executionId: pathId });
const pages = z.object({
  page: queryInteger(1, LIMITS.pageNumber.value, "The page; the first is 1.").optional(),
  pageSize: queryInteger(
    1,
    LIMITS.pageSizeMaximum.value,
    `Items per page; default ${LIMITS.pageSizeDefault.value}.`,
  ).optional(),
});
const page = {
  total: z.int(),
  page: z.int(),
  pageSize: z.int(),
  totalPages: z.int(),
};

/** What an execution carries. */
export const context = z
  .record(z.string(), z.unknown())
  .superRefine((given, check) => {
    const { length } = JSON.stringify(given);
    const most = LIMITS.executionContextLength.value;
    if (length > most)
      check.addIssue(issue(`Must be at most ${most} characters as JSON.`, "too_big", length));
  })
  .describe("Variables of the execution: `event.*` in conditions and mails.");

export const startExecution = endpoint({
  name: "executions.start",
  method: "POST",
  path: "/workflows/:id/executions",
  summary: "Start executions for a contact or a segment",
  description:
    "The workflow must be enabled. For a contact the answer is the execution (201); for a segment its members enter in the background (202), those who may.",
  caller: "project",
  sends: true,
  params: ofWorkflow,
  body: z
    .object({ contactId: id.optional(), segmentId: id.optional(), context: context.optional() })
    .superRefine(({ contactId, segmentId }, check) => {
      if (contactId === undefined && segmentId === undefined)
        check.addIssue(issue("Required, or a `segmentId`.", "required", undefined, ["contactId"]));
      if (contactId !== undefined && segmentId !== undefined)
        check.addIssue(issue("Either a contact or a segment.", "custom", segmentId, ["segmentId"]));
    }),
  unknownFields: "refused",
  answers: { 201: execution, 202: z.object({ message: z.string(), jobId: z.uuid() }) },
  errors: [
    "WORKFLOW_NOT_FOUND",
    "CONTACT_NOT_FOUND",
    "SEGMENT_NOT_FOUND",
    "CONFLICT",
    "EMAIL_VERIFICATION_REQUIRED",
  ],
});

export const listExecutions = endpoint({
  name: "executions.list",
  method: "GET",
  path: "/workflows/:id/executions",
  summary: "List executions of a workflow, newest first",
  description: "By pages; by state, step or contact.",
  caller: "project",
  params: ofWorkflow,
  query: pages.extend({
    status: z.enum(EXECUTION_STATUSES).optional(),
    stepId: id.optional().describe("Those that stand at this step, or failed there."),
    contactId: id.optional(),
  }),
  answers: {
    200: z.object({ executions: z.array(listedExecution), data: z.array(listedExecution), ...page }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const getExecution = endpoint({
  name: "executions.get",
  method: "GET",
  path: "/workflows/:id/executions/:executionId",
  summary: "Read an execution with everything its steps did",
  description:
    "For each step when, what came out, which branch and why, the mail it made and what became of that.",
  caller: "project",
  params: one,
  answers: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND"],
});

export const cancelExecution = endpoint({
  name: "executions.cancel",
  method: "DELETE",
  path: "/workflows/:id/executions/:executionId",
  summary: "Cancel a running or waiting execution",
  description: "It takes no further step. Mails that are in the outbox already leave.",
  caller: "project",
  params: one,
  answers: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

export const cancelAllExecutions = endpoint({
  name: "executions.cancelAll",
  method: "POST",
  path: "/workflows/:id/executions/cancel-all",
  summary: "Cancel every active execution of a workflow",
  description: "None of them takes a further step from now on; many are marked in the background.",
  caller: "project",
  params: ofWorkflow,
  answers: { 200: z.object({ cancelled: z.int() }) },
  errors: ["WORKFLOW_NOT_FOUND"],
});

const retried = z.object({ count: z.int().describe("Executions that go on.") });

export const retryExecution = endpoint({
  name: "executions.retry",
  method: "POST",
  path: "/workflows/:id/executions/:executionId/retry",
  summary: "Try the step again at which an execution failed",
  description: "Refused when the contact is in another active execution of this workflow.",
  caller: "project",
  params: one,
  answers: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

export const skipExecution = endpoint({
  name: "executions.skip",
  method: "POST",
  path: "/workflows/:id/executions/:executionId/skip",
  summary: "Go on behind the step at which an execution failed",
  description: "Behind a CONDITION it goes on at `no`, behind a WAIT_FOR_EVENT at `timeout`.",
  caller: "project",
  params: one,
  answers: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

const atStep = z.object({ id: pathId, stepId: pathId });

export const retryFailedAtStep = endpoint({
  name: "executions.retryStep",
  method: "POST",
  path: "/workflows/:id/steps/:stepId/retry-failed",
  summary: "Try a step again for all executions that failed at it",
  description: `At most ${LIMITS.executionsAtOnce.value} a call, the oldest first. Refused while all executions are being cancelled.`,
  caller: "project",
  params: atStep,
  answers: { 200: retried },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

export const skipFailedAtStep = endpoint({
  name: "executions.skipStep",
  method: "POST",
  path: "/workflows/:id/steps/:stepId/skip-failed",
  summary: "Go on behind a step for all executions that failed at it",
  description: `At most ${LIMITS.executionsAtOnce.value} a call, the oldest first. Refused while all executions are being cancelled.`,
  caller: "project",
  params: atStep,
  answers: { 200: retried },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

export const listContactExecutions = endpoint({
  name: "contacts.executions",
  method: "GET",
  path: "/contacts/:id/executions",
  summary: "List the executions a contact is or was in, newest first",
  description: "Of all workflows.",
  caller: "project",
  params: z.object({ id: pathId }),
  query: pages,
  answers: { 200: z.object({ data: z.array(listedExecution), ...page }) },
  errors: ["CONTACT_NOT_FOUND"],
});
