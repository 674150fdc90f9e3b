// What passed the handover check in the last minutes, in the order in which it passed: for as long as a standby may be behind, and no more
// than fits.
import { nowMs } from "../../platform/clock.ts";

export interface RecentHandovers<Kept> {
  /** A mail passed; again for one that goes another way. */
  passed(id: string, kept: Kept): void;
  get(id: string): Kept | undefined;
  forget(id: string): void;
  all(): Array<[id: string, kept: Kept]>;
  /** Since when nothing is missing, ms since 1970. */
  sinceMs(): number;
}

/** A standby that is further behind than this is no standby. */
const REACH_MS = 5 * 60_000;

/** @param most mails that are remembered: beyond it the oldest are forgotten */
export function createRecentHandovers<Kept>(most: number): RecentHandovers<Kept> {
  const mails = new Map<string, { passedMs: number; kept: Kept }>();
  let sinceMs = nowMs();

  /** Forgets the oldest: those that are too old, and more where there are too many. */
  function trim(atMs: number): void {
    for (const [id, { passedMs }] of mails) {
      const isOld = passedMs < atMs - REACH_MS;
      if (!isOld && mails.size <= most) return;
      mails.delete(id);
      sinceMs = isOld ? sinceMs : passedMs;
    }
  }

  return {
    passed(id, kept) {
      const passedMs = nowMs();
      mails.delete(id);
      mails.set(id, { passedMs, kept });
      trim(passedMs);
    },
    get: (id) => mails.get(id)?.kept,
    forget: (id) => void mails.delete(id),
    all: () => [...mails].map(([id, { kept }]) => [id, kept]),
    sinceMs: () => Math.max(sinceMs, nowMs() - REACH_MS),
  };
}
