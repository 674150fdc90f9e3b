// Days in the viewer's zone: the last ones, today among them, or those after something. Before it: the pages that show numbers of a time. After it: the server counts.
const DAY_MS = 86_400_000;
/** As 2027-01-31: the only calendar that writes days as the API does. */
const ISO_DAY = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });

export interface Period {
  startDate: string;
  endDate: string;
  tz: string;
}

const between = (firstMs: number, lastMs: number): Period => ({
  startDate: ISO_DAY.format(firstMs),
  endDate: ISO_DAY.format(lastMs),
  tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

export function lastDays(days: number): Period {
  const now = Date.now();
  return between(now - (days - 1) * DAY_MS, now);
}

/** From the day of an instant on, up to so many days, none of which is still to come. */
export function daysFrom(instant: string, days: number): Period {
  const first = Date.parse(instant);
  return between(first, Math.min(Date.now(), first + (days - 1) * DAY_MS));
}
