// Packs traces for storage by omitting times that follow from neighbouring runs. Most steps start when the previous one ends and take no
// time, and the executions of all time are stored.
import type { StepRun } from "./execution.ts";

/** A run without `at` began with the previous one. A run without `end` ended when the next one began. */
type StoredRun = Omit<StepRun, "at"> & { at?: number };

/** Returns a trace as JSON. The last run keeps its end or the lack of one, because queries check it. */
export function packTrace(trace: readonly StepRun[]): string {
  const stored = trace.map(({ at, end, ...run }, place): StoredRun => {
    const follows = at === trace[place - 1]?.at && run.until === undefined;
    return {
      ...run,
      ...(follows ? {} : { at }),
      ...(end === undefined || end === trace[place + 1]?.at ? {} : { end }),
    };
  });
  return JSON.stringify(stored);
}

export function unpackTrace(stored: unknown): StepRun[] {
  let at = 0;
  const runs = (stored as StoredRun[]).map((run): StepRun => {
    at = run.at ?? at;
    return { ...run, at };
  });
  return runs.map((run, place) => {
    const next = runs[place + 1];
    return next === undefined || run.end !== undefined ? run : { ...run, end: next.at };
  });
}
