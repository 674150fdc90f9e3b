// Undoes and redoes edits of a workflow's graph (docs/decisions/0145-undoing-edits-of-a-graph.md).
import { isDeepStrictEqual } from "node:util";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { lockGraph, saveGraph } from "./save-graph.ts";
import type { WhichWorkflow } from "./steps.ts";
import { findKeptGraph } from "./undo-queries.ts";
import { getWorkflow, type WorkflowView } from "./workflows.ts";

/**
 * Makes the graph of an earlier revision the current one. This is an edit too, so undoing it is a redo.
 * @throws AppError WORKFLOW_NOT_FOUND, CHANGED_MEANWHILE if the graph has another revision than expected, or VALIDATION_ERROR for a revision
 * that is too old, or a graph that brings an error into an enabled workflow
 */
export async function undoEdits(
  tx: Tx,
  { projectId, workflowId }: WhichWorkflow,
  { revision, expectedRevision }: { revision: number; expectedRevision: number },
): Promise<WorkflowView> {
  const locked = await lockGraph(tx, projectId, workflowId);
  const { row, graph } = locked;
  if (row.revision !== expectedRevision)
    throw new AppError(
      "CHANGED_MEANWHILE",
      withValues("The graph was edited in the meantime. Its revision is {revision} now.", {
        revision: row.revision,
      }),
    );
  const earlier = await findKeptGraph(tx, { projectId, workflowId: row.id, revision });
  if (earlier === undefined)
    throw invalidField(
      "revision",
      "custom",
      withValues("Only the last {most} edits can be undone.", { most: LIMITS.undoableEdits.value }),
    );
  await saveGraph(tx, projectId, locked, withNewTimes(graph, earlier, now().toISOString()));
  return getWorkflow(tx, projectId, row.id);
}

/** Marks the steps that differ as updated now, so that a panel with another state of the step notices it. */
function withNewTimes(current: Graph, earlier: Graph, updatedAt: string): Graph {
  const steps = new Map(current.steps.map((step) => [step.id, step]));
  return {
    ...earlier,
    steps: earlier.steps.map((step) =>
      isDeepStrictEqual(step, steps.get(step.id)) ? step : { ...step, updatedAt },
    ),
  };
}
