// Computes periods of days in the user's time zone.

export interface Period {
  startDate: string;
  endDate: string;
  tz: string;
}

/** Returns a date such as 2027-01-31 in the user's time zone. */
const isoDay = (day: Date) =>
  [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");

const between = (first: Date, last: Date): Period => ({
  startDate: isoDay(first),
  endDate: isoDay(last),
  tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Adds calendar days, because days with a clock change have 23 or 25 hours. */
function daysAfter(instant: Date, days: number): Date {
  const day = new Date(instant);
  day.setDate(day.getDate() + days);
  return day;
}

export function lastDays(days: number): Period {
  const now = new Date();
  return between(daysAfter(now, 1 - days), now);
}

/** Returns up to `days` days from the day of an instant, excluding future days. */
export function daysFrom(instant: string, days: number): Period {
  const first = new Date(instant);
  const last = daysAfter(first, days - 1);
  const now = new Date();
  return between(first, last < now ? last : now);
}
