// A gentle load: a few requests a second, whatever the answers before them take, and how long each took.

export interface GentleLoad {
  /** How long each call took, ms. @throws Error when a call failed. */
  stop(): Promise<readonly number[]>;
}

/** Calls `perSecond` times a second until it is stopped, or `most` times. */
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
    // Told by `stop`: a call that fails before must not end the process.
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

/** The value that `share` (0…1) of all do not exceed; NaN where there is none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
