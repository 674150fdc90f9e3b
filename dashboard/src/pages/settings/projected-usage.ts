// Projects the usage of the month from its first days. Pure.

interface Projection {
  /** Emails at the end of the month at the same pace. */
  total: number;
  /** When the cap is reached at this pace, or null if not this month. */
  reachedAt: Date | null;
}

/** Months with fewer days say nothing about the remaining ones. */
const LEAST_SHARE = 1 / 31;

/** Returns the projection for the calendar month in UTC, like the caps, or null on its first day. */
export function projectUsage(usage: number, limit: number | null, now: Date): Projection | null {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const start = Date.UTC(year, month);
  const length = Date.UTC(year, month + 1) - start;
  const passed = now.getTime() - start;
  if (passed / length < LEAST_SHARE) return null;
  const total = Math.round((usage * length) / passed);
  const isReached = limit !== null && usage < limit && total >= limit && usage > 0;
  return { total, reachedAt: isReached ? new Date(start + (limit / usage) * passed) : null };
}
