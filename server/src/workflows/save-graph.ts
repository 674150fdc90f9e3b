// Stores a changed graph. Updates the current version until an execution has started on it, and adds a new version after that (decisions
// §9).
import { isDeepStrictEqual } from "node:util";
import { waitNamesOf, type Graph } from "@postloft/contract/workflows/graph.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { runnablePartOf } from "./compare-graphs.ts";
import { readExitNames } from "./exit-rules.ts";
import { checkGraph, type GraphFault } from "./graph-rules.ts";
import {
  deleteOldVersions,
  insertVersion,
  lockVersion,
  lockWorkflow,
  updateVersion,
  updateWorkflowRow,
  type WorkflowRow,
} from "./queries.ts";
import { refuseNewErrors, refuseSelfTriggering, toCheck } from "./read-problems.ts";
import { subscribeWorkflows } from "./subscriptions.ts";
import { keepGraph } from "./undo-queries.ts";

export interface LockedWorkflow {
  row: WorkflowRow;
  graph: Graph;
  /** Whether an execution has started on the graph. */
  isUsed: boolean;
}

/**
 * Locks a workflow and its current graph against other changes and starting executions, until the end of the transaction.
 * Locks the workflow before the version. The workflow's lock allows references, because an execution locks the version and then refers to
 * the workflow.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function lockGraph(tx: Tx, projectId: string, id: string): Promise<LockedWorkflow> {
  const row = isId(id) ? await lockWorkflow(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("WORKFLOW_NOT_FOUND");
  const version = await lockVersion(tx, projectId, row.id, row.version);
  if (version === undefined) throw new Error(`The workflow ${row.id} has no version ${row.version}.`);
  return { row, graph: version.graph, isUsed: version.isUsed };
}

/** @throws AppError VALIDATION_ERROR with everything that is wrong with the graph */
export function requireSound(
  graph: Graph,
  fieldOf: (fault: GraphFault) => string = ({ field }) => field,
): void {
  const faults = checkGraph(graph);
  if (faults.length > 0)
    throw new AppError("VALIDATION_ERROR", {
      fields: faults.map((fault) => ({ field: fieldOf(fault), code: fault.code, message: fault.message })),
    });
}

/** Returns the names of events that a version is stored with. */
export async function readNames(tx: Tx, projectId: string, graph: Graph) {
  return {
    waitNames: waitNamesOf(graph),
    exitNames: await readExitNames(tx, projectId, graph),
    goalName: graph.goal?.eventName ?? null,
  };
}

/**
 * Makes a graph the current one of a locked workflow.
 * @throws AppError VALIDATION_ERROR if the graph cannot run, or if it brings an error into an enabled workflow
 */
export async function saveGraph(
  tx: Tx,
  projectId: string,
  { row, isUsed, graph: before }: LockedWorkflow,
  graph: Graph,
  { asNewVersion = false }: { asNewVersion?: boolean } = {},
): Promise<void> {
  requireSound(graph);
  if (row.enabled) {
    const after = toCheck(row, graph);
    await refuseSelfTriggering(tx, projectId, after, "steps");
    await refuseNewErrors(tx, projectId, { before: toCheck(row, before), after }, "steps");
  }
  const isSame = runsTheSame(before, graph);
  await storeGraph(tx, projectId, { row, isUsed: isUsed && !isSame }, graph, { asNewVersion });
}

/** Returns whether two graphs differ at most in what only their authors see, so that executions can share a version. */
function runsTheSame(before: Graph, after: Graph): boolean {
  return isDeepStrictEqual(runnablePart(before), runnablePart(after));
}

const runnablePart = ({ steps, ...graph }: Graph) => ({ ...graph, steps: steps.map(runnablePartOf) });

/** Stores a sound graph of a locked workflow as its current one, without the checks of an enabled workflow. The previous one can be restored. */
export async function storeGraph(
  tx: Tx,
  projectId: string,
  { row, isUsed }: Pick<LockedWorkflow, "row" | "isUsed">,
  graph: Graph,
  { asNewVersion = false }: { asNewVersion?: boolean } = {},
): Promise<void> {
  const isNew = isUsed || asNewVersion;
  const version = isNew ? row.version + 1 : row.version;
  const kept = { version: row.version, kept: LIMITS.undoableEdits.value };
  await keepGraph(tx, { projectId, workflowId: row.id, revision: row.revision }, kept);
  const to = { projectId, workflowId: row.id, version, graph, ...(await readNames(tx, projectId, graph)) };
  if (isNew) {
    await insertVersion(tx, to);
    await deleteOldVersions(tx, { projectId, workflowId: row.id, kept: LIMITS.workflowVersions.value });
  } else await updateVersion(tx, to);
  await updateWorkflowRow(tx, projectId, row.id, { version, revision: row.revision + 1 });
  await subscribeWorkflows(tx, projectId);
}
