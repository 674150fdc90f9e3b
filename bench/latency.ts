// A light load with a fixed rate, independent of response times, that records each duration.

export interface GentleLoad {
  /** Returns the duration of each call in ms. @throws Error if a call failed */
  stop(): Promise<readonly number[]>;
}

/** Calls `perSecond` times a second until stopped, or `most` times. */
export function startGentleLoad(
  perSecond: number,
  call: () => Promise<unknown>,
  most = Number.POSITIVE_INFINITY,
): GentleLoad {
  const calls: Array<Promise<number>> = [];
  async function timed(): Promise<number> {
    const startedMs = performance.now();
    await call();
    return performance.now() - startedMs;
  }
  const timer = setInterval(() => {
    const one = timed();
    // `stop` reports failed calls; without this handler a failed call would end the process.
    one.catch(() => {});
    if (calls.push(one) >= most) clearInterval(timer);
  }, 1_000 / perSecond);
  return {
    stop() {
      clearInterval(timer);
      return Promise.all(calls);
    },
  };
}

/** Returns the given percentile (`share` from 0 to 1), or NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
