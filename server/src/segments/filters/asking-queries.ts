// What the questions of one filter have in common when they are asked in SQL.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Question } from "./plan-filter.ts";
import { UNIT_MS, type Span } from "./rules.ts";

export type Fragment = RawBuilder<SqlBool>;

/** What the fragments of one filter have in common. */
export interface Asking {
  projectId: string;
  /** Null: PostgreSQL's clock. */
  now: Date | null;
  /** Whether the statement looks at a few contacts only: then each is looked up by itself. */
  fewContacts: boolean;
  /** Keys of `data`, and names of events with the instant of the last one that goes. */
  keysBeingDeleted: ReadonlySet<string>;
  eventsBeingDeleted: ReadonlyMap<string, string>;
  /** How some questions are asked that PostgreSQL would join to the contacts, or look up for each, in a way of its own choice. */
  ways: ReadonlyMap<Question, Way>;
}

/** `table`: those who answer yes are few enough for a table in memory. `lookup`: each contact is looked up by itself. */
export type Way = "table" | "lookup";

/** The instant so long ago, by the calendar of UTC whatever the time zone of the session is. */
export function instantBefore({ amount, unit }: Span, { now }: Asking) {
  const instant = now === null ? sql`now()` : sql`${now.toISOString()}::timestamptz`;
  if (unit === "months")
    return sql`((${instant} at time zone 'UTC' - make_interval(months => ${amount}::int)) at time zone 'UTC')`;
  return sql`(${instant} - make_interval(secs => ${(amount * UNIT_MS[unit]) / 1000}::float8))`;
}
