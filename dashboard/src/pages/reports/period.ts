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
  tz: timeZone(),
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

const DAY_MS = 86_400_000;
const utcMs = (date: string) => Date.parse(`${date}T00:00:00Z`);
const shift = (date: string, days: number) =>
  new Date(utcMs(date) + days * DAY_MS).toISOString().slice(0, 10);

/** Returns the number of days in a period. */
export function daysIn({ startDate, endDate }: Omit<Period, "tz">): number {
  return Math.round((utcMs(endDate) - utcMs(startDate)) / DAY_MS) + 1;
}

/** Returns the same number of days before a period, as the API compares it. */
export function previousPeriod({ startDate, endDate, tz }: Period): Period {
  const days = daysIn({ startDate, endDate });
  return { startDate: shift(startDate, -days), endDate: shift(startDate, -1), tz };
}

/** Returns the days that the API reads for a period, extended to the past. */
export function withDaysBefore({ startDate, ...period }: Period, days: number): Period {
  return { ...period, startDate: shift(startDate, -days) };
}

/** `LIMITS.reportDays`. All limits are 25 kB, and the home page loads this file. */
const MOST_DAYS = 732;

/** Returns whether the API accepts a period. */
export function isPeriod(startDate: string, endDate: string): boolean {
  const days = daysIn({ startDate, endDate });
  return days >= 1 && days <= MOST_DAYS;
}

/** Returns the name of the user's time zone, such as Europe/Berlin. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
