// For tests: how long work keeps everybody else of this thread waiting.

/** The longest turn of the event loop while `work` is done, ms of CPU time: by the clock a busy machine takes longer. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    before = process.threadCpuUsage();
  };
  // Between two ticks there is a turn, or several that took a millisecond together. Looking at each turn would keep a core busy.
  const ticks = setInterval(look, 1);
  await work();
  clearInterval(ticks);
  look();
  return longestMs;
}
