// Compiles conditions to SQL about one contact `c`. Every fragment is true or false, never null, and never fails, for any content of
// `data`. The query shapes were benchmarked (docs/decisions/0016).
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { FilterScalar } from "@postloft/contract/filters.ts";
import { withShownData } from "../../contacts/contacts.ts";
import { joined, type ConditionContext, type Fragment } from "./asking-queries.ts";
import { columnClockFragment, dataClockFragment } from "./clock-queries.ts";
import { dateFragment } from "./date-queries.ts";
import type { DataTest, Question, TextTest } from "./plan-filter.ts";
import { eventFragment, membersFragment } from "./related-queries.ts";
import { foldingOf, instantText, pathOf, type InstantRange } from "./rules.ts";
import { jsonPath, textAt, valueAt } from "./value-queries.ts";

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
      return "range" in question
        ? rangeFragment(column, question.range)
        : columnClockFragment(column, question.clock, asking);
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
    case "ahead":
    case "today":
    case "anniversary":
      return dataClockFragment(keys, test, asking);
    case "containing":
      return containingFragment(keys, test.value);
    case "starting":
    case "ending":
      return sql<SqlBool>`(case jsonb_typeof(${valueAt(keys)}) when 'string' then ${textFragment(keys, test.is, test.text)} else false end)`;
  }
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
