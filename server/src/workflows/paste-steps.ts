// Pastes copied steps into a workflow, also from other workflows and projects.
import type { CopiedSteps } from "@postloft/contract/workflows/paste.ts";
import type { Graph, GraphStep, GraphTransition } from "@postloft/contract/workflows/graph.ts";
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { graphOfExport, withResolved } from "./exchange-document.ts";
import { requireDistinctKeys, resolveSegments, resolveTemplates } from "./exchange.ts";
import type { GraphFault } from "./graph-rules.ts";
import { presentStep } from "./present.ts";
import { faultsOfStep, segmentIdsOfStep, templateIdsOf } from "./references.ts";
import { openEndOf } from "./rules.ts";
import { lockGraph, requireSound, saveGraph } from "./save-graph.ts";
import {
  findTransition,
  withSealed,
  type StepView,
  type WebhookDependencies,
  type WhichWorkflow,
} from "./steps.ts";

export interface StepsToPaste {
  copied: CopiedSteps;
  /** The transition into which the steps are inserted, or the step that leads to them. */
  transitionId?: string | undefined;
  fromStepId?: string | undefined;
  branch?: string | null | undefined;
}

/**
 * Adds copied steps with new ids and connects them.
 * @throws AppError WORKFLOW_NOT_FOUND, TRANSITION_NOT_FOUND, or VALIDATION_ERROR if the graph could not run with them
 */
export async function pasteSteps(
  tx: Tx,
  { workflowId, ...parts }: WhichWorkflow & WebhookDependencies,
  { copied, transitionId, fromStepId = "", branch = null }: StepsToPaste,
): Promise<StepView[]> {
  const { projectId } = parts;
  const locked = await lockGraph(tx, projectId, workflowId);
  requireOwnKeys(copied);
  const pasted = await resolvedSteps(tx, parts, copied);
  const [entry] = pasted.steps;
  if (entry === undefined) throw new Error("The contract requires a step.");
  const { steps, transitions } = locked.graph;
  const open: GraphTransition = { id: newId(), fromStepId, toStepId: entry.id, branch, priority: 0 };
  const connected =
    transitionId === undefined
      ? [...transitions, open]
      : insertedInto(transitions, findTransition(locked, transitionId), { pasted, entry });
  const graph = {
    ...locked.graph,
    steps: [...steps, ...pasted.steps],
    transitions: [...connected, ...pasted.transitions],
  };
  requireSound(graph, (fault) => fieldOf(fault, connected.length));
  await saveGraph(tx, projectId, locked, graph);
  return pasted.steps.map((step) => presentStep(locked.row, graph, step));
}

const ENDS = { fromStepId: "from", toStepId: "to", branch: "branch", steps: "steps" } as const;

/** Returns where the body has a fault: in the copied transitions, or in how they are connected. */
function fieldOf({ field, transition }: GraphFault, connected: number): string {
  if (transition === null) return "copied.steps";
  if (transition >= connected) return `copied.transitions.${transition - connected}.${ENDS[field]}`;
  return field === "branch" ? "branch" : "fromStepId";
}

/** @throws AppError VALIDATION_ERROR for a TRIGGER, for repeated keys, and for transitions to steps that were not copied */
function requireOwnKeys({ steps, transitions }: CopiedSteps): void {
  requireDistinctKeys(steps, "copied.steps");
  const trigger = steps.findIndex(({ type }) => type === "TRIGGER");
  if (trigger !== -1)
    throw invalidField(`copied.steps.${trigger}.type`, "custom", "A workflow has exactly one TRIGGER.");
  const keys = new Set(steps.map(({ key }) => key));
  for (const [at, one] of transitions.entries())
    for (const end of ["from", "to"] as const)
      if (!keys.has(one[end]))
        throw invalidField(`copied.transitions.${at}.${end}`, "custom", "No copied step has this key.");
}

/** Returns the copied steps with the ids of this project. A reference that it lacks becomes a problem of its step. */
async function resolvedSteps(
  tx: Tx,
  { projectId, targets, vault }: { projectId: string } & WebhookDependencies,
  copied: CopiedSteps,
): Promise<Graph> {
  const { steps, transitions } = graphOfExport(copied, { newId, at: now().toISOString() });
  const fields = steps.flatMap((step, at) =>
    faultsOfStep(step, targets).map((fault) => ({ ...fault, field: `copied.steps.${at}.${fault.field}` })),
  );
  if (fields.length > 0) throw new AppError("VALIDATION_ERROR", { fields });
  const resolved = {
    templates: await resolveTemplates(tx, projectId, copied, templateIdsOf({ steps })),
    segments: await resolveSegments(tx, projectId, copied, [...new Set(steps.flatMap(segmentIdsOfStep))]),
  };
  const here = steps.map((step): GraphStep => {
    const own = { ...withResolved(step, resolved), position: null };
    return own.type === "WEBHOOK" ? withSealed(vault, projectId, own) : own;
  });
  return { steps: here, transitions };
}

/** @throws AppError VALIDATION_ERROR if nothing can follow the steps, because the steps after them could not be reached */
function insertedInto(
  transitions: readonly GraphTransition[],
  between: GraphTransition,
  { pasted, entry }: { pasted: Graph; entry: GraphStep },
): GraphTransition[] {
  const end = openEndOf(pasted, entry);
  if (end === null)
    throw invalidField(
      "transitionId",
      "custom",
      "Nothing can follow these steps, because they end with an EXIT or a loop. Paste them at the end of a path.",
    );
  const onward: GraphTransition = { id: newId(), ...end, toStepId: between.toStepId, priority: 0 };
  const moved = transitions.map((one) => (one.id === between.id ? { ...one, toStepId: entry.id } : one));
  return [...moved, onward];
}
