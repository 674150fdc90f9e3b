// Endpoints for the graph of a workflow: its steps and the transitions between them (spec §4.8; decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  addFaults,
  expectedUpdatedAt,
  hasControlCharacters,
  id,
  issue,
  pathId,
  queryBoolean,
} from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { BRANCHES, position, STEP_CONFIGS, STEP_TYPES, type Branch } from "./graph.ts";
import { byWorkflow, step, transition } from "./workflows.ts";

const byStep = z.object({ id: pathId, stepId: pathId });
const byTransition = z.object({ id: pathId, transitionId: pathId });

export const stepName = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.nameLength.value)
  .refine((text) => !hasControlCharacters(text), {
    message: "Must not contain line breaks or control characters.",
    params: { code: "invalid_string" },
  });

const CONFIGS =
  "SEND_EMAIL: `{ templateId, recipient?: { type: CONTACT | CUSTOM, customEmail? } }`. DELAY: `{ amount, unit }` or `{ until, timezone?, weekdays? }`. WAIT_FOR_EVENT: `{ eventName, timeout?, filter? }`. CONDITION: `{ field, operator, value?, unit? }` or a whole filter. UPDATE_CONTACT: `{ updates?, subscriptionAction? }`. WEBHOOK: `{ url, method?, headers?, body? }`; header values and credentials in the query of the URL read as `••••`, which keeps the stored value when it is sent back. EXIT: `{ reason? }`.";

const stepFields = {
  type: z.enum(STEP_TYPES).exclude(["TRIGGER"]).describe("The TRIGGER is created with the workflow."),
  name: stepName.optional(),
  config: z.record(z.string(), z.unknown()).optional().describe(CONFIGS),
  templateId: id
    .toLowerCase()
    .nullable()
    .optional()
    .describe("Of a SEND_EMAIL; goes before that in `config`. null: none."),
  position: position.nullable().optional().describe("Where an editor draws it; null: nowhere yet."),
};

/** A config is checked in the words of its type: `config.amount`. */
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
    "The config is checked now. With `autoConnect` the newest step that leads nowhere is linked to it.",
  caller: "project",
  params: byWorkflow,
  body: z
    .object({ ...stepFields, autoConnect: z.boolean().optional().describe("Default false.") })
    .superRefine(checkConfig),
  unknownFields: "refused-unless-returned",
  answers: { 201: step },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const updateStep = endpoint({
  name: "workflows.updateStep",
  method: "PATCH",
  path: "/workflows/:id/steps/:stepId",
  summary: "Change a step",
  description:
    "Its type stays. A config that is sent replaces the old one; executions under way keep theirs.",
  caller: "project",
  params: byStep,
  body: z.object({
    name: stepFields.name,
    config: stepFields.config,
    templateId: stepFields.templateId.describe("null takes it away."),
    position: stepFields.position,
    expectedUpdatedAt,
  }),
  unknownFields: "refused-unless-returned",
  answers: { 200: step },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteStep = endpoint({
  name: "workflows.deleteStep",
  method: "DELETE",
  path: "/workflows/:id/steps/:stepId",
  summary: "Delete a step",
  description:
    "Its transitions go with it; the steps behind it stay. With `splice` those before it lead to the one behind it. The TRIGGER stays (409), and so does a step that is to be spliced and leads to more than one.",
  caller: "project",
  params: byStep,
  query: z.object({
    splice: queryBoolean("Whether to link what was before the step to what was behind it.").optional(),
  }),
  answers: { 204: null },
  errors: ["WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "CONFLICT"],
});

const OUTCOMES = { EVENT: "event", TIMEOUT: "timeout" } as const satisfies Record<string, Branch>;

const transitionBody = z
  .object({
    fromStepId: id,
    toStepId: id,
    branch: z
      .enum(BRANCHES)
      .nullable()
      .optional()
      .describe(
        "`yes` or `no` after a CONDITION, `event` or `timeout` after a WAIT_FOR_EVENT; null after other steps.",
      ),
    condition: z
      .object({ branch: z.enum(BRANCHES).optional() })
      .nullable()
      .optional()
      .describe("`condition.branch` is the same as `branch`."),
    waitOutcome: z
      .enum(["EVENT", "TIMEOUT"])
      .nullable()
      .optional()
      .describe("The same as the branches `event` and `timeout`."),
    priority: z.int().min(0).max(1_000_000).optional(),
  })
  .superRefine((body, context) => {
    if (branchesOf(body).size > 1)
      context.addIssue(
        issue("`branch`, `condition` and `waitOutcome` say different things.", "custom", body, ["branch"]),
      );
  });

type TransitionBody = Pick<z.input<typeof transitionBody>, "branch" | "condition" | "waitOutcome">;

function branchesOf({ branch, condition, waitOutcome }: TransitionBody): ReadonlySet<Branch> {
  const outcome = waitOutcome === undefined || waitOutcome === null ? null : OUTCOMES[waitOutcome];
  return new Set([branch, condition?.branch, outcome].filter((one) => one !== undefined && one !== null));
}

/** The branch a request names, in any of its three spellings. */
export function branchOf(body: TransitionBody): Branch | null {
  const [branch = null] = branchesOf(body);
  return branch;
}

export const createTransition = endpoint({
  name: "workflows.addTransition",
  method: "POST",
  path: "/workflows/:id/transitions",
  summary: "Link one step to another",
  description:
    "One that is there already is returned again, with 200. Refused: from a step to itself, round in circles without a DELAY or a WAIT_FOR_EVENT, out of an EXIT, into the TRIGGER, a second one where there is no branch.",
  caller: "project",
  params: byWorkflow,
  body: transitionBody,
  unknownFields: "refused-unless-returned",
  answers: { 200: transition, 201: transition },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const deleteTransition = endpoint({
  name: "workflows.deleteTransition",
  method: "DELETE",
  path: "/workflows/:id/transitions/:transitionId",
  summary: "Delete a transition",
  description: "Both steps stay.",
  caller: "project",
  params: byTransition,
  answers: { 204: null },
  errors: ["WORKFLOW_NOT_FOUND", "TRANSITION_NOT_FOUND"],
});

export const insertStep = endpoint({
  name: "workflows.insertStep",
  method: "POST",
  path: "/workflows/:id/transitions/:transitionId/insert-step",
  summary: "Put a new step between two others",
  description:
    "The transition leads to the new step, and a new one from there to where it led: of a CONDITION its branch `yes`. Not for EXIT.",
  caller: "project",
  params: byTransition,
  body: z
    .object({
      ...stepFields,
      type: z.enum(STEP_TYPES).exclude(["TRIGGER", "EXIT"]),
    })
    .superRefine(checkConfig),
  unknownFields: "refused-unless-returned",
  answers: { 201: step },
  errors: ["WORKFLOW_NOT_FOUND", "TRANSITION_NOT_FOUND"],
});
