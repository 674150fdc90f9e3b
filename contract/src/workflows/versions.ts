// Previous versions of a workflow's graph, and exports that another project can import (decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { addFaults, id, instant, pathId, pathText, queryBoolean, queryInteger } from "../field.ts";
import { nameText } from "../name-text.ts";
import { LIMITS } from "../limits/limits.ts";
import { branch } from "./branches.ts";
import { exitConditions, shownExitConditions } from "./exit-conditions.ts";
import { goal, shownGoal } from "./goal.ts";
import { workflowFolder, workflowTags } from "./groups.ts";
import { position, STEP_CONFIGS, STEP_TYPES, stepNote, TRIGGER_CONFIGS, TRIGGER_TYPES } from "./graph.ts";
import {
  byWorkflow,
  pageList,
  pagesQuery,
  step,
  transition,
  workflow,
  workflowDescription,
} from "./workflows.ts";

/** The largest `integer` of PostgreSQL, which is the type of the columns. */
const LARGEST_INTEGER = 2_147_483_647;

const byVersion = z.object({ id: pathId, version: pathText });

const version = z.object({
  version: z.int(),
  isCurrent: z.boolean().describe("Whether new executions start on it."),
  isUsed: z.boolean().describe("Whether an execution has started on it; after that it never changes."),
  createdAt: instant,
});

