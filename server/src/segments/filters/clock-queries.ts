// Compiles comparisons of dates with the current time to SQL.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { FIRST_DATE } from "@postloft/contract/filter-dates.ts";
import {
  instantBefore,
  joined,
  midnightAhead,
  rangeAhead,
  type ConditionContext,
  type Fragment,
} from "./asking-queries.ts";
import { offsetDateFragment, utcDateFragment } from "./date-queries.ts";
import type { ClockTest } from "./plan-filter.ts";
import { textAt } from "./value-queries.ts";

/** Compares a column with the current time. A range of days can use an index on the column. */
export function columnClockFragment(
  column: RawBuilder<unknown>,
  test: ClockTest,
  asking: ConditionContext,
): Fragment {
  switch (test.is) {
    case "aged":
      return sql<SqlBool>`(${column} ${sql.raw(test.older ? "<" : ">=")} ${instantBefore(test.span, asking)})`;
    case "ahead": {
      const { from, until } = rangeAhead(test.span, asking);
      return sql<SqlBool>`(${column} >= ${from} and ${column} < ${until})`;
    }
    case "today":
      return sql<SqlBool>`(${column} >= (${midnightAhead(0, asking)} at time zone 'UTC')
        and ${column} < (${midnightAhead(1, asking)} at time zone 'UTC'))`;
    case "anniversary":
      return anniversaryFragment(column, test.daysAhead, asking);
  }
}

/** Compares a date in the contact's data with the current time. */
export function dataClockFragment(
  keys: readonly string[],
  test: ClockTest,
  asking: ConditionContext,
): Fragment {
  switch (test.is) {
    case "aged":
      return agedFragment(keys, test, asking);
    case "ahead":
      return aheadFragment(keys, test, asking);
    case "today":
      return todayFragment(keys, asking);
    case "anniversary":
      return dataAnniversaryFragment(keys, test.daysAhead, asking);
  }
}

const toSecond = (instant: RawBuilder<unknown>) => sql`date_trunc('second', ${instant})`;

/** Returns an instant as the beginning of a UTC date. A sub-select is computed once instead of once per contact. */
const secondText = (instant: RawBuilder<unknown>) =>
  sql`(select to_char(${toSecond(instant)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'))`;
const dayText = (midnight: RawBuilder<unknown>) => sql`(select to_char(${midnight}, 'YYYY-MM-DD'))`;

/** Compares a date with a time of day to a time ago, rounded down to the second. */
function agedFragment(
  keys: readonly string[],
  { span, older }: Extract<ClockTest, { is: "aged" }>,
  asking: ConditionContext,
): Fragment {
  const instant = instantBefore(span, asking);
  const bound = secondText(instant);
  const text = textAt(keys);
  const inRange = older
    ? sql`${text} >= ${FIRST_DATE} collate "C" and ${text} < ${bound} collate "C"`
    : sql`${text} >= ${bound} collate "C"`;
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "utc")} else false end)`,
      offsetDateFragment(
        keys,
        (at) => sql`${at} ${sql.raw(older ? "<" : ">=")} (select ${toSecond(instant)})`,
      ),
    ],
    "or",
  );
}

const DAY_LENGTH = "YYYY-MM-DD".length;

/** Compares a date to a time ahead. A day without a time counts until it ends, so it may have begun before now. */
function aheadFragment(
  keys: readonly string[],
  { span }: Extract<ClockTest, { is: "ahead" }>,
  asking: ConditionContext,
): Fragment {
  const { from, until } = rangeAhead(span, asking);
  const text = textAt(keys);
  const inRange = sql`${text} >= ${dayText(midnightAhead(0, asking))} collate "C"
    and ${text} < ${secondText(until)} collate "C"
    and (length(${text}) = ${DAY_LENGTH}::int or ${text} >= ${secondText(from)} collate "C")`;
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "dayOrUtc")} else false end)`,
      offsetDateFragment(
        keys,
        (at) => sql`${at} <@ (select tstzrange(${toSecond(from)}, ${toSecond(until)}))`,
      ),
    ],
    "or",
  );
}

function todayFragment(keys: readonly string[], asking: ConditionContext): Fragment {
  const text = textAt(keys);
  const [start, end] = [midnightAhead(0, asking), midnightAhead(1, asking)];
  const inRange = sql`${text} >= ${dayText(start)} collate "C" and ${text} < ${dayText(end)} collate "C"`;
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "dayOrUtc")} else false end)`,
      offsetDateFragment(
        keys,
        (at) => sql`${at} <@ (select tstzrange(${start} at time zone 'UTC', ${end} at time zone 'UTC'))`,
      ),
    ],
    "or",
  );
}

function dataAnniversaryFragment(
  keys: readonly string[],
  daysAhead: number,
  asking: ConditionContext,
): Fragment {
  const text = textAt(keys);
  const inRange = joined(
    [
      sql<SqlBool>`${text} >= ${FIRST_DATE} collate "C"`,
      sql<SqlBool>`${text} < ${dayText(midnightAhead(daysAhead + 1, asking))} collate "C"`,
      dayOfYearFragment(sql`substr(${text}, 6, 5)`, daysAhead, asking),
    ],
    "and",
  );
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "dayOrUtc")} else false end)`,
      offsetDateFragment(keys, (instant) => anniversaryFragment(instant, daysAhead, asking)),
    ],
    "or",
  );
}

/** Returns whether an anniversary of an instant is within some days, but none before the instant itself. */
function anniversaryFragment(
  instant: RawBuilder<unknown>,
  daysAhead: number,
  asking: ConditionContext,
): Fragment {
  const day = sql`to_char(${instant} at time zone 'UTC', 'MM-DD')`;
  return sql<SqlBool>`(${instant} < (${midnightAhead(daysAhead + 1, asking)} at time zone 'UTC')
    and ${dayOfYearFragment(day, daysAhead, asking)})`;
}

/** Returns whether a text `MM-DD` is within some days from today. February 29 is February 28 in other years. */
function dayOfYearFragment(day: RawBuilder<unknown>, daysAhead: number, asking: ConditionContext): Fragment {
  const monthDay = (days: number) => sql`to_char(${midnightAhead(days, asking)}, 'MM-DD')`;
  const from = sql`(select ${monthDay(0)}) collate "C"`;
  const to = sql`(select case when ${monthDay(daysAhead)} = '02-28' and ${monthDay(daysAhead + 1)} = '03-01'
    then '02-29' else ${monthDay(daysAhead)} end) collate "C"`;
  return sql<SqlBool>`(case when ${from} <= ${to} then ${day} >= ${from} and ${day} <= ${to}
    else ${day} >= ${from} or ${day} <= ${to} end)`;
}
