// Translates runs of a trace to another version of the graph. Pure.
import { endedBy, type StepRun, type WalkableGraph } from "./execution.ts";

/**
 * Returns a run with the index of its step in another graph. A step that is missing there is kept with the run. A wait keeps the name of its
 * event if it is different there, because an event ends only one wait.
 */
export function movedRun(run: StepRun, from: WalkableGraph, to: WalkableGraph): StepRun {
  const step = from.steps[run.n];
  const { id, name, type } = step ?? run.step ?? {};
  const n = id === undefined ? undefined : to.placeOf.get(id);
  const { step: _step, ...rest } = withEventName(run, step, n === undefined ? undefined : to.steps[n]);
  if (n !== undefined) return { ...rest, n };
  if (id === undefined || name === undefined || type === undefined) return { ...run, n: -1 };
  return { ...rest, n: -1, step: { id, name, type } };
}

type Step = WalkableGraph["steps"][number] | undefined;

function withEventName(run: StepRun, before: Step, after: Step): StepRun {
  if (before?.type !== "WAIT_FOR_EVENT" || endedBy(run) === null || run.out?.["eventName"] !== undefined)
    return run;
  const { eventName } = before.config;
  const isSame = after?.type === "WAIT_FOR_EVENT" && after.config.eventName === eventName;
  return isSame ? run : { ...run, out: { ...run.out, eventName } };
}
