// Limits how many emails of a project are sent per second. Uses token buckets, and each sending process gets a share of the rate
// (docs/decisions/0013-rates-are-divided-among-senders.md). Uses no timer and no database.
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

export interface ProjectRate {
  /**
   * Returns how many emails of a project may be claimed now. Infinity means no limit, as for platform email. `own` is the project's own
   * rate per second, which applies if it is lower than the installation's. Null means none.
   */
  allowance(projectId: string, own: number | null): number;
  /** Records that emails were claimed. */
  spend(projectId: string, count: number): void;
  /** Sets the number of processes that share the rates. */
  shareAmong(processes: number): void;
  /** Returns the milliseconds until a project limited since the last call may continue, or Infinity if there was none. */
  takeWaitMs(): number;
}

interface Bucket {
  tokens: number;
  /** Time up to which tokens have been added. */
  filledAtMs: number;
  /** Total rate of all processes. */
  perSecond: number;
}

/**
 * @param perSecond the rate per project for all processes together, 0 for no limit
 * @param nowMs a monotonic clock
 */
export function createProjectRate(
  perSecond: number,
  nowMs: () => number = () => performance.now(),
): ProjectRate {
  const buckets = new Map<string, Bucket>();
  let among = 1;
  let waitMs = Infinity;

  const share = (bucket: Bucket): number => bucket.perSecond / among;
  /** The burst is one second's share, but at least one email. */
  const capacity = (bucket: Bucket): number => Math.max(1, share(bucket));

  function fill(bucket: Bucket): Bucket {
    const now = nowMs();
    bucket.tokens = Math.min(
      capacity(bucket),
      bucket.tokens + ((now - bucket.filledAtMs) / 1000) * share(bucket),
    );
    bucket.filledAtMs = now;
    return bucket;
  }

  /** Returns the project's bucket, which starts full. A changed rate applies from now on. */
  function bucketOf(projectId: string, rate: number): Bucket {
    const known = buckets.get(projectId);
    const bucket = known ?? { tokens: Infinity, filledAtMs: nowMs(), perSecond: rate };
    if (known === undefined) buckets.set(projectId, bucket);
    fill(bucket);
    bucket.perSecond = rate;
    return fill(bucket);
  }

  return {
    allowance(projectId, own) {
      const isLimited = perSecond !== 0 && projectId !== SYSTEM_PROJECT_ID;
      const rate = Math.min(own ?? Infinity, isLimited ? perSecond : Infinity);
      if (rate === Infinity) {
        buckets.delete(projectId);
        return Infinity;
      }
      const bucket = bucketOf(projectId, rate);
      if (bucket.tokens < 1) waitMs = Math.min(waitMs, ((1 - bucket.tokens) / share(bucket)) * 1000);
      return Math.floor(bucket.tokens);
    },
    spend(projectId, count) {
      const bucket = buckets.get(projectId);
      if (bucket !== undefined) fill(bucket).tokens -= count;
    },
    shareAmong(processes) {
      among = Math.max(1, processes);
      // Drop full buckets, because a new bucket starts full too.
      for (const [projectId, bucket] of buckets)
        if (fill(bucket).tokens >= capacity(bucket)) buckets.delete(projectId);
    },
    takeWaitMs() {
      const taken = waitMs;
      waitMs = Infinity;
      return taken;
    },
  };
}
