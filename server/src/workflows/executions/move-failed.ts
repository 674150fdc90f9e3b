// Moves failed executions to the current graph if the step at which they failed can no longer run in their own version.
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import type { Tx } from "../../platform/database/database.ts";
import { listMaskedNames, listMaskedParameters } from "../../webhooks/webhook-vault.ts";
import { findKnownSegments, findKnownTemplates } from "../reference-queries.ts";
import { segmentIdsOfStep, templateIdOf, templateIdsOf } from "../references.ts";
import { markVersionsUsed } from "./entry-queries.ts";
import type { WalkableGraph } from "./execution.ts";
import { readGraphs } from "./load-executions.ts";
import { movedRun } from "./moved-trace.ts";
import { listTraces, moveExecutionRows } from "./move-queries.ts";
import { packTrace, unpackTrace } from "./stored-trace.ts";

/** A failed execution, which the caller has locked. */
export interface Failed {
  id: string;
  version: number;
  stepId: string;
}

/** Moves executions whose step refers to something deleted, if the step can run in the current graph. The others keep their version. */
export async function moveStuck(
  tx: Tx,
  projectId: string,
  { workflowId, version }: { workflowId: string; version: number },
  failed: readonly Failed[],
): Promise<void> {
  const former = failed.filter((one) => one.version !== version);
  if (former.length === 0) return;
  const rows = [...former, { version }].map((one) => ({ workflowId, version: one.version }));
  const graphs = await readGraphs(tx, projectId, rows);
  const graphOf = (of: number) => graphs.get(`${workflowId} ${of}`);
  const current = graphOf(version);
  if (current === undefined) return;
  const pairs = former.flatMap((one) => {
    const [from, to] = [stepOf(graphOf(one.version), one.stepId), stepOf(current, one.stepId)];
    return from === undefined || to === undefined ? [] : [{ one, from, to }];
  });
  const canRun = await findRunnable(
    tx,
    projectId,
    pairs.flatMap(({ from, to }) => [from, to]),
  );
  const moving = pairs.flatMap(({ one, from, to }) => (!canRun(from) && canRun(to) ? [one] : []));
  if (moving.length === 0) return;
  await markVersionsUsed(tx, projectId, [{ workflowId, version }]);
  const traces = await listTraces(
    tx,
    projectId,
    moving.map(({ id }) => id),
  );
  const moved = moving.flatMap(({ id, version: of }) => {
    const graph = graphOf(of);
    if (graph === undefined) return [];
    const trace = unpackTrace(traces.get(id) ?? []).map((run) => movedRun(run, graph, current));
    return [{ id, trace: packTrace(trace) }];
  });
  await moveExecutionRows(tx, projectId, { version, executions: moved });
}

const stepOf = (graph: WalkableGraph | undefined, id: string) => graph?.steps[graph.placeOf.get(id) ?? -1];

/** Returns a function that says whether everything that a step refers to exists. */
async function findRunnable(tx: Tx, projectId: string, steps: readonly GraphStep[]) {
  const templateIds = templateIdsOf({ steps });
  const segmentIds = [...new Set(steps.flatMap(segmentIdsOfStep))];
  const templates = new Set((await findKnownTemplates(tx, projectId, templateIds, 0)).map(({ id }) => id));
  const segments = new Set((await findKnownSegments(tx, projectId, segmentIds)).map(({ id }) => id));
  return (step: GraphStep): boolean => {
    if (step.type === "SEND_EMAIL") return templates.has(templateIdOf(step) ?? "");
    if (step.type !== "WEBHOOK") return segmentIdsOfStep(step).every((id) => segments.has(id));
    const { url, headers = {} } = step.config;
    return listMaskedParameters(url).length + listMaskedNames(headers).length === 0;
  };
}
