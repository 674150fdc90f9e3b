// For tests: what work costs in CPU time of this process, its threads among it. By the clock a busy machine takes longer.

/** Starts now. @returns what was used since, ms */
export function startCpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
