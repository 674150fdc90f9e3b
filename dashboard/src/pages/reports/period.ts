// Days in the viewer's zone: the last ones, today among them, or those after something.

export interface Period {
  startDate: string;
  endDate: string;
  tz: string;
}

/** As 2027-01-31, by the viewer's calendar. */
const isoDay = (day: Date) =>
  [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");

const between = (first: Date, last: Date): Period => ({
  startDate: isoDay(first),
  endDate: isoDay(last),
  tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** By the calendar: where the clock changes a day has 23 hours or 25. */
function daysAfter(instant: Date, days: number): Date {
  const day = new Date(instant);
  day.setDate(day.getDate() + days);
  return day;
}

export function lastDays(days: number): Period {
  const now = new Date();
  return between(daysAfter(now, 1 - days), now);
}

/** From the day of an instant on, up to so many days, none of which is still to come. */
export function daysFrom(instant: string, days: number): Period {
  const first = new Date(instant);
  const last = daysAfter(first, days - 1);
  const now = new Date();
  return between(first, last < now ? last : now);
}
