// Compiles conditions to SQL about one contact `c`. Every fragment is true or false, never null, and never fails, for any content of
// `data`. The query shapes were benchmarked (docs/decisions/0016).
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { DATE_PATTERNS, FIRST_DATE } from "@postloft/contract/filter-dates.ts";
import type { FilterScalar } from "@postloft/contract/filters.ts";
import { withShownData } from "../../contacts/contacts.ts";
import { instantBefore, type ConditionContext, type Fragment } from "./asking-queries.ts";
import type { DataTest, Question, TextTest } from "./plan-filter.ts";
import { eventFragment, membersFragment } from "./related-queries.ts";
import { foldingOf, instantText, pathOf, textBound, type InstantRange, type Span } from "./rules.ts";

export const joined = (fragments: readonly Fragment[], word: "and" | "or"): Fragment =>
  fragments.length === 0
    ? sql<SqlBool>`${sql.raw(word === "and" ? "true" : "false")}`
    : sql<SqlBool>`(${sql.join(fragments, sql.raw(` ${word} `))})`;

export const negated = (fragment: Fragment): Fragment => sql<SqlBool>`not ${fragment}`;

/** `isConjunct` means that every match fulfills the condition, so that PostgreSQL may turn it into a join. */
export function questionFragment(
  question: Question,
  asking: ConditionContext,
  isConjunct: boolean,
): Fragment {
  switch (question.about) {
    case "email":
      return emailFragment(question.test);
    case "subscribed":
      return sql<SqlBool>`c.subscribed = ${question.equals}`;
    case "createdAt":
    case "updatedAt": {
      const column = question.about === "createdAt" ? sql`c.created_at` : sql`c.updated_at`;
      if ("range" in question) return rangeFragment(column, question.range);
      const before = instantBefore(question.span, asking);
      return question.older ? sql<SqlBool>`(${column} < ${before})` : sql<SqlBool>`(${column} >= ${before})`;
    }
    case "data":
      return withShownData(dataFragment(question.key, question.test, asking), asking, question.key);
    case "event":
      return eventFragment(question, asking, isConjunct);
    case "members":
      return membersFragment(question.segmentId, asking, asking.ways.has(question));
  }
}

function rangeFragment(column: RawBuilder<unknown>, { fromMs, untilMs }: InstantRange): Fragment {
  const parts = [
    ...(fromMs === null ? [] : [sql<SqlBool>`${column} >= ${instantText(fromMs)}::timestamptz`]),
    ...(untilMs === null ? [] : [sql<SqlBool>`${column} < ${instantText(untilMs)}::timestamptz`]),
  ];
  return joined(parts, "and");
}

/** Addresses are stored in lower case. `like` uses their trigram index. */
function emailFragment(test: TextTest): Fragment {
  if (test.is === "oneOf") return sql<SqlBool>`(c.email = any(${test.texts}::text[]))`;
  const literal = test.text.replace(/[\\%_]/g, "\\$&");
  const pattern = `${test.is === "starting" ? "" : "%"}${literal}${test.is === "ending" ? "" : "%"}`;
  return sql<SqlBool>`(c.email like ${pattern})`;
}

function dataFragment(key: string, test: DataTest, asking: ConditionContext): Fragment {
  const path = pathOf(key);
  const inPath = keyFragment(path, test, asking);
  if (path.length === 1) return inPath;
  // A key with exactly this name, including dots, takes precedence over the path.
  return sql<SqlBool>`(case when c.data ? ${key} then ${keyFragment([key], test, asking)} else ${inPath} end)`;
}

function keyFragment(keys: readonly string[], test: DataTest, asking: ConditionContext): Fragment {
  switch (test.is) {
    case "present":
      return sql<SqlBool>`coalesce(jsonb_typeof(${valueAt(keys)}) <> 'null', false)`;
    case "oneOf":
      return oneOfFragment(keys, test.values);
    case "number":
      return jsonPathFragment(keys, `@ ${test.compare} ${test.to}`);
    case "date":
      return dateFragment(keys, test.ranges);
    case "aged":
      return agedFragment(keys, test, asking);
    case "containing":
      return containingFragment(keys, test.value);
    case "starting":
    case "ending":
      return sql<SqlBool>`(case jsonb_typeof(${valueAt(keys)}) when 'string' then ${textFragment(keys, test.is, test.text)} else false end)`;
  }
}

