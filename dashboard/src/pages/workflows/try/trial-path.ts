// Finds the steps and ways of a workflow that a trial went through. Pure.
import type { Plan, Way } from "../canvas/plan.ts";
import type { StepRun } from "./use-trial.ts";

export interface TrialPath {
  stepIds: ReadonlySet<string>;
  wayKeys: ReadonlySet<string>;
}

type Run = Pick<StepRun, "stepId" | "status" | "branch">;

/** Returns the steps that were reached, and the ways that were taken out of them. */
export function pathOf(runs: readonly Run[], plan: Plan): TrialPath {
  const left = runs.filter(({ status }) => status === "COMPLETED" || status === "SKIPPED");
  const ways = left.flatMap(({ stepId, branch }) => wayOf(plan.ways.get(stepId) ?? [], branch) ?? []);
  return {
    stepIds: new Set(runs.map(({ stepId }) => stepId)),
    wayKeys: new Set(ways.map(({ key }) => key)),
  };
}

/** Returns the way of a branch. A step can have one way for all of its branches. */
function wayOf(ways: readonly Way[], branch: Run["branch"]): Way | undefined {
  return ways.find((way) => way.branch === branch) ?? ways.find((way) => way.branch === null);
}
