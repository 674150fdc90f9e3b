// Traces as they are stored: without the instants that follow from the runs beside them. Most steps begin when the one before ended and
// take no time, and there is a row for each execution that ever was.
import type { StepRun } from "./execution.ts";

/** A run whose `at` is left out began with the one before it; one whose `end` is left out ended when the next one began. */
type StoredRun = Omit<StepRun, "at"> & { at?: number };

/** A trace as JSON to store. The last run keeps its end, or the lack of it: statements look at it. */
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

/** The trace that was stored. */
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