export const listVersions = endpoint({
  name: "workflows.listVersions",
  method: "GET",
  path: "/workflows/:id/versions",
  summary: "List the versions of a workflow's graph, newest first",
  description: `A new version begins with the first change after an execution has started. The newest ${LIMITS.workflowVersions.value} are kept, as is every older one on which an execution started.`,
  caller: "project",
  params: byWorkflow,
  query: pagesQuery,
  responses: {
    200: pageList(version.extend({ steps: z.int(), activeExecutions: z.int() })),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const getVersion = endpoint({
  name: "workflows.getVersion",
  method: "GET",
  path: "/workflows/:id/versions/:version",
  summary: "Read one version of a workflow's graph",
  description: "The steps and transitions of that version.",
  caller: "project",
  params: byVersion,
  responses: {
    200: version.extend({
      exitConditions: shownExitConditions,
      goal: shownGoal,
      steps: z.array(step),
      transitions: z.array(transition),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
});

function differences<Item extends z.ZodType>(item: Item) {
  return z.object({
    added: z.array(item),
    removed: z.array(item),
    changed: z.array(z.object({ id: z.uuid(), fields: z.array(z.string()), before: item, after: item })),
  });
}

export const compareVersions = endpoint({
  name: "workflows.compareVersions",
  method: "GET",
  path: "/workflows/:id/versions/:version/compare",
  summary: "Compare two versions of a workflow's graph",
  description: "Returns the changes from this version to the one in `with`, or to the current one.",
  caller: "project",
  params: byVersion,
  query: z.object({ with: queryInteger(1, LARGEST_INTEGER, "The later version.").optional() }),
  responses: {
    200: z.object({
      version: z.int(),
      with: z.int(),
      steps: differences(step.omit({ outgoingTransitions: true, incomingTransitions: true })),
      transitions: differences(transition),
      exitConditions: z
        .object({ before: shownExitConditions, after: shownExitConditions })
        .nullable()
        .describe("null if they are the same."),
      goal: z.object({ before: shownGoal, after: shownGoal }).nullable().describe("null if it is the same."),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
});

export const restoreVersion = endpoint({
  name: "workflows.restoreVersion",
  method: "POST",
  path: "/workflows/:id/versions/:version/restore",
  summary: "Restore a previous version of a workflow's graph",
  description:
    "Restores it as a new version and keeps all others. `problems` lists anything it uses that was deleted.",
  caller: "project",
  params: byVersion,
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND"],
});

export const undoEdits = endpoint({
  name: "workflows.undo",
  method: "POST",
  path: "/workflows/:id/undo",
  summary: "Restore the graph from before recent edits",
  description: `Restores the steps, transitions, exit conditions and goal of one of the last ${LIMITS.undoableEdits.value} revisions, with the same ids. This is an edit too: to redo, restore the previous revision.`,
  caller: "project",
  params: byWorkflow,
  body: z.object({
    revision: z.int().min(1).max(LARGEST_INTEGER).describe("The `revision` to restore."),
    expectedRevision: z
      .int()
      .min(1)
      .max(LARGEST_INTEGER)
      .describe(
        "The current `revision`. If the graph was edited since, nothing changes and the response is 409.",
      ),
  }),
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND", "CHANGED_MEANWHILE"],
});

const MOST_KEY = 100;
const key = z.string().min(1).max(MOST_KEY);

const documentStep = z
  .object({
    key: key.describe("The key that transitions use in this export."),
    type: z.enum(STEP_TYPES),
    name: nameText,
    config: z.record(z.string(), z.unknown()),
    position: position.nullable(),
    note: stepNote.optional(),
  })
  .superRefine(({ type, config }, context) => addFaults(STEP_CONFIGS[type], config, "config", context));

/** The parts of a graph that an export has in common with copied steps. */
export const documentParts = {
  steps: z.array(documentStep).min(1).max(LIMITS.workflowSteps.value),
  transitions: z
    .array(
      z.object({
        from: key,
        to: key,
        branch: branch.nullable(),
        priority: z.int().min(0).max(1_000_000),
      }),
    )
    .max(LIMITS.workflowSteps.value * (LIMITS.stepBranches.value + 1)),
  templates: z.array(z.object({ id, name: z.string() })).describe("Templates used by its steps."),
  segments: z
    .array(z.object({ id, name: z.string(), slug: z.string() }))
    .describe("Segments used by its trigger, conditions and exit conditions."),
};

const documentFields = {
  format: z.literal("postloft.workflow"),
  formatVersion: z.literal(1),
  name: nameText,
  description: workflowDescription,
  triggerType: z.enum(TRIGGER_TYPES),
  triggerConfig: z.record(z.string(), z.unknown()),
  folder: workflowFolder.optional(),
  tags: workflowTags.optional(),
  allowReentry: z.boolean(),
  ...documentParts,
  exitConditions: exitConditions.optional(),
  goal: goal.optional(),
};

/** The export of a workflow. Templates and segments have their ids, and their names for other projects. */
export const workflowExport = z
  .object(documentFields)
  .superRefine(({ triggerType, triggerConfig }, context) => {
    // Also accepts an unfinished trigger, because it only prevents enabling the workflow.
    if (Object.keys(triggerConfig).length === 0) return;
    addFaults(TRIGGER_CONFIGS[triggerType], triggerConfig, "triggerConfig", context);
  });
export type WorkflowExport = z.output<typeof workflowExport>;

export const exportWorkflow = endpoint({
  name: "workflows.export",
  method: "GET",
  path: "/workflows/:id/export",
  summary: "Export a workflow as JSON",
  description:
    "The graph, trigger and settings, but not whether it is enabled. `POST /workflows/import` can read it back.",
  caller: "project",
  params: byWorkflow,
  responses: {
    200: z.object({
      ...documentFields,
      exitConditions: shownExitConditions.optional(),
      goal: shownGoal.optional(),
    }),
  },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const importWorkflow = endpoint({
  name: "workflows.import",
  method: "POST",
  path: "/workflows/import",
  summary: "Create a workflow from an export",
  description:
    "The workflow is disabled and has new ids. Templates are found by id or name, and segments by id or slug. If any is missing, the call returns 422 with a list. With `allowMissing`, steps lose their missing template, and conditions on a missing segment match no contacts; `problems` lists both.",
  caller: "project",
  query: z.object({
    allowMissing: queryBoolean("Whether to create it even if templates or segments are missing.").optional(),
  }),
  body: workflowExport,
  unknownFields: "refused",
  bodyLimitBytes: LIMITS.workflowDocumentBytes.value,
  responses: { 201: workflow },
  errors: ["CONFLICT"],
});

export const VERSION_ENDPOINTS = [
  listVersions,
  getVersion,
  compareVersions,
  restoreVersion,
  undoEdits,
  exportWorkflow,
  importWorkflow,
] as const;
