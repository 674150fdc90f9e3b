// Failed executions of a workflow by cause, and the parameters that select those of one cause.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { inputInstant, instant, pathId } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { STEP_TYPES } from "./graph.ts";

export const failureCause = z
  .string()
  .regex(/^[0-9a-f]{16}$/, "Must be the `cause` of a group in `GET /workflows/:id/failures`.")
  .optional();

/** Selects failures of one cause, up to a time. */
export const failureQuery = z.object({
  cause: failureCause.describe("Only executions of this cause, from `GET /workflows/:id/failures`."),
  failedUntil: inputInstant
    .optional()
    .describe(
      "Only executions that failed until then, such as the `countedAt` of the groups. Repeated calls with it don't retry an execution that fails again.",
    ),
});

export const listFailures = endpoint({
  name: "executions.listFailures",
  method: "GET",
  path: "/workflows/:id/failures",
  summary: "List failed executions by step and cause",
  description: `Groups the newest ${LIMITS.failuresGrouped.value} failed executions, the largest group first, up to ${LIMITS.failureCauses.value} groups. Errors that differ only in quoted values have the same cause.`,
  caller: "project",
  params: z.object({ id: pathId }),
  responses: {
    200: z.object({
      data: z.array(
        z.object({
          stepId: z.uuid(),
          stepName: z.string(),
          stepType: z.enum(STEP_TYPES),
          cause: z.string().describe("Identifies the cause in other calls."),
          error: z.string().describe("The error of the newest execution."),
          count: z.int(),
          newestAt: instant.describe("When the newest execution failed."),
          example: z.object({
            executionId: z.uuid(),
            contact: z
              .object({ id: z.uuid(), email: z.string() })
              .nullable()
              .describe("null if the contact was deleted."),
          }),
        }),
      ),
      total: z.int().describe("All failed executions of the workflow, including those in no group."),
      countedAt: instant,
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});
