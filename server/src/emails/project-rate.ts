// How many mails of one project may go out a second: token buckets, each sending process with its share of the rate
// (docs/decisions/0013-rates-are-shared-out.md). No timer, no database. Before it: sender.ts asks before it claims.

export interface ProjectRate {
  /** How many mails of a project may be claimed now; Infinity without a limit. */
  allowance(projectId: string): number;
  /** So many were claimed. */
  spend(projectId: string, count: number): void;
  /** Among how many processes the rate is shared from now on. */
  shareAmong(processes: number): void;
  /** Milliseconds until a project that was refused since the last call may go on; Infinity when none was. */
  takeWaitMs(): number;
}

interface Bucket {
  tokens: number;
  /** Up to when tokens have come in. */
  filledAtMs: number;
}

/** @param perSecond for all processes together; 0: no limit. @param nowMs monotonic. */
export function createProjectRate(
  perSecond: number,
  nowMs: () => number = () => performance.now(),
): ProjectRate {
  const buckets = new Map<string, Bucket>();
  let share = perSecond;
  let waitMs = Infinity;

  /** A second's worth may be saved up, and one mail at the least. */
  const capacity = (): number => Math.max(1, share);

  function filled(projectId: string): Bucket {
    const now = nowMs();
    const bucket = buckets.get(projectId) ?? { tokens: capacity(), filledAtMs: now };
    bucket.tokens = Math.min(capacity(), bucket.tokens + ((now - bucket.filledAtMs) / 1000) * share);
    bucket.filledAtMs = now;
    buckets.set(projectId, bucket);
    return bucket;
  }

  return {
    allowance(projectId) {
      if (perSecond === 0) return Infinity;
      const { tokens } = filled(projectId);
      if (tokens < 1) waitMs = Math.min(waitMs, ((1 - tokens) / share) * 1000);
      return Math.floor(tokens);
    },
    spend(projectId, count) {
      if (perSecond > 0) filled(projectId).tokens -= count;
    },
    shareAmong(processes) {
      share = perSecond / Math.max(1, processes);
      // A full bucket says nothing that a new one would not say.
      for (const projectId of buckets.keys())
        if (filled(projectId).tokens >= capacity()) buckets.delete(projectId);
    },
    takeWaitMs() {
      const taken = waitMs;
      waitMs = Infinity;
      return taken;
    },
  };
}
