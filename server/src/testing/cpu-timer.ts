// Measures CPU time of this process and its threads in tests, because wall time is longer on a busy machine.

/** Starts measuring. @returns a function for the milliseconds used since then */
export function startCpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
