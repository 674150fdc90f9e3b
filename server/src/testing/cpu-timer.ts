// Measures CPU time of this process and its threads in tests, because wall time is longer on a busy machine.
import { leastTime } from "./least-time.ts";

/** Starts measuring. @returns a function for the milliseconds used since then */
export function startCpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}

/**
 * Measures work that has no side effects until a run stays below the limit, at most five times. Garbage collection and a shared
 * core add to single runs, and a quadratic algorithm exceeds the limit in all of them.
 * @returns the CPU time of the fastest run, in ms
 */
export async function leastCpuMs(limitMs: number, work: () => unknown): Promise<number> {
  return leastTime(limitMs, async () => {
    const cpuMs = startCpuTimer();
    await work();
    return cpuMs();
  });
}
