// Measures in tests how long work blocks everything else on this thread.

/** Returns the longest turn of the event loop during `work`, in ms of CPU time, because wall time is longer on a busy machine. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
  };
  // Between two ticks there is one turn, or several that took a millisecond together. Checking each turn would keep a core busy.
  const ticks = setInterval(look, 1);
  await work();
  clearInterval(ticks);
  look();
  return longestMs;
}
