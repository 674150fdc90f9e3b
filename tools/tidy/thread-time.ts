// What work takes of this thread, on a machine that may be busy: CPU time, the least of several tries, beside a floor measured then and
// there.
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** What a turn of the serving thread may take on a machine at rest. */
export const MOST_MS = 20;
/** Busy machines are slow in CPU time, too: so many times what replacing each character of a megabyte takes, which is 20 ms at rest. */
const MOST_FLOORS = 3;
const FLOOR = "a".repeat(LIMITS.bodyBytes.value);
export const TRIES = 5;

/** CPU time of this thread, ms. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Whether all of several tries take too long: code is compiled and garbage collected in some of them.
 *
 * @param measure tries once, and returns the ms that it took
 * @returns the least of them, ms; undefined when one was short enough
 */
export function tooLongMsOf(measure: () => number): number | undefined {
  let least = Infinity;
  for (let tries = 0; tries < TRIES; tries++) {
    const ms = measure();
    if (ms <= MOST_FLOORS * MOST_MS || ms <= MOST_FLOORS * cpuMsOf(() => FLOOR.replace(/a/g, "")))
      return undefined;
    least = Math.min(least, ms);
  }
  return least;
}
