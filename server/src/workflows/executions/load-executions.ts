// Converts claimed rows to executions in memory, each with its version of the graph.
import type { Database, Tx } from "../../platform/database/database.ts";
import { walkable, type Execution, type WalkableGraph } from "./execution.ts";
import {
  claimDueExecutions,
  findVersions,
  findWorkflowStates,
  type ExecutionRow,
  type WhichDue,
} from "./execution-queries.ts";
import { claimLeavingExecutions, type WhichLeaving } from "./exit-queries.ts";
import { unpackTrace } from "./stored-trace.ts";
import { CANCELLED_WITH_ALL } from "./walk.ts";

export interface Claimed {
  execution: Execution;
  now: Date;
  /** The reason if it is to be cancelled, or null. */
  cancelled: string | null;
  /** Whether its workflow is paused. */
  isPaused: boolean;
}

/** Locks due executions of a project until the end of the transaction. */
export async function claimExecutions(tx: Tx, projectId: string, which: WhichDue): Promise<Claimed[]> {
  return asClaimed(tx, projectId, await claimDueExecutions(tx, projectId, which));
}

/** Locks active executions of contacts in versions whose exit conditions some events can meet, by id. */
export async function claimLeaving(tx: Tx, projectId: string, which: WhichLeaving): Promise<Claimed[]> {
  return asClaimed(tx, projectId, await claimLeavingExecutions(tx, projectId, which));
}

async function asClaimed(tx: Tx, projectId: string, rows: readonly ExecutionRow[]): Promise<Claimed[]> {
  if (rows.length === 0) return [];
  const ids = [...new Set(rows.map((row) => row.workflowId))];
  const states = new Map((await findWorkflowStates(tx, projectId, ids)).map((state) => [state.id, state]));
  const graphs = await readGraphs(tx, projectId, rows);
  return rows.flatMap((row) => {
    const state = states.get(row.workflowId);
    const graph = graphs.get(`${row.workflowId} ${row.version}`);
    if (state === undefined || graph === undefined) return [];
    const { name, triggerEvent } = state;
    const execution = asExecution(projectId, row, { name, triggerEvent, graph });
    const { now, isPaused, cancelledUntil } = state;
    return [{ execution, now, isPaused, cancelled: whyCancelled(row, cancelledUntil) }];
  });
}

/** Returns null for a deleted contact, because its execution ends anyway. */
function whyCancelled({ contactId, startedAt, exitReason }: ExecutionRow, until: Date | null): string | null {
  if (until !== null && startedAt <= until) return CANCELLED_WITH_ALL;
  return contactId === null ? null : exitReason;
}

/** Returns versions of graphs by `"<workflow> <version>"`. */
export async function readGraphs(
  database: Database,
  projectId: string,
  rows: ReadonlyArray<{ workflowId: string; version: number }>,
): Promise<Map<string, WalkableGraph>> {
  const wanted = new Map(rows.map((row) => [`${row.workflowId} ${row.version}`, row]));
  const versions = await findVersions(database, projectId, [...wanted.values()]);
  return new Map(versions.map((row) => [`${row.workflowId} ${row.version}`, walkable(row.graph)]));
}

function asExecution(
  projectId: string,
  row: ExecutionRow,
  { name, triggerEvent, graph }: { name: string; triggerEvent: string | null; graph: WalkableGraph },
): Execution {
  return {
    projectId,
    id: row.id,
    workflow: { id: row.workflowId, name },
    triggerEvent,
    version: row.version,
    graph,
    contactId: row.contactId,
    fromPublicKey: row.fromPublicKey,
    status: row.status as Execution["status"],
    stepId: row.stepId,
    dueAt: null,
    waitsFor: null,
    context: (row.context ?? {}) as Execution["context"],
    results: (row.results ?? {}) as Execution["results"],
    answer: (row.answer ?? null) as Execution["answer"],
    trace: unpackTrace(row.trace),
    moves: (row.moves ?? []) as Execution["moves"],
    exitReason: null,
    startedAt: row.startedAt,
  };
}
