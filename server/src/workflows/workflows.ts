// Creates, reads, changes, enables, copies and deletes workflows.
import { isDeepStrictEqual } from "node:util";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import type { Graph, TriggerType } from "@postloft/contract/workflows/graph.ts";
import type { ConfirmableProblem } from "@postloft/contract/workflows/problems.ts";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { STEP_NAMES } from "@postloft/contract/workflows/step-names.ts";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { AppError, requireUnchanged } from "../platform/app-error.ts";
import { lockProject } from "../projects/projects.ts";
import { copyNameOf } from "../templates/rules.ts";
import { changedTrigger, changesTrigger, columnsOf, followTrigger } from "./change-trigger.ts";
import { checkExits, faultsOfGoal } from "./exit-rules.ts";
import { presentGraph, presentRecord } from "./present.ts";
import {
  countActiveExecutions,
  countFailedExecutions,
  countWorkflows,
  deleteWorkflowRow,
  findWorkflow,
  insertVersion,
  insertWorkflow,
  lockWorkflowToDelete,
  updateWorkflowRow,
  type NewWorkflow,
  type WorkflowRow,
} from "./queries.ts";
import { readProblems, refuseNewErrors, refuseSelfTriggering, toCheck } from "./read-problems.ts";
import { findMemberCount } from "./reference-queries.ts";
import { entrySegmentOf } from "./references.ts";
import { withNewIds } from "./rules.ts";
import { lockGraph, readNames, requireSound, storeGraph } from "./save-graph.ts";
import { subscribeWorkflows } from "./subscriptions.ts";
import { recordEnabled } from "./workflow-events.ts";
import { timesOf } from "./trigger.ts";

export type WorkflowView = Awaited<ReturnType<typeof getWorkflow>>;

/** @throws AppError WORKFLOW_NOT_FOUND, also for an id of another project */
export async function getWorkflowRow(
  database: Database,
  projectId: string,
  id: string,
): Promise<WorkflowRow & { graph: Graph }> {
  const row = isId(id) ? await findWorkflow(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("WORKFLOW_NOT_FOUND");
  return row;
}

/**
 * Returns a workflow with its graph and its problems.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getWorkflow(database: Database, projectId: string, id: string) {
  const row = await getWorkflowRow(database, projectId, id);
  const segmentId = row.enabled ? null : entrySegmentOf(row);
  return {
    ...presentRecord(row),
    currentMembers: segmentId === null ? null : await findMemberCount(database, projectId, segmentId),
    failedExecutions: await countFailedExecutions(database, projectId, row.id),
    problems: await readProblems(database, projectId, toCheck(row, row.graph)),
    ...presentGraph(row, row.graph),
  };
}

/** Returns tags in the given order, each once. */
export const withoutRepeats = (tags: readonly string[]): string[] => [...new Set(tags)];

export interface WorkflowToCreate {
  name: string;
  description?: string | null | undefined;
  folder?: string | null | undefined;
  tags?: readonly string[] | undefined;
  /** Without an event name the trigger is unfinished and the workflow cannot be enabled. */
  triggerConfig?: { eventName?: string | undefined } | undefined;
  allowReentry?: boolean | undefined;
}

/**
 * Creates a disabled workflow with an unlinked EVENT trigger.
 * @throws AppError CONFLICT if the project has too many workflows
 */
export async function createWorkflow(
  tx: Tx,
  projectId: string,
  {
    name,
    description = null,
    folder = null,
    tags = [],
    triggerConfig = {},
    allowReentry = false,
  }: WorkflowToCreate,
): Promise<WorkflowView> {
  const at = now().toISOString();
  const trigger = {
    id: newId(),
    type: "TRIGGER",
    name: STEP_NAMES.TRIGGER,
    config: {},
    position: null,
  } as const;
  const graph: Graph = { steps: [{ ...trigger, createdAt: at, updatedAt: at }], transitions: [] };
  return storeWorkflow(tx, projectId, {
    graph,
    name,
    description,
    folder,
    tags: withoutRepeats(tags),
    triggerType: "EVENT",
    triggerConfig,
    triggerEvent: triggerConfig.eventName ?? null,
    allowReentry,
  });
}

/**
 * Stores a new, disabled workflow. The ids in its graph must be unused.
 * @throws AppError CONFLICT if the project has too many workflows, VALIDATION_ERROR if the graph cannot run
 */
export async function storeWorkflow(
  tx: Tx,
  projectId: string,
  { graph, ...workflow }: Omit<NewWorkflow, "projectId" | "id"> & { graph: Graph },
): Promise<WorkflowView> {
  requireSound(graph);
  if ((await countWorkflows(tx, projectId)) >= LIMITS.workflows.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} workflows. Delete one first.", {
        most: LIMITS.workflows.value,
      }),
    );
  const id = newId();
  await insertWorkflow(tx, { projectId, id, ...workflow });
  const names = await readNames(tx, projectId, graph);
  await insertVersion(tx, { projectId, workflowId: id, version: 1, graph, ...names });
  return getWorkflow(tx, projectId, id);
}

