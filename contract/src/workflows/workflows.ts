// Workflow endpoints: the workflow, its trigger and its problems (spec §2.9, 3.3, 4.8; decisions §9).
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { addFaults, expectedUpdatedAt, instant, issue, pathId, queryInteger } from "../field.ts";
import { nameText } from "../name-text.ts";
import { LIMITS } from "../limits/limits.ts";
import { emailTag } from "../email-labels.ts";
import { groupList, workflowFolder, workflowTags } from "./groups.ts";
import { exitConditions, shownExitConditions } from "./exit-conditions.ts";
import { position, STEP_TYPES, TRIGGER_CONFIGS, TRIGGER_TYPES } from "./graph.ts";
import { goal, shownGoal } from "./goal.ts";
import { CONFIRMABLE_PROBLEMS, workflowProblem } from "./problems.ts";
import { awaitedEventName } from "./step-fields.ts";

export const byWorkflow = z.object({ id: pathId });

export const transition = z.object({
  id: z.uuid(),
  workflowId: z.uuid(),
  fromStepId: z.uuid(),
  toStepId: z.uuid(),
  branch: z
    .string()
    .nullable()
    .describe(
      "`yes` or `no` of a CONDITION; `event` or `timeout` of a WAIT_FOR_EVENT, null for both; the name of a branch of a BRANCH or RANDOM_SPLIT, or `else`.",
    ),
  condition: z.object({ branch: z.string() }).nullable().describe("Alias of `branch`."),
  waitOutcome: z.enum(["EVENT", "TIMEOUT"]).nullable().describe("Alias of `branch`, after a WAIT_FOR_EVENT."),
  priority: z.int(),
});

export const step = z.object({
  id: z.uuid(),
  workflowId: z.uuid(),
  type: z.enum(STEP_TYPES),
  name: z.string(),
  config: z.record(z.string(), z.unknown()),
  templateId: z.uuid().nullable().describe("For a SEND_EMAIL; also in its `config`."),
  position: position.nullable(),
  note: z.string().nullable(),
  outgoingTransitions: z.array(transition),
  incomingTransitions: z.array(transition),
  createdAt: instant,
  updatedAt: instant,
});

export const pausedReason = z.object({
  stepId: z.uuid(),
  stepName: z.string(),
  contacts: z.int().describe("For how many contacts the endpoint failed, without a success in between."),
  error: z.string().describe("The last error."),
});
export type PausedReason = z.output<typeof pausedReason>;

const record = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  folder: z.string().nullable().describe("The name of its folder in the list; null for none."),
  tags: z.array(z.string()),
  enabled: z.boolean(),
  triggerType: z.enum(TRIGGER_TYPES),
  triggerConfig: z.record(z.string(), z.unknown()),
  allowReentry: z
    .boolean()
    .describe(
      "If false, a contact can enter only once. If true, it can enter again once its execution has ended.",
    ),
  version: z.int().describe("The version of the graph; executions keep theirs unless they are moved."),
  revision: z
    .int()
    .describe("Counts the edits of the graph, which `POST /workflows/:id/undo` can take back."),
  nextRunAt: instant.nullable().describe("For an enabled SCHEDULE."),
  pausedAt: instant
    .nullable()
    .describe("Since when executions wait before their next step. null unless the workflow is paused."),
  pausedReason: pausedReason
    .nullable()
    .describe("The endpoint that failed, if the workflow paused automatically. Otherwise null."),
  confirmedProblems: z
    .array(z.enum(CONFIRMABLE_PROBLEMS))
    .describe("Problems confirmed by the author. They are warnings and don't prevent enabling the workflow."),
  createdAt: instant,
  updatedAt: instant,
});

