// Lists executions, and returns single ones with all their steps.
import type { ExecutionStatus, StepType } from "@postloft/contract/workflows/graph.ts";
import type { Database } from "../../platform/database/database.ts";
import { isId } from "../../platform/ids.ts";
import { AppError } from "../../platform/app-error.ts";
import { readEmailStatuses, type EmailState } from "../../emails/reading/email-statuses.ts";
import type { Move, StepRun, WalkableGraph } from "./execution.ts";
import { walkable } from "./execution.ts";
import {
  countExecutions,
  findExecution,
  findWorkflowRow,
  listExecutionRows,
  type ExecutionFilter,
  type ListedExecutionRow,
} from "./list-queries.ts";
import { unpackTrace } from "./stored-trace.ts";

const isoOf = (instant: Date | null) => instant?.toISOString() ?? null;

function presentListed(row: ListedExecutionRow) {
  const { stepId, stepName: name, stepType: type } = row;
  return {
    id: row.id,
    workflowId: row.workflowId,
    workflow: { id: row.workflowId, name: row.workflowName },
    version: row.version,
    contactId: row.contactId,
    contact: row.contactId === null ? null : { id: row.contactId, email: row.email ?? "" },
    status: row.status as ExecutionStatus,
    currentStepId: stepId,
    currentStep: stepId === null || name === null ? null : { id: stepId, name, type: type as StepType },
    waitsFor: row.waitsFor,
    nextAt: isoOf(row.dueAt),
    exitReason: row.exitReason,
    goalReachedAt: isoOf(row.goalReachedAt),
    startedAt: row.startedAt.toISOString(),
    completedAt: isoOf(row.endedAt),
  };
}

export function presentStepRun(run: StepRun, graph: WalkableGraph) {
  const step = graph.steps[run.n] ?? run.step;
  const { at, end, is, until, via = null, out = null, error = null } = run;
  return {
    stepId: step?.id ?? "",
    name: step?.name ?? "",
    type: step?.type ?? "TRIGGER",
    status: end === undefined ? ("WAITING" as const) : (is ?? ("COMPLETED" as const)),
    startedAt: new Date(at).toISOString(),
    completedAt: end === undefined ? null : new Date(end).toISOString(),
    waitsUntil: until === undefined ? null : new Date(until).toISOString(),
    branch: via,
    output: out,
    error,
  };
}

/** @throws AppError WORKFLOW_NOT_FOUND, EXECUTION_NOT_FOUND */
export async function getExecution(database: Database, projectId: string, workflowId: string, id: string) {
  await requireWorkflow(database, projectId, workflowId);
  const row = await requireExecution(database, projectId, workflowId, id);
  const graph = walkable(row.graph);
  const trace = unpackTrace(row.trace);
  const ids = trace.flatMap(({ out }) => (typeof out?.["emailId"] === "string" ? [out["emailId"]] : []));
  const mails = await readEmailStatuses(database, projectId, ids);
  return {
    ...presentListed(row),
    context: (row.context ?? {}) as Record<string, unknown>,
    results: (row.results ?? {}) as Record<string, unknown>,
    steps: trace.map((run) => ({ ...presentStepRun(run, graph), email: mailOf(run, mails) })),
    moves: ((row.moves ?? []) as Move[]).map(({ at, from, to, runs, isUndo = false }) => ({
      at: new Date(at).toISOString(),
      fromVersion: from,
      toVersion: to,
      isUndo,
      stepsBefore: runs,
    })),
  };
}

function mailOf({ out }: StepRun, mails: ReadonlyMap<string, EmailState>): EmailState | null {
  const id = out?.["emailId"];
  return typeof id === "string" ? (mails.get(id) ?? null) : null;
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function requireWorkflow(database: Database, projectId: string, id: string) {
  const row = isId(id) ? await findWorkflowRow(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("WORKFLOW_NOT_FOUND");
  return row;
}

/** @throws AppError EXECUTION_NOT_FOUND */
export async function requireExecution(
  database: Database,
  projectId: string,
  workflowId: string,
  id: string,
) {
  const row = isId(id) ? await findExecution(database, projectId, workflowId, id) : undefined;
  if (row === undefined) throw new AppError("EXECUTION_NOT_FOUND");
  return row;
}

/** Returns a page of executions, newest first. */
export async function listExecutions(
  database: Database,
  projectId: string,
  filter: ExecutionFilter,
  { page, pageSize }: { page: number; pageSize: number },
) {
  const total = await countExecutions(database, projectId, filter);
  const rows = await listExecutionRows(database, projectId, filter, {
    limit: pageSize,
    offset: (page - 1) * pageSize,
  });
  return { data: rows.map(presentListed), total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}
