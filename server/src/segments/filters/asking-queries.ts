// Shared context of the SQL conditions of one filter.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Question } from "./plan-filter.ts";
import { UNIT_MS, type Span } from "./rules.ts";

export type Fragment = RawBuilder<SqlBool>;

/** Shared context of the SQL conditions of one filter. */
export interface ConditionContext {
  projectId: string;
  /** Null means PostgreSQL's clock. */
  now: Date | null;
  /** Whether the statement reads only a few contacts, so that each one is looked up. */
  fewContacts: boolean;
  /** Keys of `data`, and names of events with the time of the last event to delete. */
  keysBeingDeleted: ReadonlySet<string>;
  eventsBeingDeleted: ReadonlyMap<string, string>;
  /** Overrides the strategy for some conditions, which PostgreSQL would otherwise join or look up as its planner decides. */
  ways: ReadonlyMap<Question, Way>;
}

/** `table` reads the few matches into a table in memory. `lookup` checks each contact. */
export type Way = "table" | "lookup";

export const joined = (fragments: readonly Fragment[], word: "and" | "or"): Fragment =>
  fragments.length === 0
    ? sql<SqlBool>`${sql.raw(word === "and" ? "true" : "false")}`
    : sql<SqlBool>`(${sql.join(fragments, sql.raw(` ${word} `))})`;

function nowOf({ now }: ConditionContext): RawBuilder<unknown> {
  return now === null ? sql`now()` : sql`${now.toISOString()}::timestamptz`;
}

/** Returns the time before now by the UTC calendar, independent of the session's time zone. */
export function instantBefore({ amount, unit }: Span, asking: ConditionContext): RawBuilder<unknown> {
  const instant = nowOf(asking);
  if (unit === "months")
    return sql`((${instant} at time zone 'UTC' - make_interval(months => ${amount}::int)) at time zone 'UTC')`;
  return sql`(${instant} - make_interval(secs => ${(amount * UNIT_MS[unit]) / 1000}::float8))`;
}

/** Returns the time from now to the end of a span, in the same way. */
export function rangeAhead({ amount, unit }: Span, asking: ConditionContext) {
  return { from: nowOf(asking), until: instantBefore({ amount: -amount, unit }, asking) };
}

/** Returns midnight (UTC) of today or of a later day, as a timestamp without a zone. */
export function midnightAhead(days: number, asking: ConditionContext): RawBuilder<unknown> {
  return sql`(date_trunc('day', ${nowOf(asking)} at time zone 'UTC') + make_interval(days => ${days}::int))`;
}
