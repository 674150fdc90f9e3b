// Adds, changes and removes steps and transitions of a graph. Pure. Each function returns a new graph, which save-graph.ts checks.
import {
  branchesOf,
  type Graph,
  type GraphStep,
  type GraphTransition,
} from "@postloft/contract/workflows/graph.ts";

/** Returns the default branch of a new transition, which is the first one. A WAIT_FOR_EVENT can leave by both. */
export function usualBranchOf(step: Pick<GraphStep, "type" | "config">): string | null {
  return step.type === "WAIT_FOR_EVENT" ? null : (branchesOf(step)[0] ?? null);
}

/** Returns the newest step without an outgoing transition that could have one, or null. */
export function newestLeaf({ steps, transitions }: Graph): GraphStep | null {
  const left = new Set(transitions.map(({ fromStepId }) => fromStepId));
  return steps.findLast(({ id, type }) => type !== "EXIT" && !left.has(id)) ?? null;
}

export function withStep(graph: Graph, step: GraphStep): Graph {
  return { ...graph, steps: [...graph.steps, step] };
}

export function withTransition(graph: Graph, transition: GraphTransition): Graph {
  return { ...graph, transitions: [...graph.transitions, transition] };
}

export function withChangedStep(graph: Graph, changed: GraphStep): Graph {
  return { ...graph, steps: graph.steps.map((step) => (step.id === changed.id ? changed : step)) };
}

/** Removes a step and its transitions. The steps after it stay. */
export function withoutStep(graph: Graph, id: string): Graph {
  const { steps, transitions } = graph;
  return {
    ...graph,
    steps: steps.filter((step) => step.id !== id),
    transitions: transitions.filter(({ fromStepId, toStepId }) => fromStepId !== id && toStepId !== id),
  };
}

export function withoutTransition(graph: Graph, id: string): Graph {
  return { ...graph, transitions: graph.transitions.filter((transition) => transition.id !== id) };
}

/**
 * Removes a step and redirects its incoming transitions, which keep their ids, to the step after it.
 * Branches that lead nowhere don't count, so an inserted step with branches can be removed again.
 * Returns null if the branches lead to different steps, or if a step would lead to itself.
 */
export function spliced(graph: Graph, step: GraphStep): Graph | null {
  const out = graph.transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const behind = out[0]?.toStepId;
  if (behind === undefined) return withoutStep(graph, step.id);
  if (out.some(({ toStepId }) => toStepId !== behind)) return null;
  const before = graph.transitions.filter(({ toStepId }) => toStepId === step.id);
  if (before.some(({ fromStepId }) => fromStepId === behind)) return null;
  const rest = withoutStep(graph, step.id);
  const linked = graph.transitions.flatMap((one) =>
    one.toStepId === step.id ? [{ ...one, toStepId: behind }] : rest.transitions.includes(one) ? [one] : [],
  );
  return { ...rest, transitions: linked };
}

/** Inserts a step into a transition. The transition keeps its id and branch and now leads to the new step. */
export function withInsertedStep(
  graph: Graph,
  { transition, step, newId }: { transition: GraphTransition; step: GraphStep; newId: string },
): Graph {
  const onward: GraphTransition = {
    id: newId,
    fromStepId: step.id,
    toStepId: transition.toStepId,
    branch: usualBranchOf(step),
    priority: 0,
  };
  const grown = withStep(graph, step);
  const changed = graph.transitions.map((one) =>
    one.id === transition.id ? { ...one, toStepId: step.id } : one,
  );
  return { ...grown, transitions: [...changed, onward] };
}

/**
 * Returns where a graph can continue: the first open branch on the way from a step, depth first. Null if every path ends with an EXIT or goes
 * back.
 */
export function openEndOf(
  graph: Graph,
  from: GraphStep,
  passed: Set<string> = new Set(),
): Pick<GraphTransition, "fromStepId" | "branch"> | null {
  if (from.type === "EXIT" || passed.has(from.id)) return null;
  passed.add(from.id);
  const out = graph.transitions.filter(({ fromStepId }) => fromStepId === from.id);
  if (out.length === 0) return { fromStepId: from.id, branch: usualBranchOf(from) };
  for (const branch of out.some((one) => one.branch === null) ? [null] : branchesOf(from)) {
    const way = out.find((one) => one.branch === branch);
    if (way === undefined) return { fromStepId: from.id, branch };
    const next = graph.steps.find(({ id }) => id === way.toStepId);
    const end = next === undefined ? null : openEndOf(graph, next, passed);
    if (end !== null) return end;
  }
  return null;
}

/** Returns the same graph with new ids, in the same order. */
export function withNewIds(graph: Graph, newId: () => string): Graph {
  const { steps, transitions } = graph;
  const ids = new Map(steps.map((step) => [step.id, newId()]));
  const idOf = (id: string) => ids.get(id) ?? id;
  return {
    ...graph,
    steps: steps.map((step) => ({ ...step, id: idOf(step.id) })),
    transitions: transitions.map((one) => ({
      ...one,
      id: newId(),
      fromStepId: idOf(one.fromStepId),
      toStepId: idOf(one.toStepId),
    })),
  };
}
