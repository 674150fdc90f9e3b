// Orders the graph of a workflow for the canvas and the outline: the ways out of each step, loops, and where branches join. Pure.
import {
  branchesOf,
  type GraphStep as StoredStep,
  type StepType,
} from "@postloft/contract/workflows/graph.ts";

export interface GraphStep {
  id: string;
  type: StepType;
  config: Readonly<Record<string, unknown>>;
}
export interface GraphTransition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
}

/** A way out of a step. */
export interface Way {
  key: string;
  fromStepId: string;
  branch: string | null;
  /** Null if nothing follows yet, and for an implied way. */
  transitionId: string | null;
  toStepId: string | null;
  /** `branch` leads to a step that only this way reaches. `join` leads to a step shared with other ways, `loop` back to an earlier step. */
  kind: "branch" | "join" | "loop" | "open";
  /** Whether the engine follows it without a transition, because the TRIGGER has none. */
  isImplied: boolean;
}

export interface Plan {
  /** The TRIGGER, then the steps that nothing leads to, then the shared steps of those. */
  roots: readonly string[];
  ways: ReadonlyMap<string, readonly Way[]>;
  /** The steps in which the ways out of a step come together again, in order. */
  joins: ReadonlyMap<string, readonly string[]>;
}

export function planOf(steps: readonly GraphStep[], transitions: readonly GraphTransition[]): Plan {
  const ways = new Map(steps.map((step) => [step.id, waysOf(step, steps, transitions)]));
  const { order, roots, loops } = walk(steps, ways);
  const before = new Map<string, string[]>();
  for (const way of [...ways.values()].flat())
    if (way.toStepId !== null && !loops.has(way.key))
      before.set(way.toStepId, [...(before.get(way.toStepId) ?? []), way.fromStepId]);
  const owners = ownersOf(order, before);
  const isOwnBranch = ({ toStepId, fromStepId }: Way) =>
    toStepId !== null && before.get(toStepId)?.length === 1 && owners.get(toStepId) === fromStepId;
  const kindOf = (way: Way): Way["kind"] => {
    if (way.toStepId === null) return "open";
    if (loops.has(way.key)) return "loop";
    return isOwnBranch(way) ? "branch" : "join";
  };
  const sorted = new Map(
    [...ways].map(([id, out]) => [id, out.map((way) => ({ ...way, kind: kindOf(way) }))]),
  );
  const joins = new Map<string, string[]>();
  for (const id of order) {
    const owner = owners.get(id) ?? null;
    if ((before.get(id)?.length ?? 0) > 1 && owner !== null)
      joins.set(owner, [...(joins.get(owner) ?? []), id]);
  }
  // A step of a loop may be visited first although another loop leads to it.
  const hasNoOwner = (id: string) => owners.get(id) === null;
  const shared = order.filter((id) => hasNoOwner(id) && !roots.includes(id));
  return { roots: [...roots.filter(hasNoOwner), ...shared], ways: sorted, joins };
}

function waysOf(
  { id, type, config }: GraphStep,
  steps: readonly GraphStep[],
  transitions: readonly GraphTransition[],
): Way[] {
  if (type === "EXIT") return [];
  const out = transitions.filter(({ fromStepId }) => fromStepId === id);
  const way = (branch: string | null, transition?: GraphTransition): Way => ({
    key: `${id} ${branch ?? ""}`,
    fromStepId: id,
    branch,
    transitionId: transition?.id ?? null,
    toStepId: transition?.toStepId ?? null,
    kind: "open",
    isImplied: false,
  });
  const whole = out.find(({ branch }) => branch === null);
  const branches = whole === undefined ? branchesOf({ type, config } as StoredStep) : [];
  if (branches.length > 0)
    return branches.map((branch) =>
      way(
        branch,
        out.find((one) => one.branch === branch),
      ),
    );
  const first = type === "TRIGGER" && whole === undefined ? firstStepOf(steps, transitions) : null;
  return first === null ? [way(null, whole)] : [{ ...way(null), toStepId: first, isImplied: true }];
}

/** Returns the step at which executions begin while the TRIGGER has no transition. @param steps oldest first */
function firstStepOf(steps: readonly GraphStep[], transitions: readonly GraphTransition[]): string | null {
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  return steps.find(({ id, type }) => type !== "TRIGGER" && !reached.has(id))?.id ?? null;
}

/** Visits all steps in depth, from the TRIGGER first. Returns an order in which every way except loops leads forward. */
function walk(steps: readonly GraphStep[], ways: ReadonlyMap<string, readonly Way[]>) {
  const state = new Map<string, "open" | "done">();
  const loops = new Set<string>();
  const order: string[] = [];
  const visit = (id: string): void => {
    state.set(id, "open");
    // The last branch is visited first, because the order is reversed at the end.
    for (const { key, toStepId } of (ways.get(id) ?? []).toReversed()) {
      if (toStepId === null) continue;
      const seen = state.get(toStepId);
      if (seen === "open") loops.add(key);
      else if (seen === undefined) visit(toStepId);
    }
    state.set(id, "done");
    order.unshift(id);
  };
  const reached = new Set([...ways.values()].flat().map(({ toStepId }) => toStepId));
  const isStart = ({ id, type }: GraphStep) => type === "TRIGGER" || !reached.has(id);
  const starts = steps.filter(isStart).toSorted((one, other) => rankOf(one) - rankOf(other));
  const roots: string[] = [];
  for (const { id } of [...starts, ...steps]) {
    if (state.has(id)) continue;
    roots.push(id);
    visit(id);
  }
  return { order, roots, loops };
}

const rankOf = ({ type }: GraphStep) => (type === "TRIGGER" ? 0 : 1);

/**
 * Returns the owner of each step: the last step that all ways to it have in common (its immediate dominator), or null if there is none.
 * @param order every step after all steps before it
 */
function ownersOf(
  order: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string | null> {
  const owners = new Map<string, string | null>();
  const depths = new Map<string, number>();
  const depthOf = (id: string | null) => (id === null ? 0 : (depths.get(id) ?? 1));
  for (const id of order) {
    const [first = null, ...rest] = before.get(id) ?? [];
    let owner: string | null = first;
    for (const other of rest) {
      let [one, two]: Array<string | null> = [owner, other];
      while (one !== two) {
        if (depthOf(one ?? null) >= depthOf(two ?? null)) one = owners.get(one ?? "") ?? null;
        else two = owners.get(two ?? "") ?? null;
      }
      owner = one ?? null;
    }
    owners.set(id, owner);
    depths.set(id, depthOf(owner) + 1);
  }
  return owners;
}
