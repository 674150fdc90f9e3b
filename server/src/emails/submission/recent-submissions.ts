// Remembers emails that passed the pre-send check in the last minutes, in order. Entries are kept for as long as a standby may lag behind,
// up to a maximum number.
import { nowMs } from "../../platform/clock.ts";

export interface RecentSubmissions<Kept> {
  /** Adds an email, or moves it to the end if it is sent to another server. */
  passed(id: string, kept: Kept): void;
  get(id: string): Kept | undefined;
  forget(id: string): void;
  all(): Array<[id: string, kept: Kept]>;
  /** Since when the record is complete, in ms since 1970. */
  sinceMs(): number;
}

/** A standby that lags more than this is not supported. */
const REACH_MS = 5 * 60_000;

/** @param most the maximum number of emails, beyond which the oldest are dropped */
export function createRecentSubmissions<Kept>(most: number): RecentSubmissions<Kept> {
  const mails = new Map<string, { passedMs: number; kept: Kept }>();
  let sinceMs = nowMs();

  /** Drops entries that are too old or exceed the maximum. */
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
