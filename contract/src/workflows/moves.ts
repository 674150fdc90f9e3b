// Endpoints that move executions to the current version of a workflow, and undo it
// (docs/decisions/0140-moves-to-another-version.md).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { expectedUpdatedAt, id, instant, issue, pathId } from "../field.ts";
import { jobResponse, queuedJob } from "../job.ts";
import { LIMITS } from "../limits/limits.ts";
import { withValues } from "../translation.ts";
import { branch } from "./branches.ts";
import { STEP_TYPES } from "./graph.ts";
import { byWorkflow } from "./workflows.ts";

const movedStep = z.object({ id: z.uuid(), name: z.string(), type: z.enum(STEP_TYPES) });

/** The differences of a step between two versions that matter to an execution at it. */
export const MOVE_CHANGES = ["delay", "event", "config"] as const;

export const moveGroup = z.object({
  version: z.int().describe("The version that the executions are on."),
  count: z.int().describe("Active executions at the step."),
  step: movedStep.describe("The step at which they are."),
  target: movedStep.nullable().describe("The same step in the current version. null if it has none."),
  changes: z
    .array(z.enum(MOVE_CHANGES))
    .describe(
      "`delay`: the duration of a DELAY or the timeout of a WAIT_FOR_EVENT changed. `event`: the step waits for another event. `config`: another setting changed.",
    ),
  next: z
    .array(z.object({ branch: branch.nullable(), step: movedStep.nullable() }))
    .describe("The steps after it in the current version. null is the end."),
});
export type MoveGroup = z.output<typeof moveGroup>;

export const previewMove = endpoint({
  name: "workflows.previewMove",
  method: "GET",
  path: "/workflows/:id/move-preview",
  summary: "Preview moving executions to the current version",
  description:
    "Counts the active executions on earlier versions by version and step, with the counterpart of each step. Send `updatedAt` as `expectedUpdatedAt` to the move.",
  caller: "project",
  params: byWorkflow,
  responses: {
    200: z.object({
      version: z.int().describe("The current version."),
      updatedAt: instant,
      total: z.int().describe("Active executions on earlier versions."),
      groups: z.array(moveGroup),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

/** Reasons why an execution keeps its version. */
export const LEFT_OUT = ["STAY", "NO_CHOICE", "WEBHOOK", "HELD"] as const;

export const moveCounts = z.object({
  moved: z.int().describe("Executions that are now on the version."),
  ended: z.int().describe("Executions that ended, because their step had the choice `exit`."),
  leftOut: z
    .array(z.object({ reason: z.enum(LEFT_OUT), count: z.int() }))
    .describe(
      "Executions that keep their version, by reason. `STAY`: you chose it. `NO_CHOICE`: they reached a step without a counterpart after your call. `WEBHOOK`: they would leave a step whose webhook call is running. `HELD`: they are held because the database was rolled back.",
    ),
});
export type MoveCounts = z.output<typeof moveCounts>;

export const undoMoveCounts = z.object({
  returned: z.int().describe("Executions that are on their earlier version again."),
  kept: z
    .int()
    .describe(
      "Executions that stay where they are, because they took a step, ended or were moved again, or because the contact entered again.",
    ),
});
export type UndoMoveCounts = z.output<typeof undoMoveCounts>;

/** A step id, `stay` or `exit`, as one string, because generated code has no type for a union of texts. */
const choice = z
  .string()
  .toLowerCase()
  .regex(
    /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|stay|exit)$/,
    "Must be the id of a step, `stay` or `exit`.",
  );

export const moveExecutions = endpoint({
  name: "workflows.move",
  method: "POST",
  path: "/workflows/:id/moves",
  summary: "Move active executions to the current version",
  description:
    "Queued; `GET /workflows/:id/moves/:jobId` returns the progress and result. Without a selection, all active executions on earlier versions move. An execution continues at the step with the same id, and a wait keeps its clock. Returns 422 if executions are at a step that the current version doesn't have, unless `steps` has a choice for it.",
  caller: "project",
  params: byWorkflow,
  body: z.object({
    stepIds: z
      .array(id)
      .min(1)
      .max(LIMITS.workflowSteps.value)
      .optional()
      .describe("Only executions at these steps."),
    versions: z
      .array(z.int().min(1).max(2_147_483_647))
      .min(1)
      .max(LIMITS.workflowVersions.value)
      .optional()
      .describe("Only executions on these versions."),
    executionIds: z
      .array(id)
      .min(1)
      .max(LIMITS.movedExecutionIds.value)
      .optional()
      .describe("Only these executions."),
    steps: z
      .record(id, choice)
      .superRefine((steps, context) => {
        const most = LIMITS.workflowSteps.value;
        const { length } = Object.keys(steps);
        if (length > most)
          context.addIssue(issue(withValues("Must have at most {most} keys.", { most }), "too_big", length));
      })
      .optional()
      .describe(
        "By step id: the id of the step of the current version at which its executions continue, `stay` to leave them on their version, or `exit` to end them. Without an entry they continue at the same step. Before an execution reaches an email again that it was sent before, the email is skipped once.",
      ),
    applyDelays: z
      .boolean()
      .optional()
      .describe(
        "Calculates changed delays and timeouts of executions that wait again, from when the wait began. Those that are over continue immediately. Otherwise the time that was set remains.",
      ),
    expectedUpdatedAt,
  }),
  unknownFields: "refused",
  responses: { 202: queuedJob },
  errors: ["WORKFLOW_NOT_FOUND", "CHANGED_MEANWHILE", "CONFLICT"],
});

const byMove = z.object({ id: pathId, jobId: pathId });

export const getMove = endpoint({
  name: "workflows.getMove",
  method: "GET",
  path: "/workflows/:id/moves/:jobId",
  summary: "Read a move and its undo",
  description: "The progress and the result. Kept for 30 days after its end.",
  caller: "project",
  params: byMove,
  responses: {
    200: z.object({
      version: z.int().describe("The version to which the executions move."),
      job: jobResponse(moveCounts),
      undo: jobResponse(undoMoveCounts).nullable().describe("null before the undo was requested."),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "JOB_NOT_FOUND"],
});

export const undoMove = endpoint({
  name: "workflows.undoMove",
  method: "POST",
  path: "/workflows/:id/moves/:jobId/undo",
  summary: "Undo a move",
  description:
    "Queued; `GET /workflows/:id/moves/:jobId` returns the result. Executions return to their earlier version and step unless they have taken a step since. Returns 409 while the move runs, or if it was already undone.",
  caller: "project",
  params: byMove,
  responses: { 202: queuedJob },
  errors: ["WORKFLOW_NOT_FOUND", "JOB_NOT_FOUND", "CONFLICT"],
});

export const MOVE_ENDPOINTS = [previewMove, moveExecutions, getMove, undoMove] as const;
