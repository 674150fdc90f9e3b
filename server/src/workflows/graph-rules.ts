// Validates a graph from an edit, an import or an earlier version. Pure.
import {
  branchesOf,
  type Graph,
  type GraphStep,
  type GraphTransition,
} from "@postloft/contract/workflows/graph.ts";
import type { FieldCode } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { asMessage, withValues, type ErrorMessage, type Wording } from "@postloft/contract/translation.ts";

export interface GraphFault extends ErrorMessage {
  field: "steps" | "fromStepId" | "toStepId" | "branch";
  /** Index of the faulty transition. Null if the whole graph is at fault. */
  transition: number | null;
  code: FieldCode;
}

/** Returns whether a step takes time in every round of a loop. A past date takes none. */
const isResting = (step: GraphStep | undefined) =>
  step?.type === "WAIT_FOR_EVENT" || (step?.type === "DELAY" && step.config.dateField === undefined);

/** Returns everything that is wrong with a graph. Empty if the graph can run. */
export function checkGraph(graph: Graph): GraphFault[] {
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  const whole = wholeFaults(graph, steps.size);
  const single = graph.transitions.flatMap((one, at) => faultsOfTransition(one, at, steps));
  if (whole.length > 0 || single.length > 0) return [...whole, ...single];
  return [...faultsOfBranches(graph, steps), ...loops(graph, steps)];
}

function wholeFaults(graph: Graph, distinct: number): GraphFault[] {
  const faults: GraphFault[] = [];
  if (graph.steps.filter(({ type }) => type === "TRIGGER").length !== 1)
    faults.push(faultOfWhole("custom", "A workflow has exactly one TRIGGER."));
  if (distinct !== graph.steps.length) faults.push(faultOfWhole("custom", "Two steps have the same id."));
  if (graph.steps.length > LIMITS.workflowSteps.value)
    faults.push(
      faultOfWhole(
        "too_big",
        withValues("A workflow may have at most {most} steps.", { most: LIMITS.workflowSteps.value }),
      ),
    );
  if (JSON.stringify(graph).length > LIMITS.graphLength.value)
    faults.push(
      faultOfWhole(
        "too_big",
        withValues("The steps and transitions may have at most {most} characters in total, as JSON.", {
          most: LIMITS.graphLength.value,
        }),
      ),
    );
  return faults;
}

function faultOfWhole(code: FieldCode, wording: Wording): GraphFault {
  return { field: "steps", transition: null, code, ...asMessage(wording) };
}

function faultsOfTransition(
  { fromStepId, toStepId, branch }: GraphTransition,
  at: number,
  steps: ReadonlyMap<string, GraphStep>,
): GraphFault[] {
  const fault = (field: GraphFault["field"], wording: Wording, code: FieldCode = "custom"): GraphFault => ({
    field,
    transition: at,
    code,
    ...asMessage(wording),
  });
  const [from, to] = [steps.get(fromStepId), steps.get(toStepId)];
  const missing = [
    ...(from === undefined ? [fault("fromStepId", "Step not found in this workflow.")] : []),
    ...(to === undefined ? [fault("toStepId", "Step not found in this workflow.")] : []),
  ];
  if (from === undefined || to === undefined) return missing;
  if (from === to) return [fault("toStepId", "A step cannot lead to itself.")];
  if (to.type === "TRIGGER")
    return [fault("toStepId", "The TRIGGER is the start, so no step can lead to it.")];
  if (from.type === "EXIT")
    return [fault("fromStepId", "An EXIT is an end, so it can't lead to another step.")];
  const branches = branchesOf(from);
  const choice = branches.map((one) => `\`${one}\``).join(" or ");
  if (branch === null)
    return branches.length === 0 || from.type === "WAIT_FOR_EVENT"
      ? []
      : [
          fault(
            "branch",
            withValues("Required after a {type}: {branches}.", { type: from.type, branches: choice }),
            "required",
          ),
        ];
  if (branches.length === 0)
    return [
      fault("branch", withValues("A {type} step has no branches. Remove this field.", { type: from.type })),
    ];
  return branches.includes(branch)
    ? []
    : [
        fault(
          "branch",
          withValues("Must be {branches} after a {type}.", {
            branches: choice,
            type: from.type,
          }),
        ),
      ];
}

