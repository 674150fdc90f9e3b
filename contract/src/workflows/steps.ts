// Endpoints for the graph of a workflow: its steps and the transitions between them (spec §4.8; decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { addFaults, expectedUpdatedAt, id, issue, pathId, queryBoolean } from "../field.ts";
import { nameText } from "../name-text.ts";
import { branch } from "./branches.ts";
import { position, STEP_CONFIGS, STEP_TYPES, stepNote } from "./graph.ts";
import { byWorkflow, step, transition } from "./workflows.ts";

const byStep = z.object({ id: pathId, stepId: pathId });
const byTransition = z.object({ id: pathId, transitionId: pathId });

const CONFIGS =
  "SEND_EMAIL: `{ templateId, recipient?: { type: CONTACT | CUSTOM, customEmail? } }`. DELAY: `{ amount, unit }`, `{ until, timezone?, weekdays? }`, or `{ dateField, amount?, unit?, direction?, until?, timezone? }`, where the timezone `contact` is the contact's field `data.timezone`. WAIT_FOR_EVENT: `{ eventName, timeout?, filter? }`. CONDITION: `{ field, operator, value?, unit? }` or a whole filter. BRANCH: `{ branches: [{ name, filter }] }`, where a contact takes the first branch that matches, or else `else`. RANDOM_SPLIT: `{ shares: [{ name, percent }] }` with 100 percent in total. UPDATE_CONTACT: `{ updates?, subscriptionAction? }`. WEBHOOK: `{ url, method?, headers?, body? }`; header values and credentials in the URL are returned as `••••`, and sending it back keeps the stored value. EXIT: `{ reason? }`. Texts may contain variables (docs/workflows.md).";

const stepFields = {
  type: z.enum(STEP_TYPES).exclude(["TRIGGER"]).describe("The TRIGGER is created with the workflow."),
  name: nameText.optional(),
  config: z.record(z.string(), z.unknown()).optional().describe(CONFIGS),
  templateId: id
    .toLowerCase()
    .nullable()
    .optional()
    .describe("For a SEND_EMAIL; overrides the one in `config`. null for none."),
  position: position.nullable().optional().describe("The position in an editor; null if not placed yet."),
  note: stepNote
    .nullable()
    .optional()
    .describe(
      "A note for the authors of the workflow, which contacts never see. null or an empty text for none.",
    ),
};

/** Checks the config of a step type and reports paths such as `config.amount`. */
function checkConfig(
  { type, config = {} }: { type: keyof typeof STEP_CONFIGS; config?: unknown },
  context: z.RefinementCtx,
): void {
  addFaults(STEP_CONFIGS[type], config, "config", context);
}