const listed = record.extend({
  _count: z.object({
    steps: z.int(),
    executions: z.int(),
    active: z.int().describe("Running or waiting executions."),
    failed: z.int().describe("Executions that are failed now and can be retried or skipped."),
    failedLast7Days: z.int().describe("Failed executions that failed in the last 7 days."),
  }),
  last30Days: z
    .object({
      entered: z.int(),
      completed: z.int(),
      failed: z.int(),
      goals: z.int(),
      goalRate: z.number().nullable(),
    })
    .describe(
      "Executions that started since `countedSince`, and how many of them reached the end or an EXIT, are failed, or reached the goal. `goalRate` is the share of executions with a goal.",
    ),
});

export const workflow = record.extend({
  currentMembers: z
    .int()
    .nullable()
    .describe("Contacts that `includeMembers` would let enter. null unless disabled with SEGMENT_ENTRY."),
  failedExecutions: z.int().describe("Executions that are failed now and can be retried or skipped."),
  problems: z.array(workflowProblem),
  exitConditions: shownExitConditions,
  goal: shownGoal,
  steps: z.array(step).describe("Oldest first; the first is the TRIGGER."),
  transitions: z.array(transition),
});

export const workflowDescription = z
  .string()
  .max(LIMITS.descriptionLength.value)
  .nullable()
  .describe("null for none.");

export const pagesQuery = z.object({
  page: queryInteger(1, LIMITS.pageNumber.value, "The page, starting at 1.").optional(),
  pageSize: queryInteger(
    1,
    LIMITS.pageSizeMaximum.value,
    `Items per page; default ${LIMITS.pageSizeDefault.value}.`,
  ).optional(),
});

/** A list with numbered pages. */
export function pageList<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    total: z.int(),
    page: z.int(),
    pageSize: z.int(),
    totalPages: z.int(),
  });
}

const WORKFLOW_SORTS = ["name", "createdAt", "updatedAt", "steps"] as const;

export const listWorkflows = endpoint({
  name: "workflows.list",
  method: "GET",
  path: "/workflows",
  summary: "List workflows",
  description:
    "Newest first, unless there is a `sort`. `problems`, steps and transitions are only returned for a single workflow.",
  caller: "project",
  query: pagesQuery.extend({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the name or the description, case-insensitive."),
    status: z.enum(["active", "disabled"]).optional().describe("`active` means enabled workflows."),
    folder: nameText.optional().describe("Workflows of the folder with exactly this name."),
    tag: emailTag.optional().describe("Workflows with exactly this tag."),
    sort: z.enum(WORKFLOW_SORTS).optional(),
    dir: z.enum(["asc", "desc"]).optional().describe("Default: `asc` for name, otherwise `desc`."),
  }),
  responses: {
    200: pageList(listed).extend({
      folders: groupList.describe("All folders of the project by name, regardless of the filters."),
      tags: groupList.describe("All tags of the project's workflows by name, regardless of the filters."),
      countedSince: instant.describe(
        `The start of \`last30Days\`: 30 days ago, or later if over ${LIMITS.recentExecutionsCounted.value} executions of the project have started since.`,
      ),
    }),
  },
});

const ALWAYS_DISABLED = "New workflows have the trigger EVENT and are disabled, regardless of the body.";

export const createWorkflow = endpoint({
  name: "workflows.create",
  method: "POST",
  path: "/workflows",
  summary: "Create a workflow",
  description: `${ALWAYS_DISABLED} The step TRIGGER is created with it.`,
  caller: "project",
  body: z.object({
    name: nameText,
    description: workflowDescription.optional(),
    folder: workflowFolder.optional(),
    tags: workflowTags.optional(),
    eventName: awaitedEventName
      .optional()
      .describe("The event that starts it; alias of `triggerConfig.eventName`."),
    triggerConfig: TRIGGER_CONFIGS.EVENT.partial().optional(),
    allowReentry: z.boolean().optional(),
  }),
  unknownFields: "refused-unless-returned",
  responses: { 201: workflow },
  errors: ["CONFLICT"],
});