/** Allows one transition per branch, and one from a step without branches. */
function faultsOfBranches({ transitions }: Graph, steps: ReadonlyMap<string, GraphStep>): GraphFault[] {
  const taken = new Map<string, Set<string | null>>();
  return transitions.flatMap(({ fromStepId, branch }, at): GraphFault[] => {
    const before = taken.get(fromStepId) ?? new Set();
    taken.set(fromStepId, before);
    const isTaken = before.has(branch) || (before.size > 0 && (branch === null || before.has(null)));
    before.add(branch);
    if (!isTaken) return [];
    const from = steps.get(fromStepId);
    const hasBranches = from !== undefined && branchesOf(from).length > 0;
    const message = hasBranches
      ? branch === null || before.has(null)
        ? "Another transition has this branch already: one without a branch stands for both."
        : "Another transition has this branch already."
      : "This step already has a next step. Only CONDITION, BRANCH, RANDOM_SPLIT and WAIT_FOR_EVENT have branches.";
    return [{ field: hasBranches ? "branch" : "fromStepId", transition: at, code: "custom", message }];
  });
}

/** Returns each transition that closes a loop without a resting step, which would never rest. */
function loops({ transitions }: Graph, steps: ReadonlyMap<string, GraphStep>): GraphFault[] {
  const restless = new Map<string, string[]>();
  const faults: GraphFault[] = [];
  for (const [at, { fromStepId, toStepId }] of transitions.entries()) {
    if (isResting(steps.get(fromStepId)) || isResting(steps.get(toStepId))) continue;
    if (leadsTo(restless, toStepId, fromStepId))
      faults.push({
        field: "toStepId",
        transition: at,
        code: "custom",
        message:
          "This would be an endless loop. A loop needs a DELAY without `dateField` or a WAIT_FOR_EVENT.",
      });
    else restless.set(fromStepId, [...(restless.get(fromStepId) ?? []), toStepId]);
  }
  return faults;
}

/** Returns whether one step leads to another. A step always leads to itself. */
function leadsTo(ways: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  return reachableFrom(ways, [from]).has(to);
}

/** Returns the reachable steps, including those in `begin`. */
export function reachableFrom(
  ways: ReadonlyMap<string, readonly string[]>,
  begin: readonly string[],
): Set<string> {
  const reached = new Set<string>();
  const waiting = [...begin];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    waiting.push(...(ways.get(id) ?? []));
  }
  return reached;
}

/** Returns the steps that an execution at a step can still reach, including that step. */
export function stepsFrom({ transitions }: Pick<Graph, "transitions">, stepId: string): Set<string> {
  const ways = Map.groupBy(transitions, ({ fromStepId }) => fromStepId);
  return reachableFrom(
    new Map([...ways].map(([from, leaving]) => [from, leaving.map(({ toStepId }) => toStepId)])),
    [stepId],
  );
}

/**
 * Returns the first step after the TRIGGER. If the TRIGGER has no transition, returns the oldest step without an incoming one (decisions
 * §9).
 */
export function firstStepOf({ steps, transitions }: Graph): GraphStep | null {
  const trigger = steps.find(({ type }) => type === "TRIGGER");
  const out = transitions.find(({ fromStepId }) => fromStepId === trigger?.id);
  if (out !== undefined) return steps.find(({ id }) => id === out.toStepId) ?? null;
  const entered = new Set(transitions.map(({ toStepId }) => toStepId));
  return steps.find((step) => step !== trigger && !entered.has(step.id)) ?? null;
}