/** Returns the value as JSON. It is SQL null if a key is missing or a value on the path is not an object. */
function valueAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0
    ? sql`c.data -> ${key}::text`
    : sql`jsonb_path_query_first(c.data, ${jsonPath(keys)}::jsonpath, silent => true)`;
}

/** Returns the value as text, a string without its quotes. */
function textAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0 ? sql`(c.data ->> ${key}::text)` : sql`(${valueAt(keys)} #>> '{}')`;
}

/** In strict mode arrays are ordinary values, and a missing key ends the search. */
function jsonPath(keys: readonly string[]): string {
  return `strict $${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;
}

/** Returns whether the value fulfills a jsonpath predicate. A predicate only compares values of the same type and never fails. */
function jsonPathFragment(keys: readonly string[], predicate: string): Fragment {
  return sql<SqlBool>`coalesce(c.data @? ${`${jsonPath(keys)} ? (${predicate})`}::jsonpath, false)`;
}

/** A single value is compared by containment, which can use an index on the data. */
function oneOfFragment(keys: readonly string[], values: readonly FilterScalar[]): Fragment {
  const texts = values.map((value) => JSON.stringify(value));
  const [only] = texts;
  if (texts.length > 1 || only === undefined)
    return sql<SqlBool>`coalesce(${valueAt(keys)} = any(${texts}::jsonb[]), false)`;
  const object = keys.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, only);
  return sql<SqlBool>`(c.data @> ${object}::jsonb)`;
}

function dateFragment(keys: readonly string[], ranges: readonly InstantRange[]): Fragment {
  const text = textAt(keys);
  const inRange = joined(
    ranges.map((range) => textRangeFragment(text, range)),
    "or",
  );
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "dayOrUtc")} else false end)`,
      offsetDateFragment(keys, sql`<@ any(${ranges.map(rangeText)}::tstzrange[])`),
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
function utcDateFragment(keys: readonly string[], form: "utc" | "dayOrUtc"): Fragment {
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
function offsetDateFragment(keys: readonly string[], comparison: RawBuilder<unknown>): Fragment {
  const text = textAt(keys);
  return sql<SqlBool>`(case when ${text} like '____-__-__T__:__:__%:__' and ${text} ~ ${DATE_PATTERNS.offset}
    then regexp_replace(${text}, '([.][0-9]{6})[0-9]+', '\\1')::timestamptz ${comparison} else false end)`;
}

/** Compares a date with a time of day to a time ago, rounded down to the second. */
function agedFragment(
  keys: readonly string[],
  { span, older }: { span: Span; older: boolean },
  asking: ConditionContext,
): Fragment {
  const instant = sql`date_trunc('second', ${instantBefore(span, asking)})`;
  // A sub-select is computed once instead of once per contact.
  const bound = sql`(select to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'))`;
  const text = textAt(keys);
  const inRange = older
    ? sql`${text} >= ${FIRST_DATE} collate "C" and ${text} < ${bound} collate "C"`
    : sql`${text} >= ${bound} collate "C"`;
  return joined(
    [
      sql<SqlBool>`(case when ${inRange} then ${utcDateFragment(keys, "utc")} else false end)`,
      offsetDateFragment(keys, sql`${sql.raw(older ? "<" : ">=")} (select ${instant})`),
    ],
    "or",
  );
}

/** Matches part of a text in any case, or an exact element of a list. */
function containingFragment(keys: readonly string[], value: FilterScalar): Fragment {
  const inText = typeof value === "string" ? textFragment(keys, "containing", value) : sql<SqlBool>`false`;
  return sql<SqlBool>`(case jsonb_typeof(${valueAt(keys)}) when 'string' then ${inText}
    when 'array' then ${valueAt(keys)} @> ${JSON.stringify(value)}::jsonb else false end)`;
}

function textFragment(
  keys: readonly string[],
  is: "containing" | "starting" | "ending",
  searched: string,
): Fragment {
  const { from, to, text } = foldingOf(searched);
  const whole = sql`translate(${textAt(keys)}, ${from}, ${to})`;
  switch (is) {
    case "containing":
      return sql<SqlBool>`strpos(${whole}, ${text}) > 0`;
    case "starting":
      return sql<SqlBool>`starts_with(${whole}, ${text})`;
    case "ending":
      return sql<SqlBool>`right(${whole}, ${Array.from(text).length}::int) = ${text}`;
  }
}
