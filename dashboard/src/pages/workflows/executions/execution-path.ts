// Finds the steps and ways that an execution went through, also where a person skipped a failed step. Pure.
import type { Plan } from "../canvas/plan.ts";
import { pathOf, type TrialPath } from "../try/trial-path.ts";
import type { Execution } from "./execution-status.ts";

type Run = Pick<Execution["steps"][number], "stepId" | "status" | "branch">;

/** Returns the steps that were reached, and the ways that were taken out of them. */
export function executionPath(runs: readonly Run[], plan: Plan): TrialPath {
  const path = pathOf(runs, plan);
  const skipped = runs.flatMap(({ stepId, status }, place) => {
    const next = runs[place + 1];
    if (status !== "FAILED" || next === undefined || next.stepId === stepId) return [];
    const way = plan.ways.get(stepId)?.find(({ toStepId }) => toStepId === next.stepId);
    return way === undefined ? [] : [way.key];
  });
  return { ...path, wayKeys: new Set([...path.wayKeys, ...skipped]) };
}

/** Values that a step could read, by the names in its texts. */
export interface StepInput {
  event: Readonly<Record<string, unknown>>;
  steps: Readonly<Record<string, unknown>>;
}

/** Returns what a run could read of the execution: the data of the start, and the results of the steps before it. */
export function inputOf({ context, results, steps }: Execution, place: number): StepInput {
  const before = new Set(steps.slice(0, place).map(({ name }) => name));
  return {
    event: context,
    steps: Object.fromEntries(Object.entries(results).filter(([name]) => before.has(name))),
  };
}

/** Returns the version in which a run ended, or is now. A run that waited during a move ends in the later version. */
export function versionOf(
  { moves, version, steps }: Pick<Execution, "moves" | "version" | "steps">,
  place: number,
): number {
  const endedAt = Date.parse(steps[place]?.completedAt ?? "") || Infinity;
  const move = moves.find(({ at, stepsBefore }) => place < stepsBefore && endedAt <= Date.parse(at));
  return move?.fromVersion ?? version;
}

const REFERENCE = /\b(?:event|workflow|steps)(?:\.[\w-]+)+/g;

/** Returns the values of the input that the configuration of a step names, such as `event.plan`. */
export function readValues(
  config: unknown,
  { event, steps }: StepInput,
): Array<[name: string, value: unknown]> {
  const names = new Set(JSON.stringify(config).match(REFERENCE));
  const values: Readonly<Record<string, unknown>> = { event, workflow: event, steps };
  return [...names].map((name) => [name, valueAt(values, name.split("."))]);
}

/** Returns whether the configuration of a step names data of the contact. */
export function readsContact(config: unknown): boolean {
  return /\b(?:data|contact)\.\w/.test(JSON.stringify(config));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return valueAt((value as Readonly<Record<string, unknown>>)[key], rest);
}
