// Endpoints to start, watch and end workflow executions (decisions §9).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { id, instant, issue, pathId, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { failureCause, failureQuery } from "./workflows/failures.ts";
import { EXECUTION_STATUSES, STEP_TYPES } from "./workflows/graph.ts";
import { withValues } from "./translation.ts";

/** One step run: the result of one step in an execution. */
export const stepRun = z.object({
  stepId: z.uuid(),
  name: z.string(),
  type: z.enum(STEP_TYPES),
  status: z.enum(["WAITING", "RUNNING", "COMPLETED", "SKIPPED", "FAILED", "CANCELLED"]),
  startedAt: instant,
  completedAt: instant.nullable(),
  waitsUntil: instant.nullable().describe("For a step that waits for a time."),
  branch: z.string().nullable().describe("The branch taken."),
  output: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      "The result: the email, the compared values, the percent of the share, the received event or the response status. For a skipped step, `reason`, and `code` if a limit was reached.",
    ),
  error: z.string().nullable(),
  email: z
    .object({
      id: z.uuid(),
      status: z.string(),
      subject: z.string(),
      reason: z.string().nullable().describe("Why the email was skipped, failed or waits."),
    })
    .nullable()
    .describe("The email created by this step, with its current status."),
});

const listedExecution = z.object({
  id: z.uuid(),
  workflowId: z.uuid(),
  workflow: z.object({ id: z.uuid(), name: z.string() }),
  version: z.int().describe("The version it started on, or the one it was moved to."),
  contactId: z.uuid().nullable().describe("null if the contact was deleted."),
  contact: z.object({ id: z.uuid(), email: z.string() }).nullable(),
  status: z.enum(EXECUTION_STATUSES),
  currentStepId: z.uuid().nullable().describe("The current step, or the failed step of a failed execution."),
  currentStep: z.object({ id: z.uuid(), name: z.string(), type: z.enum(STEP_TYPES) }).nullable(),
  waitsFor: z.string().nullable().describe("The event it waits for."),
  nextAt: instant.nullable().describe("The time at which it continues."),
  exitReason: z.string().nullable(),
  goalReachedAt: instant
    .nullable()
    .describe("When the goal of the workflow was reached, also after the end."),
  startedAt: instant,
  completedAt: instant.nullable(),
});
const execution = listedExecution.extend({
  context: z.record(z.string(), z.unknown()).describe("The data of the event or call that started it."),
  results: z.record(z.string(), z.unknown()).describe("Results of steps for use in later steps, by name."),
  steps: z.array(stepRun).describe("Completed steps, in order."),
  moves: z
    .array(
      z.object({
        at: instant,
        fromVersion: z.int(),
        toVersion: z.int(),
        isUndo: z.boolean().describe("Whether it undid the move before it."),
        stepsBefore: z.int().describe("How many entries of `steps` are from before the move."),
      }),
    )
    .describe("The moves to other versions, oldest first."),
});

/** The data of an execution in the export of its contact. */
export const contactExecution = execution.pick({
  id: true,
  workflow: true,
  status: true,
  startedAt: true,
  completedAt: true,
  exitReason: true,
  context: true,
  results: true,
});

