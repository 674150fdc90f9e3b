// Search parameters of the reports page.

export const SPANS = [7, 30, 90, 365] as const;
export type Span = (typeof SPANS)[number];
export const SUBJECTS = ["mails", "audience", "events", "deliverability"] as const;
export type Subject = (typeof SUBJECTS)[number];
export const BREAKDOWNS = ["provider", "campaign", "template", "workflow", "kind"] as const;
export type Breakdown = (typeof BREAKDOWNS)[number];
export type Metric = "sent" | "opened" | "clicked" | "bounced" | "complaints";

export interface ReportsSearch {
  about?: Subject;
  days?: Span;
  /** The first and the last day of a custom period, such as 2027-01-31. */
  from?: string;
  to?: string;
  by?: Breakdown;
  /** The number that the chart shows. */
  metric?: Metric;
}

/** The values of each parameter, or null if the page checks it. */
const CHOICES: Record<string, readonly unknown[] | null> = {
  about: SUBJECTS,
  by: BREAKDOWNS,
  days: SPANS,
  from: null,
  to: null,
  metric: null,
};

/** Parses the search parameters and drops invalid ones. Short, because every page loads it. */
export function readReportsSearch(search: Record<string, unknown>): ReportsSearch {
  const names = Object.keys(CHOICES).filter((name) => CHOICES[name]?.includes(search[name]) ?? search[name]);
  return Object.fromEntries(names.map((name) => [name, search[name]]));
}
