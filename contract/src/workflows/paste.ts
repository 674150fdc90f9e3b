// Copied steps as JSON, and the endpoint that pastes them into a workflow.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { id, issue } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { branch } from "./branches.ts";
import { documentParts } from "./versions.ts";
import { byWorkflow, step } from "./workflows.ts";

export const COPIED_STEPS = "postloft.steps";
export const COPIED_STEPS_VERSION = 1;

/** Steps on the clipboard. The first step is the entry. Templates and segments have their names for other projects. */
export const copiedSteps = z.object({
  format: z.literal(COPIED_STEPS),
  formatVersion: z.literal(COPIED_STEPS_VERSION),
  ...documentParts,
});
export type CopiedSteps = z.output<typeof copiedSteps>;

export const pasteSteps = endpoint({
  name: "workflows.pasteSteps",
  method: "POST",
  path: "/workflows/:id/paste",
  summary: "Paste copied steps",
  description:
    "The steps get new ids. With `transitionId`, they are inserted there: their first open branch leads to the previous target. With `fromStepId`, that step leads to the first of them. Templates are found by id or name, and segments by id or slug. A step loses a missing template, and `problems` lists missing segments and credentials.",
  caller: "project",
  params: byWorkflow,
  body: z
    .object({
      copied: copiedSteps,
      transitionId: id.toLowerCase().optional().describe("The transition into which they are inserted."),
      fromStepId: id.toLowerCase().optional().describe("The step that leads to them."),
      branch: branch.nullable().optional().describe("The branch of `fromStepId` that leads to them."),
    })
    .superRefine(({ transitionId, fromStepId, branch: given }, context) => {
      if ((transitionId === undefined) === (fromStepId === undefined))
        context.addIssue(
          issue("Send either `transitionId` or `fromStepId`.", "custom", fromStepId, ["transitionId"]),
        );
      if (typeof given === "string" && fromStepId === undefined)
        context.addIssue(issue("Required with `branch`.", "required", fromStepId, ["fromStepId"]));
    }),
  unknownFields: "refused",
  bodyLimitBytes: LIMITS.workflowDocumentBytes.value,
  responses: { 201: z.object({ steps: z.array(step).describe("The new steps, in the same order.") }) },
  errors: ["WORKFLOW_NOT_FOUND", "TRANSITION_NOT_FOUND"],
});
