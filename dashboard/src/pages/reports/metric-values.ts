// Returns one number of the email report for each day, as a count or as a rate. Pure.
import type { Value } from "../../ui/chart-scale.ts";
import type { Metric } from "./search.ts";

/** A day of the API's timeseries. */
export type Day = Record<"emails" | "opens" | "clicks" | "bounces" | "complaints" | "refused", number>;

const COUNTS: Record<Metric, (day: Day) => number> = {
  sent: ({ emails }) => emails,
  opened: ({ opens }) => opens,
  clicked: ({ clicks }) => clicks,
  bounced: ({ bounces }) => bounces,
  complaints: ({ complaints }) => complaints,
};

/** Returns the number of emails that a metric is a percentage of, as in the API's rates. */
const baseOf = (metric: Metric, { emails, refused }: Day) =>
  metric === "bounced" ? emails + refused : emails;

/** Returns whether a search parameter names a metric. */
export const isMetric = (name: unknown): name is Metric =>
  typeof name === "string" && Object.hasOwn(COUNTS, name);

export const countsOf = (metric: Metric, days: readonly Day[]): number[] => days.map(COUNTS[metric]);

/** Returns the rate of each day and of the `window` days before it, in percent; null without emails. */
export function ratesOf(metric: Metric, days: readonly Day[], window = 0): Value[] {
  return days.map((_day, at) => rateOf(metric, days.slice(Math.max(0, at - window), at + 1)));
}

/** Returns the rate of several days together. */
export function rateOf(metric: Metric, days: readonly Day[]): Value {
  const base = days.reduce((sum, day) => sum + baseOf(metric, day), 0);
  if (base === 0) return null;
  const count = days.reduce((sum, day) => sum + COUNTS[metric](day), 0);
  return Math.round((1_000_000 * count) / base) / 10_000;
}