export const ofWorkflow = z.object({ id: pathId });
const one = z.object({ id: pathId, executionId: pathId });
const pages = z.object({
  page: queryInteger(1, LIMITS.pageNumber.value, "The page, starting at 1.").optional(),
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

/** The variables of an execution. */
export const context = z
  .record(z.string(), z.unknown())
  .superRefine((input, check) => {
    const { length } = JSON.stringify(input);
    const most = LIMITS.executionContextLength.value;
    if (length > most)
      check.addIssue(
        issue(withValues("Must be at most {most} characters as JSON.", { most }), "too_big", length),
      );
  })
  .describe("Variables of the execution: `event.*` in conditions and emails.");

export const startExecution = endpoint({
  name: "executions.start",
  method: "POST",
  path: "/workflows/:id/executions",
  summary: "Start executions for a contact or a segment",
  description:
    "The workflow must be enabled. For a contact, the response is the execution (201). For a segment, eligible members enter in the background (202).",
  caller: "project",
  sends: true,
  params: ofWorkflow,
  body: z
    .object({ contactId: id.optional(), segmentId: id.optional(), context: context.optional() })
    .superRefine(({ contactId, segmentId }, check) => {
      if (contactId === undefined && segmentId === undefined)
        check.addIssue(
          issue("Required unless there is a `segmentId`.", "required", undefined, ["contactId"]),
        );
      if (contactId !== undefined && segmentId !== undefined)
        check.addIssue(issue("Send either a contact or a segment.", "custom", segmentId, ["segmentId"]));
    }),
  unknownFields: "refused",
  responses: { 201: execution, 202: z.object({ message: z.string(), jobId: z.uuid() }) },
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
  description: "Paged; filter by status, step, contact or cause of the failure.",
  caller: "project",
  params: ofWorkflow,
  query: pages.extend({
    status: z.enum(EXECUTION_STATUSES).optional(),
    stepId: id.optional().describe("Executions waiting at this step or failed there."),
    contactId: id.optional(),
    cause: failureCause.describe("Failed executions of this cause, from `GET /workflows/:id/failures`."),
  }),
  responses: {
    200: z.object({ executions: z.array(listedExecution), data: z.array(listedExecution), ...page }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const getExecution = endpoint({
  name: "executions.get",
  method: "GET",
  path: "/workflows/:id/executions/:executionId",
  summary: "Read an execution with all its steps",
  description:
    "For each step: its time, result, branch and reason, and the email it created with its status.",
  caller: "project",
  params: one,
  responses: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND"],
});

export const cancelExecution = endpoint({
  name: "executions.cancel",
  method: "DELETE",
  path: "/workflows/:id/executions/:executionId",
  summary: "Cancel a running or waiting execution",
  description: "No further steps are executed. Emails already in the outbox are still sent.",
  caller: "project",
  params: one,
  responses: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

export const cancelAllExecutions = endpoint({
  name: "executions.cancelAll",
  method: "POST",
  path: "/workflows/:id/executions/cancel-all",
  summary: "Cancel every active execution of a workflow",
  description: "Executions stop immediately; many are marked in the background.",
  caller: "project",
  params: ofWorkflow,
  responses: { 200: z.object({ cancelled: z.int() }) },
  errors: ["WORKFLOW_NOT_FOUND"],
});

const retried = z.object({ count: z.int().describe("Number of resumed executions.") });

export const retryExecution = endpoint({
  name: "executions.retry",
  method: "POST",
  path: "/workflows/:id/executions/:executionId/retry",
  summary: "Retry the failed step of an execution",
  description: "Not possible while the contact is in another active execution of this workflow.",
  caller: "project",
  params: one,
  responses: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

export const skipExecution = endpoint({
  name: "executions.skip",
  method: "POST",
  path: "/workflows/:id/executions/:executionId/skip",
  summary: "Skip the failed step of an execution",
  description:
    "A skipped CONDITION continues at `no`, a WAIT_FOR_EVENT at `timeout`, a BRANCH at `else`, and a RANDOM_SPLIT at its first share.",
  caller: "project",
  params: one,
  responses: { 200: execution },
  errors: ["WORKFLOW_NOT_FOUND", "EXECUTION_NOT_FOUND", "CONFLICT"],
});

const atStep = z.object({ id: pathId, stepId: pathId });

export const retryFailedAtStep = endpoint({
  name: "executions.retryStep",
  method: "POST",
  path: "/workflows/:id/steps/:stepId/retry-failed",
  summary: "Retry a step for all executions that failed there",
  description: `Up to ${LIMITS.executionsAtOnce.value} per call, oldest first. Not possible while all executions are being cancelled.`,
  caller: "project",
  params: atStep,
  query: failureQuery,
  responses: { 200: retried },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

export const skipFailedAtStep = endpoint({
  name: "executions.skipStep",
  method: "POST",
  path: "/workflows/:id/steps/:stepId/skip-failed",
  summary: "Skip a step for all executions that failed there",
  description: `Up to ${LIMITS.executionsAtOnce.value} per call, oldest first. Not possible while all executions are being cancelled.`,
  caller: "project",
  params: atStep,
  query: failureQuery,
  responses: { 200: retried },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

export const listContactExecutions = endpoint({
  name: "contacts.executions",
  method: "GET",
  path: "/contacts/:id/executions",
  summary: "List the executions of a contact, newest first",
  description: "Executions of all workflows.",
  caller: "project",
  params: z.object({ id: pathId }),
  query: pages,
  responses: { 200: z.object({ data: z.array(listedExecution), ...page }) },
  errors: ["CONTACT_NOT_FOUND"],
});
