// How a graph is changed: one step or transition more or less. Pure; each returns a new graph, which save-graph.ts checks.
import type {
  Branch,
  Graph,
  GraphStep,
  GraphTransition,
  StepType,
} from "@postloft/contract/workflows/graph.ts";

/** What a step is called whose author gave it no name. */
export const STEP_NAMES: Readonly<Record<StepType, string>> = {
  TRIGGER: "Trigger",
  SEND_EMAIL: "Send email",
  DELAY: "Delay",
  WAIT_FOR_EVENT: "Wait for event",
  CONDITION: "Condition",
  UPDATE_CONTACT: "Update contact",
  WEBHOOK: "Webhook",
  EXIT: "Exit",
};

/** The branch of a link that nobody named one for: a CONDITION's `yes`. */
export function usualBranchOf({ type }: Pick<GraphStep, "type">): Branch | null {
  return type === "CONDITION" ? "yes" : null;
}

/** The newest step that leads nowhere and could; null when there is none. */
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

/** Without a step and the transitions that touch it. What was behind it stays. */
export function withoutStep({ steps, transitions }: Graph, id: string): Graph {
  return {
    steps: steps.filter((step) => step.id !== id),
    transitions: transitions.filter(({ fromStepId, toStepId }) => fromStepId !== id && toStepId !== id),
  };
}

export function withoutTransition(graph: Graph, id: string): Graph {
  return { ...graph, transitions: graph.transitions.filter((transition) => transition.id !== id) };
}

/**
 * Without a step, what led to it leads to what was behind it. Transitions before it keep their ids. Null when it is not clear
 * where to: a step with branches of which not all lead to the same one, or a link from a step to itself would come about.
 */
export function spliced(graph: Graph, step: GraphStep): Graph | null {
  const out = graph.transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const behind = out[0]?.toStepId;
  if (behind === undefined) return withoutStep(graph, step.id);
  const isOne = out.every(({ toStepId }) => toStepId === behind);
  const isWhole = out.some(({ branch }) => branch === null) || out.length === 2;
  if (!isOne || !isWhole) return null;
  const before = graph.transitions.filter(({ toStepId }) => toStepId === step.id);
  if (before.some(({ fromStepId }) => fromStepId === behind)) return null;
  const rest = withoutStep(graph, step.id);
  const linked = graph.transitions.flatMap((one) =>
    one.toStepId === step.id ? [{ ...one, toStepId: behind }] : rest.transitions.includes(one) ? [one] : [],
  );
  return { steps: rest.steps, transitions: linked };
}

/** A new step in the middle of a transition, which keeps its id and its branch and leads to the new step from now on. */
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
  const { steps, transitions } = withStep(graph, step);
  const changed = transitions.map((one) => (one.id === transition.id ? { ...one, toStepId: step.id } : one));
  return { steps, transitions: [...changed, onward] };
}

/** The same graph with ids of its own; `newId` makes one. Both are in the same order. */
export function withNewIds({ steps, transitions }: Graph, newId: () => string): Graph {
  const ids = new Map(steps.map((step) => [step.id, newId()]));
  const idOf = (id: string) => ids.get(id) ?? id;
  return {
    steps: steps.map((step) => ({ ...step, id: idOf(step.id) })),
    transitions: transitions.map((one) => ({
      ...one,
      id: newId(),
      fromStepId: idOf(one.fromStepId),
      toStepId: idOf(one.toStepId),
    })),
  };
}
