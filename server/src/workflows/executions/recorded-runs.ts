// Decides which recorded runs of an execution another graph repeats, so that a replay simulates only what would have been different
// (decision 0147). Pure.
import { isDeepStrictEqual } from "node:util";
import { filterOfCondition, shownField } from "@postloft/contract/workflows/condition.ts";
import { conditionsOf } from "@postloft/contract/filters.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import { runnablePartOf } from "../compare-graphs.ts";
import { takenBranch, type StepRun, type WalkableGraph, type WebhookResponse } from "./execution.ts";
import type { TakeShare } from "./shares.ts";
import type { Simulation } from "./simulated-environment.ts";

export interface Repeated {
  /** Recorded runs that are the same in the other graph, with the indexes of its steps. */
  runs: StepRun[];
  /** Where the other graph continues differently, at a step or at the end. Null if everything is the same. */
  differsAt: { stepId: string | null; at: number } | null;
}

/** Returns the beginning of a recorded execution that another graph repeats. @param trace with the indexes of the former graph */
export function repeatRuns(
  trace: readonly StepRun[],
  former: WalkableGraph,
  graph: WalkableGraph,
  startedAt: Date,
): Repeated {
  const runs: StepRun[] = [];
  let place: string | null = graph.startStepId;
  let at = startedAt.getTime();
  const beginsTheSame = former.startStepId === graph.startStepId;
  if (!beginsTheSame || !isDeepStrictEqual(former.exitConditions, graph.exitConditions))
    return { runs, differsAt: { stepId: place, at } };
  for (const [index, run] of trace.entries()) {
    const step = former.steps[run.n];
    const counterpart = step === undefined ? undefined : stepById(graph, step.id);
    if (step === undefined || counterpart === undefined) return { runs, differsAt: { stepId: place, at } };
    if (!isDeepStrictEqual(runnablePartOf(step), runnablePartOf(counterpart)))
      return { runs, differsAt: { stepId: step.id, at: run.at } };
    runs.push({ ...run, n: graph.placeOf.get(step.id) ?? -1 });
    if (run.end === undefined) break;
    at = run.end;
    if (endsHere(run)) continue;
    const branch = takenBranch(run) ?? null;
    place = graph.nextOf(step.id, branch);
    if (place !== former.nextOf(step.id, branch)) return { runs, differsAt: { stepId: place, at } };
    // A person may have moved the execution to another step, which is part of the record.
    const following = former.steps[trace[index + 1]?.n ?? -1]?.id;
    if (following !== undefined && graph.placeOf.has(following)) place = following;
  }
  return { runs, differsAt: null };
}

const stepById = (graph: WalkableGraph, id: string): GraphStep | undefined =>
  graph.steps[graph.placeOf.get(id) ?? -1];

/** Returns whether no transition follows a run: the next one, if any, is a retry. */
const endsHere = ({ is }: StepRun) => is === "FAILED" || is === "CANCELLED";

/** Results of a replay that no record can know, by step. */
export type Assumptions = Map<string, number>;

/** Counts a result of a step that is not recorded. */
export function assume(assumptions: Assumptions, stepId: string): void {
  assumptions.set(stepId, (assumptions.get(stepId) ?? 0) + 1);
}

/** The record of one execution and where a replay notes what is missing in it. */
export interface Recorded {
  trace: readonly StepRun[];
  former: WalkableGraph;
  /** The last results of steps, by step name. */
  results: Readonly<Record<string, unknown>>;
  /** The number of runs that the replay repeats. */
  repeated: number;
  assumptions: Assumptions;
}

/** Returns a function that takes the recorded shares of each split in order, and others where there is no record. */
export function recordedShares(recorded: Recorded, takeNew: TakeShare): TakeShare {
  const later = laterRuns(recorded);
  return (step) => {
    const branch = takenBranch(later.get(step.id)?.shift());
    const share = step.config.shares.find(({ name }) => name === branch);
    if (share === undefined) assume(recorded.assumptions, step.id);
    return share ?? takeNew(step);
  };
}

/** Returns a function that gives the recorded responses of each webhook in order, and status 200 where there is no record. */
export function recordedResponses(recorded: Recorded): Simulation["respond"] {
  const { former, results, assumptions } = recorded;
  const later = laterRuns(recorded);
  return (step) => {
    const [run, ...others] = later.get(step.id) ?? [];
    later.set(step.id, others);
    const before = stepById(former, step.id);
    const response =
      run === undefined ? null : responseOfRun(run, others.length === 0 ? results[step.name] : null);
    if (response !== null && before !== undefined && isDeepStrictEqual(before.config, step.config))
      return response;
    assume(assumptions, step.id);
    return { is: "done", status: 200, body: null };
  };
}

/** Returns the response that a run recorded, or null. Only the body of the last one is kept. */
function responseOfRun({ is, out, error = "" }: StepRun, result: unknown): WebhookResponse {
  if (is === "FAILED") return { is: "failed", error };
  const status = out?.["status"];
  const { body } = (result ?? {}) as { body?: unknown };
  return is !== undefined || typeof status !== "number" || body === undefined
    ? null
    : { is: "done", status, body };
}

/** Returns the recorded runs that are not repeated, by step. Failures that a person retried are left out. */
function laterRuns({ trace, former, repeated }: Recorded): Map<string, StepRun[]> {
  const runs = trace
    .slice(repeated)
    .filter((run, at, later) => run.is !== "FAILED" || at === later.length - 1);
  return Map.groupBy(runs, ({ n, step }) => (former.steps[n] ?? step)?.id ?? "");
}

/** Returns the steps that compare the contact's data. A replay uses the current data, because that of the time is not stored. */
export function stepsOnContacts({ steps }: WalkableGraph): ReadonlySet<string> {
  return new Set(steps.filter(readsContact).map(({ id }) => id));
}

function readsContact(step: GraphStep): boolean {
  return filtersOf(step)
    .flatMap((filter) => conditionsOf(filterOfCondition(filter)))
    .some(({ field }) => shownField(field) === field);
}

function filtersOf(step: GraphStep) {
  if (step.type === "CONDITION") return [step.config];
  return step.type === "BRANCH" ? step.config.branches.map(({ filter }) => filter) : [];
}
