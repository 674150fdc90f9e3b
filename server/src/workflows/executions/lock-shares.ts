// Locks the counts of the RANDOM_SPLIT steps that executions can reach, so that two processes never count the same contact.
import { branchesOf } from "@postloft/contract/workflows/graph.ts";
import type { Tx } from "../../platform/database/database.ts";
import { reachableFrom } from "../graph-rules.ts";
import type { Execution, WalkableGraph } from "./execution.ts";
import { lockStepCounts } from "./execution-queries.ts";
import { createShares, type TakeShare } from "./shares.ts";

/**
 * Returns a function that locks the counts on its first call, until the end of the transaction. Call it before the transaction locks
 * contacts, because another one may lock contacts while it waits for these counts.
 */
export function createShareLock(
  tx: Tx,
  projectId: string,
): (executions: readonly Execution[]) => Promise<TakeShare> {
  let locked: Promise<TakeShare> | undefined;
  return (executions) => (locked ??= lockShares(tx, projectId, executions));
}

async function lockShares(tx: Tx, projectId: string, executions: readonly Execution[]): Promise<TakeShare> {
  const byGraph = Map.groupBy(executions, ({ graph }) => graph);
  const steps = [...byGraph].flatMap(([graph, [first, ...others]]) =>
    first === undefined
      ? []
      : splitsFrom(graph, [first, ...others]).map((stepId) => ({ workflowId: first.workflow.id, stepId })),
  );
  // Executions of several versions share the counts of a step.
  const distinct = [...new Map(steps.map((step) => [step.stepId, step])).values()];
  const counts = distinct.length === 0 ? [] : await lockStepCounts(tx, projectId, distinct);
  const passed = new Map(counts.map((row) => [row.stepId, row.passed]));
  return createShares((stepId) => passed.get(stepId) ?? 0);
}

/** Returns the ids of the RANDOM_SPLIT steps that executions of a graph can reach. */
function splitsFrom({ steps, nextOf }: WalkableGraph, executions: readonly Execution[]): string[] {
  const splits = steps.filter(({ type }) => type === "RANDOM_SPLIT");
  if (splits.length === 0) return [];
  const ways = new Map(
    steps.map((step) => {
      const branches = branchesOf(step);
      const leaving = branches.length === 0 ? [null] : branches;
      return [step.id, leaving.flatMap((branch) => nextOf(step.id, branch) ?? [])];
    }),
  );
  const reached = reachableFrom(ways, [...new Set(executions.flatMap(({ stepId }) => stepId ?? []))]);
  return splits.flatMap(({ id }) => (reached.has(id) ? [id] : []));
}
