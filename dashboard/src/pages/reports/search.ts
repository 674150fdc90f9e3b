// Search parameters of the reports page.
export const SPANS = [7, 30, 90, 365] as const;
export type Span = (typeof SPANS)[number];
export const SUBJECTS = ["mails", "audience", "events", "deliverability"] as const;
export type Subject = (typeof SUBJECTS)[number];
export const BREAKDOWNS = ["provider", "campaign", "template", "workflow", "kind"] as const;
export type Breakdown = (typeof BREAKDOWNS)[number];

export interface ReportsSearch {
  about?: Subject;
  days?: Span;
  by?: Breakdown;
}

/** Parses the search parameters and drops invalid ones. */
export function readReportsSearch({ about, days, by }: Record<string, unknown>): ReportsSearch {
  const known = SUBJECTS.find((one) => one === about);
  const span = SPANS.find((one) => one === Number(days));
  const dimension = BREAKDOWNS.find((one) => one === by);
  return {
    ...(known === undefined ? {} : { about: known }),
    ...(span === undefined ? {} : { days: span }),
    ...(dimension === undefined ? {} : { by: dimension }),
  };
}