export interface WorkflowEdit {
  name?: string | undefined;
  description?: string | null | undefined;
  folder?: string | null | undefined;
  tags?: readonly string[] | undefined;
  enabled?: boolean | undefined;
  triggerType?: TriggerType | undefined;
  triggerConfig?: Readonly<Record<string, unknown>> | undefined;
  /** Alias of `triggerConfig.eventName`. */
  eventName?: string | undefined;
  allowReentry?: boolean | undefined;
  exitConditions?: readonly ExitCondition[] | undefined;
  /** Null removes it. */
  goal?: Goal | null | undefined;
  /** Replaces the confirmed problems. */
  confirmedProblems?: readonly ConfirmableProblem[] | undefined;
  expectedUpdatedAt?: string | undefined;
}

/**
 * Changes the given fields.
 * @throws AppError WORKFLOW_NOT_FOUND
 * @throws AppError CHANGED_MEANWHILE if the workflow or its graph changed since it was read
 * @throws AppError VALIDATION_ERROR for a faulty trigger or exit condition, when enabling with problems of the severity `error`, or for an edit that brings one
 * into an enabled workflow
 */
export async function updateWorkflow(
  tx: Tx,
  projectId: string,
  id: string,
  edit: WorkflowEdit,
): Promise<WorkflowView> {
  // Locks the project before the workflow, the order that others use too. If two workflows close a loop at the same time, the second one
  // sees the first.
  if (edit.enabled === true || edit.allowReentry === true || changesTrigger(edit))
    await lockProject(tx, projectId);
  const locked = await lockGraph(tx, projectId, id);
  const { row, graph: before } = locked;
  requireUnchanged(row, edit.expectedUpdatedAt);
  const graph = await changedGraph(tx, projectId, before, edit);
  const trigger = await changedTrigger(tx, projectId, row, edit);
  const enabled = edit.enabled ?? row.enabled;
  const changed = toCheck(
    {
      ...row,
      ...(trigger === null
        ? {}
        : { triggerType: trigger.type, triggerConfig: { ...trigger.config }, triggerEvent: trigger.event }),
      name: edit.name ?? row.name,
      allowReentry: edit.allowReentry ?? row.allowReentry,
      confirmedProblems: [...(edit.confirmedProblems ?? row.confirmedProblems)],
    },
    graph,
  );
  if (enabled) {
    const field = row.enabled ? changedFieldOf(edit) : "enabled";
    await refuseSelfTriggering(tx, projectId, changed, field);
    const known = row.enabled ? toCheck(row, before) : null;
    await refuseNewErrors(tx, projectId, { before: known, after: changed }, field);
  }
  if (graph !== before) await storeGraph(tx, projectId, locked, graph);
  const runs = trigger ?? { type: row.triggerType, config: row.triggerConfig };
  const times = trigger !== null || enabled !== row.enabled ? timesOf(runs, enabled) : null;
  await updateWorkflowRow(tx, projectId, row.id, {
    name: edit.name,
    description: edit.description,
    folder: edit.folder,
    tags: edit.tags === undefined ? undefined : withoutRepeats(edit.tags),
    enabled: edit.enabled,
    allowReentry: edit.allowReentry,
    confirmedProblems: edit.confirmedProblems,
    ...(trigger === null ? {} : columnsOf(trigger)),
    ...times,
  });
  if (times !== null) await followTrigger(tx, projectId, { id: row.id, before: row, after: times });
  if (enabled !== row.enabled) await recordEnabled(tx, projectId, { ...changed, enabled });
  return getWorkflow(tx, projectId, row.id);
}

