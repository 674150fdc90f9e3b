// The questions of a filter as SQL about one contact `c`. Each fragment is true or false, never null, and none can raise,
// whatever stands in `data`. Before it: compile-filter.ts. The shapes were measured: docs/decisions/0016.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { DATE_PATTERNS, FIRST_DATE, OFFSET_DATES } from "@postloft/contract/filter-dates.ts";
import type { FilterScalar } from "@postloft/contract/filters.ts";
import type { DataTest, Question, TextTest } from "./plan-filter.ts";
import { foldingOf, instantText, pathOf, textBound, type InstantRange, type Span } from "./rules.ts";

export type Fragment = RawBuilder<SqlBool>;

/** What the fragments of one filter have in common. */
export interface Asking {
  projectId: string;
  /** Null: PostgreSQL's clock. */
  now: Date | null;
  /** Whether the statement looks at a few contacts only: then each is looked up by itself. */
  fewContacts: boolean;
}

export const joined = (fragments: readonly Fragment[], word: "and" | "or"): Fragment =>
  fragments.length === 0
    ? sql<SqlBool>`${sql.raw(word === "and" ? "true" : "false")}`
    : sql<SqlBool>`(${sql.join(fragments, sql.raw(` ${word} `))})`;

export const negated = (fragment: Fragment): Fragment => sql<SqlBool>`not ${fragment}`;

export function questionFragment(question: Question, asking: Asking): Fragment {
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
      return dataFragment(question.key, question.test, asking);
    case "event":
      return eventFragment(question, asking);
    case "members":
      return sql<SqlBool>`exists (select from segment_members m where m.project_id = ${asking.projectId}
        and m.segment_id = ${question.segmentId} and m.contact_id = c.id)`;
  }
}

/** The instant so long ago, by the calendar of UTC whatever the time zone of the session is. */
function instantBefore({ amount, unit }: Span, { now }: Asking) {
  const instant =
    now === null ? sql`date_trunc('milliseconds', now())` : sql`${now.toISOString()}::timestamptz`;
  return sql`((${instant} at time zone 'UTC' - make_interval(${sql.raw(MAKE_INTERVAL[unit])} => ${amount}::int)) at time zone 'UTC')`;
}

/** The names of the arguments of make_interval. */
const MAKE_INTERVAL = {
  minutes: "mins",
  hours: "hours",
  days: "days",
  weeks: "weeks",
  months: "months",
} as const;

function rangeFragment(column: RawBuilder<unknown>, { fromMs, untilMs }: InstantRange): Fragment {
  const parts = [
    ...(fromMs === null ? [] : [sql<SqlBool>`${column} >= ${instantText(fromMs)}::timestamptz`]),
    ...(untilMs === null ? [] : [sql<SqlBool>`${column} < ${instantText(untilMs)}::timestamptz`]),
  ];
  return joined(parts, "and");
}

/** Addresses are stored in lower case; `like` finds parts of one in its trigram index. */
function emailFragment(test: TextTest): Fragment {
  if (test.is === "oneOf") return sql<SqlBool>`(c.email = any(${test.texts}::text[]))`;
  const literal = test.text.replace(/[\\%_]/g, "\\$&");
  const pattern = `${test.is === "starting" ? "" : "%"}${literal}${test.is === "ending" ? "" : "%"}`;
  return sql<SqlBool>`(c.email like ${pattern})`;
}

function dataFragment(key: string, test: DataTest, asking: Asking): Fragment {
  const path = pathOf(key);
  const inPath = keyFragment(path, test, asking);
  if (path.length === 1) return inPath;
  // A key with these very letters, dots included, goes before the path.
  return sql<SqlBool>`(case when c.data ? ${key} then ${keyFragment([key], test, asking)} else ${inPath} end)`;
}

function keyFragment(keys: readonly string[], test: DataTest, asking: Asking): Fragment {
  switch (test.is) {
    case "present":
      return sql<SqlBool>`coalesce(jsonb_typeof(${valueAt(keys)}) <> 'null', false)`;
    case "oneOf":
      return oneOfFragment(keys, test.values);
    case "number":
      return jsonPathFragment(keys, `@ ${test.compare} ${test.to}`);
    case "date": {
      const comparison = sql`<@ any(${test.ranges.map(rangeText)}::tstzrange[])`;
      return joined(
        [jsonPathFragment(keys, datePredicate(test.ranges)), offsetDateFragment(keys, comparison)],
        "or",
      );
    }
    case "aged":
      return agedFragment(keys, test, asking);
    case "containing":
      return containingFragment(keys, test.value);
    case "starting":
    case "ending":
      return sql<SqlBool>`(case jsonb_typeof(${valueAt(keys)}) when 'string' then ${textFragment(keys, test.is, test.text)} else false end)`;
  }
}

/** The value as JSON; SQL's null when a key is missing or something on the way is no object. */
function valueAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0
    ? sql`c.data -> ${key}::text`
    : sql`jsonb_path_query_first(c.data, ${jsonPath(keys)}::jsonpath, silent => true)`;
}

