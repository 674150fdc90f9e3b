// Lists, reads, compares and restores earlier graphs of a workflow.
import { isDeepStrictEqual } from "node:util";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { compareItems } from "./compare-graphs.ts";
import { bareStep, masked, presentGraph, presentTransition } from "./present.ts";
import type { WorkflowRow } from "./queries.ts";
import { lockGraph, saveGraph } from "./save-graph.ts";
import { findVersion, listVersionRows, type VersionRow } from "./version-queries.ts";
import { getWorkflow, getWorkflowRow, type WorkflowView } from "./workflows.ts";

/** The largest `integer` of PostgreSQL, which is the type of the column. */
const LARGEST = 2_147_483_647;

function present(row: VersionRow, { version }: WorkflowRow) {
  return {
    version: row.version,
    isCurrent: row.version === version,
    isUsed: row.isUsed,
    createdAt: row.createdAt.toISOString(),
  };
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function listVersions(
  database: Database,
  projectId: string,
  workflowId: string,
  request: { page: number; pageSize: number },
) {
  const workflow = await getWorkflowRow(database, projectId, workflowId);
  const { rows, total } = await listVersionRows(database, projectId, workflow.id, request);
  return {
    data: rows.map((row) => ({ ...present(row, workflow), steps: row.steps, activeExecutions: row.active })),
    total,
    ...request,
    totalPages: Math.ceil(total / request.pageSize),
  };
}

/** @throws AppError VERSION_NOT_FOUND, also if the input is not a number */
async function readVersion(database: Database, projectId: string, workflow: { id: string }, written: string) {
  const number = /^[1-9]\d{0,9}$/.test(written) ? Number(written) : 0;
  const row =
    number > 0 && number <= LARGEST ? await findVersion(database, projectId, workflow.id, number) : undefined;
  if (row === undefined) throw new AppError("VERSION_NOT_FOUND");
  return row;
}

/** @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND */
export async function getVersion(database: Database, projectId: string, workflowId: string, version: string) {
  const workflow = await getWorkflowRow(database, projectId, workflowId);
  const row = await readVersion(database, projectId, workflow, version);
  return { ...present(row, workflow), ...presentGraph(workflow, row.graph) };
}

/**
 * Compares a version with another one, or with the current one.
 * @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND
 */
export async function compareVersions(
  database: Database,
  projectId: string,
  workflowId: string,
  { version, other }: { version: string; other: number | undefined },
) {
  const workflow = await getWorkflowRow(database, projectId, workflowId);
  const before = await readVersion(database, projectId, workflow, version);
  const after =
    other === undefined ? workflow : await readVersion(database, projectId, workflow, String(other));
  // Compares the stored steps, so that a changed credential is a difference, and masks the result.
  const stepsOf = ({ graph }: typeof before | typeof workflow) =>
    graph.steps.map((step) => bareStep(workflow, step));
  const exits = {
    before: before.graph.exitConditions ?? [],
    after: after.graph.exitConditions ?? [],
  };
  const goals = { before: before.graph.goal ?? null, after: after.graph.goal ?? null };
  const steps = compareItems(stepsOf(before), stepsOf(after));
  const transitionsOf = ({ graph }: typeof before | typeof workflow) =>
    graph.transitions.map((transition) => presentTransition(workflow.id, transition));
  return {
    version: before.version,
    with: after.version,
    steps: {
      added: steps.added.map(masked),
      removed: steps.removed.map(masked),
      changed: steps.changed.map((one) => ({ ...one, before: masked(one.before), after: masked(one.after) })),
    },
    transitions: compareItems(transitionsOf(before), transitionsOf(after)),
    exitConditions: isDeepStrictEqual(exits.before, exits.after) ? null : exits,
    goal: isDeepStrictEqual(goals.before, goals.after) ? null : goals,
  };
}

/**
 * Makes an earlier graph the current one. Always adds a new version, so that the previous graph can be restored too. `problems` reports
 * missing references.
 * @throws AppError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND
 */
export async function restoreVersion(
  tx: Tx,
  projectId: string,
  workflowId: string,
  version: string,
): Promise<WorkflowView> {
  const locked = await lockGraph(tx, projectId, workflowId);
  const { graph } = await readVersion(tx, projectId, locked.row, version);
  await saveGraph(tx, projectId, locked, graph, { asNewVersion: true });
  return getWorkflow(tx, projectId, locked.row.id);
}