export const createStep = endpoint({
  name: "workflows.addStep",
  method: "POST",
  path: "/workflows/:id/steps",
  summary: "Add a step",
  description:
    "The config is checked immediately. With `fromStepId`, that step leads to it. With `autoConnect`, the newest step without a next step does.",
  caller: "project",
  params: byWorkflow,
  body: z
    .object({
      ...stepFields,
      autoConnect: z.boolean().optional().describe("Default false."),
      fromStepId: id.toLowerCase().optional().describe("The step that leads to the new one."),
      branch: branch.nullable().optional().describe("The branch of `fromStepId` that leads to the new step."),
    })
    .superRefine(({ autoConnect = false, fromStepId, branch: given }, context) => {
      if (autoConnect && fromStepId !== undefined)
        context.addIssue(
          issue("Send either `fromStepId` or `autoConnect`.", "custom", fromStepId, ["fromStepId"]),
        );
      if (typeof given === "string" && fromStepId === undefined)
        context.addIssue(issue("Required with `branch`.", "required", fromStepId, ["fromStepId"]));
    })
    .superRefine(checkConfig),
  unknownFields: "refused-unless-returned",
  responses: { 201: step },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const updateStep = endpoint({
  name: "workflows.updateStep",
  method: "PATCH",
  path: "/workflows/:id/steps/:stepId",
  summary: "Change a step",
  description:
    "The type cannot change. A new config replaces the old one; running executions keep theirs. A new position or note makes no new version.",
  caller: "project",
  params: byStep,
  body: z.object({
    name: stepFields.name,
    config: stepFields.config,
    templateId: stepFields.templateId.describe("null removes it."),
    position: stepFields.position,
    note: stepFields.note,
    renamedBranches: z
      .record(branch, branch.nullable())
      .optional()
      .describe(
        "Required if a new `config` renames or removes branches of a BRANCH or RANDOM_SPLIT that lead to a step. By former name: the new name, or null to delete the transition.",
      ),
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  responses: { 200: step },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteStep = endpoint({
  name: "workflows.deleteStep",
  method: "DELETE",
  path: "/workflows/:id/steps/:stepId",
  summary: "Delete a step",
  description:
    "Its transitions are deleted and the following steps are kept. With `splice`, the previous steps are connected to the next one. 409 for the TRIGGER, and for splicing a step whose branches lead to different steps.",
  caller: "project",
  params: byStep,
  query: z.object({
    splice: queryBoolean("Whether to connect the previous steps to the next one.").optional(),
  }),
  responses: { 204: null },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

const OUTCOMES = { EVENT: "event", TIMEOUT: "timeout" } as const;

const transitionBody = z
  .object({
    fromStepId: id,
    toStepId: id,
    branch: branch
      .nullable()
      .optional()
      .describe(
        "`yes` or `no` after a CONDITION, `event` or `timeout` after a WAIT_FOR_EVENT, a name or `else` after a BRANCH, a name after a RANDOM_SPLIT; null after other steps.",
      ),
    condition: z
      .object({ branch: branch.optional() })
      .nullable()
      .optional()
      .describe("`condition.branch` is an alias of `branch`."),
    waitOutcome: z
      .enum(["EVENT", "TIMEOUT"])
      .nullable()
      .optional()
      .describe("Alias of the branches `event` and `timeout`."),
    priority: z.int().min(0).max(1_000_000).optional(),
  })
  .superRefine((body, context) => {
    if (givenBranches(body).size > 1)
      context.addIssue(
        issue("`branch`, `condition` and `waitOutcome` contradict each other.", "custom", body, ["branch"]),
      );
  });

type TransitionBody = Pick<z.input<typeof transitionBody>, "branch" | "condition" | "waitOutcome">;

function givenBranches({ branch: given, condition, waitOutcome }: TransitionBody): ReadonlySet<string> {
  const outcome = waitOutcome === undefined || waitOutcome === null ? null : OUTCOMES[waitOutcome];
  return new Set([given, condition?.branch, outcome].filter((one) => one !== undefined && one !== null));
}

/** Returns the branch in a request, in any of its three spellings. */
export function branchOf(body: TransitionBody): string | null {
  const [given = null] = givenBranches(body);
  return given;
}

export const createTransition = endpoint({
  name: "workflows.addTransition",
  method: "POST",
  path: "/workflows/:id/transitions",
  summary: "Connect one step to another",
  description:
    "An existing transition is returned again, with 200. Not allowed: from a step to itself, a loop without a WAIT_FOR_EVENT or a DELAY without `dateField`, out of an EXIT, into the TRIGGER, or a second transition without a branch.",
  caller: "project",
  params: byWorkflow,
  body: transitionBody,
  unknownFields: "refused-unless-returned",
  responses: { 200: transition, 201: transition },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const deleteTransition = endpoint({
  name: "workflows.deleteTransition",
  method: "DELETE",
  path: "/workflows/:id/transitions/:transitionId",
  summary: "Delete a transition",
  description: "Both steps are kept.",
  caller: "project",
  params: byTransition,
  responses: { 204: null },
  errors: ["WORKFLOW_NOT_FOUND", "TRANSITION_NOT_FOUND"],
});

export const insertStep = endpoint({
  name: "workflows.insertStep",
  method: "POST",
  path: "/workflows/:id/transitions/:transitionId/insert-step",
  summary: "Insert a step between two others",
  description:
    "The transition then leads to the new step, and a new transition leads from there to the previous target (for a step with branches by its first one). Not for EXIT.",
  caller: "project",
  params: byTransition,
  body: z
    .object({
      ...stepFields,
      type: z.enum(STEP_TYPES).exclude(["TRIGGER", "EXIT"]),
    })
    .superRefine(checkConfig),
  unknownFields: "refused-unless-returned",
  responses: { 201: step },
  errors: ["WORKFLOW_NOT_FOUND", "TRANSITION_NOT_FOUND"],
});
