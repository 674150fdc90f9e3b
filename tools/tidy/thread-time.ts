// Measures the CPU time of this thread on a possibly busy machine: the minimum of several attempts, relative to a baseline measured at the
// same time.
import { LIMITS } from "@postloft/contract/limits/limits.ts";

/** Maximum duration of a turn on an idle machine. */
export const MOST_MS = 20;
/** Busy machines also take more CPU time. Limit relative to replacing every character of a megabyte, which takes 20 ms when idle. */
const MOST_FLOORS = 3;
const FLOOR = "a".repeat(LIMITS.bodyBytes.value);
export const TRIES = 10;

/** Returns the CPU time of this thread in ms. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns the minimum of several attempts if all are too slow, because compilation and garbage collection slow some of them.
 * @param measure runs one attempt and returns its ms
 * @returns undefined if one attempt was fast enough
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