export const getWorkflow = endpoint({
  name: "workflows.get",
  method: "GET",
  path: "/workflows/:id",
  summary: "Read a workflow",
  description: "Includes its steps, transitions and problems.",
  caller: "project",
  params: byWorkflow,
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND"],
});

export const updateWorkflow = endpoint({
  name: "workflows.update",
  method: "PATCH",
  path: "/workflows/:id",
  summary: "Change a workflow's name, trigger or settings, enable or disable it",
  description:
    "Only the given fields change. A problem with severity `error` prevents enabling it, and no edit can bring one into an enabled workflow. A disabled workflow starts nothing new, and running executions continue.",
  caller: "project",
  params: byWorkflow,
  body: z
    .object({
      name: nameText.optional(),
      description: workflowDescription.optional(),
      folder: workflowFolder.optional(),
      tags: workflowTags.optional(),
      enabled: z.boolean().optional(),
      includeMembers: z
        .boolean()
        .optional()
        .describe(
          "With `enabled: true` and the trigger SEGMENT_ENTRY, the current members of the segment enter, too, in the background. Default false.",
        ),
      triggerType: z.enum(TRIGGER_TYPES).optional(),
      triggerConfig: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          'EVENT: `{ eventName, filter? }`. SEGMENT_ENTRY, SEGMENT_EXIT: `{ segmentId }` of a tracked segment. SCHEDULE: `{ cron, timezone? }` with `segmentId`, `audienceFilter`, or `audienceType: "ALL"` for everyone. DATE: `{ dateField, amount?, unit?, direction?, until?, timezone?, repeat?, segmentId?, audienceFilter? }`. MANUAL: `{}`.',
        ),
      eventName: awaitedEventName.optional().describe("Alias of `triggerConfig.eventName`."),
      allowReentry: z.boolean().optional(),
      exitConditions: exitConditions
        .optional()
        .describe(
          "Replaces the exit conditions in a new version of the graph. Executions keep those they started with.",
        ),
      goal: goal.optional(),
      confirmedProblems: z
        .array(z.enum(CONFIRMABLE_PROBLEMS))
        .max(CONFIRMABLE_PROBLEMS.length)
        .optional()
        .describe(
          "Confirms that a loop (`TRIGGERS_ITSELF`) or a schedule that runs more often than daily for everyone (`FREQUENT_SCHEDULE`) is intended. Replaces the previous confirmations.",
        ),
      expectedUpdatedAt,
    })
    .superRefine(({ triggerType, triggerConfig, eventName }, context) => {
      if (triggerType === undefined || triggerConfig === undefined) return;
      const config = eventName === undefined ? triggerConfig : { ...triggerConfig, eventName };
      addFaults(TRIGGER_CONFIGS[triggerType], config, "triggerConfig", context);
      if (triggerType !== "EVENT" && eventName !== undefined)
        context.addIssue(issue("Only allowed with the trigger EVENT.", "custom", eventName, ["eventName"]));
    }),
  unknownFields: "refused-unless-returned",
  responses: { 200: workflow },
  errors: ["WORKFLOW_NOT_FOUND", "CHANGED_MEANWHILE"],
});

export const deleteWorkflow = endpoint({
  name: "workflows.delete",
  method: "DELETE",
  path: "/workflows/:id",
  summary: "Delete a workflow",
  description:
    "Deletes it with the history of its executions. 409 while an execution is active; cancel it first.",
  caller: "project",
  params: byWorkflow,
  responses: { 204: null },
  errors: ["WORKFLOW_NOT_FOUND", "CONFLICT"],
});

export const duplicateWorkflow = endpoint({
  name: "workflows.duplicate",
  method: "POST",
  path: "/workflows/:id/duplicate",
  summary: "Copy a workflow",
  description: "The copy is disabled, keeps folder and tags, has new ids, and its name ends in ` (copy)`.",
  caller: "project",
  params: byWorkflow,
  responses: { 201: workflow },
  errors: ["WORKFLOW_NOT_FOUND", "CONFLICT"],
});
