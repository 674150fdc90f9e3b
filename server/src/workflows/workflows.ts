// Workflows as records: create, read, list, change, enable, copy, delete.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { waitNamesOf, type Graph, type TriggerType } from "@postloft/contract/workflows/graph.ts";
import type { ConfirmableProblem } from "@postloft/contract/workflows/problems.ts";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { Refusal, requireUnchanged } from "../platform/refusal.ts";
import { lockProject } from "../projects/projects.ts";
import { copyNameOf } from "../templates/rules.ts";
import { presentGraph, presentListed, presentRecord } from "./present.ts";
import {
  countActiveExecutions,
  countMatchingWorkflows,
  countWorkflows,
  deleteWorkflowRow,
  findWorkflow,
  insertVersion,
  insertWorkflow,
  listWorkflowRows,
  lockWorkflowToDelete,
  updateWorkflowRow,
  type NewWorkflow,
  type WorkflowFilter,
  type WorkflowOrder,
  type WorkflowRow,
} from "./queries.ts";
import { readProblems, refuseSelfTriggering, toCheck } from "./read-problems.ts";
import { lockSegments } from "./reference-queries.ts";
import { segmentIdsOf } from "./references.ts";
import { STEP_NAMES, withNewIds } from "./rules.ts";
import { lockGraph, requireSound } from "./save-graph.ts";
import { subscribeWorkflows } from "./subscriptions.ts";
import { checkTrigger, nextRunOf, type CheckedTrigger } from "./trigger.ts";

export type WorkflowView = Awaited<ReturnType<typeof getWorkflow>>;

/** @throws Refusal WORKFLOW_NOT_FOUND, the same for an id of another project. */
export async function getWorkflowRow(
  database: Database,
  projectId: string,
  id: string,
): Promise<WorkflowRow & { graph: Graph }> {
  const row = isId(id) ? await findWorkflow(database, projectId, id) : undefined;
  if (row === undefined) throw new Refusal("WORKFLOW_NOT_FOUND");
  return row;
}

/** A workflow with its graph and what is wrong with it. @throws Refusal WORKFLOW_NOT_FOUND. */
export async function getWorkflow(database: Database, projectId: string, id: string) {
  const row = await getWorkflowRow(database, projectId, id);
  return {
    ...presentRecord(row),
    problems: await readProblems(database, projectId, toCheck(row, row.graph)),
    ...presentGraph(row, row.graph),
  };
}

/** A page of workflows, with how many steps and executions each has. */
export async function listWorkflows(
  database: Database,
  projectId: string,
  filter: WorkflowFilter,
  request: { order: WorkflowOrder; page: number; pageSize: number },
) {
  const rows = await listWorkflowRows(database, projectId, filter, request);
  const total = await countMatchingWorkflows(database, projectId, filter);
  const { page, pageSize } = request;
  return {
    data: rows.map(presentListed),
    total,
    page,
    pageSize,
    totalPages: Math.ceil(total / pageSize),
  };
}

export interface WorkflowToCreate {
  name: string;
  description?: string | null | undefined;
  /** Unfinished as long as it names no event: the workflow cannot be enabled then. */
  triggerConfig?: { eventName?: string | undefined } | undefined;
  allowReentry?: boolean | undefined;
}

/** A disabled workflow with the trigger EVENT and nothing after it. @throws Refusal CONFLICT when the project has too many. */
export async function createWorkflow(
  tx: Tx,
  projectId: string,
  { name, description = null, triggerConfig = {}, allowReentry = false }: WorkflowToCreate,
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
    triggerType: "EVENT",
    triggerConfig,
    triggerEvent: triggerConfig.eventName ?? null,
    allowReentry,
  });
}

/**
 * Stores a new workflow, disabled, with a graph whose ids are nobody else's.
 * @throws Refusal CONFLICT when the project has too many; VALIDATION_ERROR for a graph that cannot be run.
 */
export async function storeWorkflow(
  tx: Tx,
  projectId: string,
  { graph, ...workflow }: Omit<NewWorkflow, "projectId" | "id"> & { graph: Graph },
): Promise<WorkflowView> {
  requireSound(graph);
  if ((await countWorkflows(tx, projectId)) >= LIMITS.workflows.value)
    throw new Refusal("CONFLICT", {
      message: `A project may have at most ${LIMITS.workflows.value} workflows: delete one first.`,
    });
  const id = newId();
  await insertWorkflow(tx, { projectId, id, ...workflow });
  await insertVersion(tx, { projectId, workflowId: id, version: 1, graph, waitNames: waitNamesOf(graph) });
  return getWorkflow(tx, projectId, id);
}

export interface WorkflowEdit {
  name?: string | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  triggerType?: TriggerType | undefined;
  triggerConfig?: Readonly<Record<string, unknown>> | undefined;
  /** The same as `triggerConfig.eventName`. */
  eventName?: string | undefined;
  allowReentry?: boolean | undefined;
  /** Replaces those that were confirmed. */
  confirmedProblems?: readonly ConfirmableProblem[] | undefined;
  expectedUpdatedAt?: string | undefined;
}

/**
 * Changes what is given.
 * @throws Refusal WORKFLOW_NOT_FOUND; CHANGED_MEANWHILE when it, or its graph, is not as it was read; VALIDATION_ERROR for a faulty trigger, and on `enabled` while there are problems of the
 * severity `error`, which it names.
 */
