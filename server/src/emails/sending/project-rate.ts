// How many mails of one project may go out a second: token buckets, each sending process with its share of the rate
// (docs/decisions/0013-rates-are-shared-out.md). No timer, no database.
import { SYSTEM_PROJECT_ID } from "../system-mail/system-project.ts";

export interface ProjectRate {
  /**
   * How many mails of a project may be claimed now; Infinity without a limit, as for system mail. `own`: the mails a second that the project set for
   * itself, which count where they are fewer than those of the installation; null: none.
   */
  allowance(projectId: string, own: number | null): number;
  /** So many were claimed. */
  spend(projectId: string, count: number): void;
  /** Among how many processes the rates are shared from now on. */
  shareAmong(processes: number): void;
  /** Milliseconds until a project that was refused since the last call may go on; Infinity when none was. */
  takeWaitMs(): number;
}

interface Bucket {
  tokens: number;
  /** Up to when tokens have come in. */
  filledAtMs: number;
  /** For all processes together. */
  perSecond: number;
}

/** @param perSecond of each project, for all processes together; 0: no limit. @param nowMs monotonic. */
export function createProjectRate(
  perSecond: number,
  nowMs: () => number = () => performance.now(),
): ProjectRate {
  const buckets = new Map<string, Bucket>();
  let among = 1;
  let waitMs = Infinity;

  const share = (bucket: Bucket): number => bucket.perSecond / among;
  /** A second's worth may be saved up, and one mail at the least. */
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

  /** A new one is full. A rate that is changed counts from now on. */
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
      // A full bucket says nothing that a new one would not say.
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