/** The same as text: a string without its quotes. */
function textAt(keys: readonly string[]) {
  const [key = "", ...more] = keys;
  return more.length === 0 ? sql`(c.data ->> ${key}::text)` : sql`(${valueAt(keys)} #>> '{}')`;
}

/** In strict mode arrays are values like any other, and what is missing ends the search. */
function jsonPath(keys: readonly string[]): string {
  return `strict $${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;
}

/** Whether the value fulfils a predicate of jsonpath. It compares like with like only, and never raises. */
function jsonPathFragment(keys: readonly string[], predicate: string): Fragment {
  return sql<SqlBool>`coalesce(c.data @? ${`${jsonPath(keys)} ? (${predicate})`}::jsonpath, false)`;
}

/** Containment for one value, which an index on data can serve. */
function oneOfFragment(keys: readonly string[], values: readonly FilterScalar[]): Fragment {
  const texts = values.map((value) => JSON.stringify(value));
  const [only] = texts;
  if (texts.length > 1 || only === undefined)
    return sql<SqlBool>`coalesce(${valueAt(keys)} = any(${texts}::jsonb[]), false)`;
  const object = keys.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, only);
  return sql<SqlBool>`(c.data @> ${object}::jsonb)`;
}

/** Dates in UTC as text: nearly every contact is told by the range alone, the others also by the form. */
function datePredicate(ranges: readonly InstantRange[]): string {
  return `(${ranges.map(rangePredicate).join(" || ")}) && ${likeRegex(DATE_PATTERNS.dayOrUtc)}`;
}

function rangePredicate({ fromMs, untilMs }: InstantRange): string {
  const from = fromMs === null ? { text: FIRST_DATE, exceptions: [] } : textBound(fromMs);
  const until = untilMs === null ? null : textBound(untilMs);
  if (from === null) return "(1 == 0)";
  const parts = [
    `@ >= "${from.text}"`,
    ...from.exceptions.map((text) => `@ != "${text}"`),
    ...(until === null
      ? []
      : [`(${[`@ < "${until.text}"`, ...until.exceptions.map((text) => `@ == "${text}"`)].join(" || ")})`]),
  ];
  return `(${parts.join(" && ")})`;
}

const likeRegex = (pattern: string) => `@ like_regex "${pattern}"`;

function rangeText({ fromMs, untilMs }: InstantRange): string {
  return `[${fromMs === null ? "" : instantText(fromMs)},${untilMs === null ? "" : instantText(untilMs)})`;
}

/**
 * A date with an offset, turned into its instant: the pattern lets nothing through that PostgreSQL would not read.
 * Digits of a second beyond six are left out, so that nothing is rounded up.
 */
function offsetDateFragment(keys: readonly string[], comparison: RawBuilder<unknown>): Fragment {
  const text = textAt(keys);
  return sql<SqlBool>`(case when ${text} like '____-__-__T__:__:__%:__' and ${text} ~ ${DATE_PATTERNS.offset}
      and ${text} >= ${OFFSET_DATES.first} collate "C" and ${text} < ${OFFSET_DATES.before} collate "C"
    then (substring(${text} from '^.{19}(?:[.][0-9]{1,6})?') || right(${text}, 6))::timestamptz ${comparison}
    else false end)`;
}

/** A date with a time of day before or since an instant, which is taken to the second. */
function agedFragment(
  keys: readonly string[],
  { span, older }: { span: Span; older: boolean },
  asking: Asking,
): Fragment {
  const instant = sql`date_trunc('second', ${instantBefore(span, asking)})`;
  const text = sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')`;
  const head = `${jsonPath(keys)} ? (${older ? `@ >= "${FIRST_DATE}" && @ <` : "@ >="} "`;
  const tail = `" && ${likeRegex(DATE_PATTERNS.utc)})`;
  // In sub-selects of their own they are computed once, not for each contact.
  const path = sql`(select (${head}::text || ${text} || ${tail}::text)::jsonpath)`;
  return joined(
    [
      sql<SqlBool>`coalesce(c.data @? ${path}, false)`,
      offsetDateFragment(keys, sql`${sql.raw(older ? "<" : ">=")} (select ${instant})`),
    ],
    "or",
  );
}

/** Part of a text in any case, or an element of a list exactly as it is. */
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

/**
 * Whether an event happened often enough. For many contacts the counting goes through the events of that name at once;
 * for a few, through the events of each.
 */
function eventFragment(question: Question & { about: "event" }, asking: Asking): Fragment {
  const { event, atLeast, since } = question;
  const named = sql`e.project_id = ${asking.projectId} and e.name = ${event}`;
  const recent = since === null ? sql`` : sql` and e.created_at >= ${instantBefore(since, asking)}`;
  const own = sql`select from events e where ${named} and e.contact_id = c.id${recent}`;
  if (atLeast === 1) return sql<SqlBool>`exists (${own})`;
  if (asking.fewContacts) return sql<SqlBool>`exists (${own} offset ${atLeast - 1}::int)`;
  return sql<SqlBool>`c.id in (select e.contact_id from events e where ${named}${recent}
    group by e.contact_id having count(*) >= ${atLeast}::int)`;
}
