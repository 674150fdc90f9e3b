// Compiles comparisons of dates in a contact's data to SQL.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { DATE_PATTERNS, FIRST_DATE } from "@postloft/contract/filter-dates.ts";
import { joined, type Fragment } from "./asking-queries.ts";
import { instantText, textBound, type InstantRange } from "./rules.ts";
import { jsonPath, textAt } from "./value-queries.ts";

export function dateFragment(keys: readonly string[], ranges: readonly InstantRange[]): Fragment {
  const text = textAt(keys);
  const inRange = joined(
    ranges.map((range) => textRangeFragment(text, range)),
    "or",
  );
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "dayOrUtc")} else false end)`,
      offsetDateFragment(keys, (instant) => sql`${instant} <@ any(${ranges.map(rangeText)}::tstzrange[])`),
    ],
    "or",
  );
}

/** UTC dates sort as text, which decides nearly every contact without parsing. */
function textRangeFragment(text: RawBuilder<unknown>, { fromMs, untilMs }: InstantRange): Fragment {
  const from = fromMs === null ? { text: FIRST_DATE, exceptions: [] } : textBound(fromMs);
  const until = untilMs === null ? null : textBound(untilMs);
  if (from === null) return sql<SqlBool>`false`;
  return joined(
    [
      sql<SqlBool>`${text} >= ${from.text} collate "C"`,
      ...from.exceptions.map((exception) => sql<SqlBool>`${text} <> ${exception}`),
      ...(until === null
        ? []
        : [
            sql<SqlBool>`(${text} < ${until.text} collate "C" or ${text} = any(${until.exceptions}::text[]))`,
          ]),
    ],
    "and",
  );
}

/**
 * The usual forms of UTC dates. A regular expression takes six times as long as jsonpath, which parses a date without failing. But jsonpath
 * treats month or day 00 as missing and accepts a sign or space in place of a digit.
 */
const USUAL_FORMS = [
  {
    like: "____-__-__T__:__:__.___Z",
    template: String.raw`YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"`,
    hasTime: true,
  },
  { like: "____-__-__T__:__:__Z", template: String.raw`YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"`, hasTime: true },
  { like: "____-__-__", template: "YYYY-MM-DD", hasTime: false },
] as const;
const OUT_OF_PLACE = "[^-0-9T:.Z]|[-T:.Z]{2}|-00";

/** Returns whether a text from year 0001 on is a UTC date of an existing day. */
export function utcDateFragment(keys: readonly string[], form: "utc" | "dayOrUtc"): Fragment {
  const text = textAt(keys);
  const forms = USUAL_FORMS.filter(({ hasTime }) => hasTime || form === "dayOrUtc").map(
    ({ like, template }) => sql<SqlBool>`(${text} like ${like}
      and c.data @? ${`${jsonPath(keys)}.datetime("${template}")`}::jsonpath)`,
  );
  return sql<SqlBool>`(case when ${text} !~ ${OUT_OF_PLACE} and ${joined(forms, "or")}
    then true else ${text} ~ ${DATE_PATTERNS[form]} end)`;
}

function rangeText({ fromMs, untilMs }: InstantRange): string {
  return `[${fromMs === null ? "" : instantText(fromMs)},${untilMs === null ? "" : instantText(untilMs)})`;
}

/**
 * Compares a date with an offset as a time. The pattern accepts only texts that PostgreSQL can parse. Fractional digits beyond six are cut,
 * because PostgreSQL would round them.
 */
export function offsetDateFragment(
  keys: readonly string[],
  compare: (instant: RawBuilder<unknown>) => RawBuilder<unknown>,
): Fragment {
  const text = textAt(keys);
  return sql<SqlBool>`(case when ${text} like '____-__-__T__:__:__%:__' and ${text} ~ ${DATE_PATTERNS.offset}
    then ${compare(sql`regexp_replace(${text}, '([.][0-9]{6})[0-9]+', '\\1')::timestamptz`)} else false end)`;
}