/** Returns the field of an edit that brings an error into an enabled workflow. */
function changedFieldOf(edit: WorkflowEdit): string {
  const { allowReentry, triggerConfig, eventName, triggerType, exitConditions, goal } = edit;
  if (allowReentry === true) return "allowReentry";
  if (eventName !== undefined) return "eventName";
  if (triggerConfig !== undefined) return "triggerConfig";
  if (exitConditions !== undefined) return "exitConditions";
  if (goal !== undefined) return "goal";
  return triggerType === undefined ? "confirmedProblems" : "triggerType";
}

/** Returns the graph with the exit conditions and the goal of an edit, or the same graph if they do not change. */
async function changedGraph(
  tx: Tx,
  projectId: string,
  graph: Graph,
  { exitConditions = graph.exitConditions ?? [], goal = graph.goal ?? null }: WorkflowEdit,
): Promise<Graph> {
  const isSame = isDeepStrictEqual(exitConditions, graph.exitConditions ?? []);
  if (isSame && isDeepStrictEqual(goal, graph.goal ?? null)) return graph;
  if (!isSame) await checkExits(tx, projectId, exitConditions);
  const { goal: _before, ...others } = graph;
  const changed = { ...others, exitConditions: [...exitConditions], ...(goal === null ? {} : { goal }) };
  const fields = faultsOfGoal(changed.goal);
  if (fields.length > 0) throw new AppError("VALIDATION_ERROR", { fields });
  requireSound(changed);
  return changed;
}

/**
 * Deletes a workflow without active executions.
 * Locks the version before it locks the workflow against references, because a starting execution locks the version first.
 * @throws AppError WORKFLOW_NOT_FOUND, or CONFLICT while executions are active
 */
export async function deleteWorkflow(tx: Tx, projectId: string, id: string): Promise<void> {
  const { row } = await lockGraph(tx, projectId, id);
  await lockWorkflowToDelete(tx, projectId, row.id);
  const active = await countActiveExecutions(tx, projectId, row.id);
  if (active > 0)
    throw new AppError(
      "CONFLICT",
      asMessage(
        active === 1
          ? "One execution is active. Cancel them first, or wait until they have ended."
          : withValues("{count} executions are active. Cancel them first, or wait until they have ended.", {
              count: active,
            }),
      ),
    );
  await deleteWorkflowRow(tx, projectId, row.id);
  await subscribeWorkflows(tx, projectId);
}

/**
 * Creates a disabled copy with new ids.
 * @throws AppError WORKFLOW_NOT_FOUND, or CONFLICT if the project has too many workflows
 */
export async function duplicateWorkflow(tx: Tx, projectId: string, id: string): Promise<WorkflowView> {
  const row = await getWorkflowRow(tx, projectId, id);
  return storeWorkflow(tx, projectId, {
    name: copyNameOf(row.name),
    description: row.description,
    folder: row.folder,
    tags: row.tags,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    triggerEvent: row.triggerEvent,
    allowReentry: row.allowReentry,
    graph: withNewIds(row.graph, newId),
  });
}
