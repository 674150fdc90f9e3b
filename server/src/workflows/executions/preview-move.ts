// Shows who would move to the current version of a workflow, by version and step.
import { branchesOf, type GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { MoveGroup } from "@postloft/contract/workflows/moves.ts";
import type { Database } from "../../platform/database/database.ts";
import { getWorkflowRow } from "../workflows.ts";
import type { WalkableGraph } from "./execution.ts";
import { readGraphs } from "./load-executions.ts";
import { countMovable } from "./move-queries.ts";
import { changesOf, targetOf } from "./move-rules.ts";

const ALL = { stepIds: null, versions: null, executionIds: null };

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function previewMove(database: Database, projectId: string, workflowId: string) {
  const { id, version, updatedAt } = await getWorkflowRow(database, projectId, workflowId);
  const counted = await countMovable(database, projectId, { workflowId: id, version, selection: ALL });
  const versions = [version, ...counted.map((one) => one.version)];
  const graphs = await readGraphs(
    database,
    projectId,
    versions.map((one) => ({ workflowId: id, version: one })),
  );
  const to = graphs.get(`${id} ${version}`);
  const groups = counted.flatMap((group): MoveGroup[] => {
    const from = graphs.get(`${id} ${group.version}`);
    const step = from?.steps[from.placeOf.get(group.stepId) ?? -1];
    if (from === undefined || to === undefined || step === undefined) return [];
    const target = targetOf(from, to, group.stepId);
    return [
      {
        version: group.version,
        count: group.count,
        step: shown(step),
        target: target === undefined ? null : shown(target),
        changes: target === undefined ? [] : changesOf(step, target),
        next: target === undefined ? [] : nextOf(to, target),
      },
    ];
  });
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  return { version, updatedAt: updatedAt.toISOString(), total, groups };
}

const shown = ({ id, name, type }: GraphStep) => ({ id, name, type });

function nextOf(graph: WalkableGraph, step: GraphStep): MoveGroup["next"] {
  const branches = branchesOf(step);
  return (branches.length === 0 ? [null] : branches).map((branch) => {
    const next = graph.steps[graph.placeOf.get(graph.nextOf(step.id, branch) ?? "") ?? -1];
    return { branch, step: next === undefined ? null : shown(next) };
  });
}
