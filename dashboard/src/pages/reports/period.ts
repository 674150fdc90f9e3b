// The last days, today among them, in the viewer's zone. Before it: the pages that show numbers of a time. After it: the server counts.
const DAY_MS = 86_400_000;
/** As 2027-01-31: the only calendar that writes days as the API does. */
const ISO_DAY = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });

export interface Period {
  startDate: string;
  endDate: string;
  tz: string;
}

export function lastDays(days: number): Period {
  const now = Date.now();
  return {
    startDate: ISO_DAY.format(now - (days - 1) * DAY_MS),
    endDate: ISO_DAY.format(now),
    tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}