export async function updateWorkflow(
  tx: Tx,
  projectId: string,
  id: string,
  edit: WorkflowEdit,
): Promise<WorkflowView> {
  // Before the workflow, because others that lock both do it in this order: of two workflows that close a loop together, the second one sees the first.
  if (edit.enabled === true || edit.allowReentry === true || changesTrigger(edit))
    await lockProject(tx, projectId);
  const { row, graph } = await lockGraph(tx, projectId, id);
  requireUnchanged(row, edit.expectedUpdatedAt);
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
  if (enabled)
    await refuseSelfTriggering(tx, projectId, changed, row.enabled ? fieldOfLoop(edit) : "enabled");
  if (enabled && !row.enabled) {
    // Who deletes a segment asks for the workflows that stand on it: those that are enabled.
    await lockSegments(tx, projectId, segmentIdsOf(graph, changed.trigger));
    const problems = await readProblems(tx, projectId, changed);
    const errors = problems.filter(({ severity }) => severity === "error");
    if (errors.length > 0)
      throw new Refusal("VALIDATION_ERROR", {
        fields: [
          { field: "enabled", code: "custom", message: errors.map(({ message }) => message).join(" ") },
        ],
      });
  }
  const runs = trigger ?? { type: row.triggerType, config: row.triggerConfig };
  const isScheduledAnew = trigger !== null || enabled !== row.enabled;
  await updateWorkflowRow(tx, projectId, row.id, {
    name: edit.name,
    description: edit.description,
    enabled: edit.enabled,
    allowReentry: edit.allowReentry,
    confirmedProblems: edit.confirmedProblems,
    ...(trigger === null ? {} : columnsOf(trigger)),
    nextRunAt: isScheduledAnew ? nextRunOf(runs, enabled) : undefined,
  });
  if (isScheduledAnew) await subscribeWorkflows(tx, projectId);
  return getWorkflow(tx, projectId, row.id);
}

function changesTrigger({ triggerType, triggerConfig, eventName }: WorkflowEdit): boolean {
  return triggerType !== undefined || triggerConfig !== undefined || eventName !== undefined;
}

/** The field that an edit of an enabled workflow closes a loop with. */
function fieldOfLoop({ allowReentry, triggerConfig, eventName, triggerType }: WorkflowEdit): string {
  if (allowReentry === true) return "allowReentry";
  if (eventName !== undefined) return "eventName";
  if (triggerConfig !== undefined) return "triggerConfig";
  return triggerType === undefined ? "confirmedProblems" : "triggerType";
}

function columnsOf({ type, config, event }: CheckedTrigger) {
  return { triggerType: type, triggerConfig: JSON.stringify(config), triggerEvent: event };
}

/** The trigger as it will be; null when nothing is said about it. */
async function changedTrigger(
  tx: Tx,
  projectId: string,
  row: WorkflowRow,
  edit: WorkflowEdit,
): Promise<CheckedTrigger | null> {
  if (!changesTrigger(edit)) return null;
  const { triggerType, triggerConfig, eventName } = edit;
  const type = triggerType ?? row.triggerType;
  if (eventName !== undefined && type !== "EVENT")
    throw new Refusal("VALIDATION_ERROR", {
      fields: [{ field: "eventName", code: "custom", message: "Goes with the trigger EVENT only." }],
    });
  const before = type === row.triggerType ? row.triggerConfig : {};
  const config = { ...(triggerConfig ?? before), ...(eventName === undefined ? {} : { eventName }) };
  // Saying again what it is already asks for nothing: a workflow that names no event yet may say EVENT.
  if (triggerConfig === undefined && eventName === undefined && type === row.triggerType) return null;
  return checkTrigger(tx, projectId, { type, config });
}

/**
 * Deletes a workflow that nobody is in. Its version is locked before the workflow is against references: an execution that is
 * starting refers to the workflow after it locked the version.
 * @throws Refusal WORKFLOW_NOT_FOUND; CONFLICT while executions are under way.
 */
export async function deleteWorkflow(tx: Tx, projectId: string, id: string): Promise<void> {
  const { row } = await lockGraph(tx, projectId, id);
  await lockWorkflowToDelete(tx, projectId, row.id);
  const active = await countActiveExecutions(tx, projectId, row.id);
  if (active > 0)
    throw new Refusal("CONFLICT", {
      message: `${active === 1 ? "One execution is" : `${active} executions are`} under way: cancel them first, or wait until they have ended.`,
    });
  await deleteWorkflowRow(tx, projectId, row.id);
  await subscribeWorkflows(tx, projectId);
}

/** A disabled copy with ids of its own. @throws Refusal WORKFLOW_NOT_FOUND; CONFLICT when the project has too many. */
export async function duplicateWorkflow(tx: Tx, projectId: string, id: string): Promise<WorkflowView> {
  const row = await getWorkflowRow(tx, projectId, id);
  return storeWorkflow(tx, projectId, {
    name: copyNameOf(row.name),
    description: row.description,
    triggerType: row.triggerType,
    triggerConfig: row.triggerConfig,
    triggerEvent: row.triggerEvent,
    allowReentry: row.allowReentry,
    graph: withNewIds(row.graph, newId),
  });
}
