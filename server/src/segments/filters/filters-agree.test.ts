// Compiler and evaluator agree on random filters and contacts with hostile values, on real PostgreSQL.
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  FILTER_OPERATORS,
  FILTER_UNITS,
  readField,
  type FieldKind,
  type ValueForm,
} from "@postloft/contract/filter-fields.ts";
import { filter as filterSchema, type Filter, type FilterCondition } from "@postloft/contract/filters.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/database/test-database.ts";
import {
  matchesInMemory,
  matchesInSql,
  storeContacts,
  type ContactToStore,
  type SegmentToStore,
} from "../../testing/filter-contacts.ts";
import { instantAfter, instantBefore } from "./rules.ts";

const NOW = new Date("2026-03-31T12:34:56.789Z");
const RUNS = 8;
const CONTACTS = 80;
const GROUPS = 20;

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase.drop());

const KEYS = ["a", "b", "a.b", "a.b.c", "my key", 'x"y\\', "$", "@.*", "ключ🙂", "toString"];
const NUMBERS = [0, -0, 1, 5, -5, 0.1, 1e21, 1e308, -1e308, 5e-324, 9007199254740991, 20260131];
const TEXTS = [
  "5",
  "pro",
  "PRO",
  "Pro plan",
  "a pro",
  "NaN",
  "Infinity",
  "null",
  "true",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "a\nb",
  "ß",
  "ẞ",
  "SS",
  "İ",
  "i̇",
  "ı",
  "I",
  "i",
  "\u212a",
  "k",
  "K",
  "Σ",
  "σ",
  "ς",
  "É",
  "é",
  "e\u0301",
  "Ǆ",
  "ǅ",
  "ǆ",
  "𐐀",
  "𐐨",
  "🙂",
  "ÿ",
  "Ÿ",
  "\u2028",
  "ﬁ",
  "ŉ",
];
/** Texts that resemble dates. */
const ODD_DATES = [
  "2026-02-31",
  "2026-02-29T10:00:00Z",
  "2100-02-29",
  "0000-01-01",
  "0001-01-01T00:00:00Z",
  "0001-01-01T00:00:00+01:00",
  "9999-12-31T23:59:59.999Z",
  "9999-12-31T23:59:59-01:00",
  "2026-01-31T10:00:00",
  "2026-01-31T24:00:00Z",
  "2026-01-31\n",
  "2026-1-31",
  "20260131",
  "2026-01-31T10:00:00+15:00",
  "2026-01-31T10:00:00.Z",
  "2026-01-31 10:00:00Z",
  "٢٠٢٦-01-31",
];
const SPANS = [
  { amount: 1, unit: "minutes" },
  { amount: 36, unit: "hours" },
  { amount: 7, unit: "days" },
  { amount: 2, unit: "weeks" },
  { amount: 1, unit: "months" },
  { amount: 13, unit: "months" },
] as const;

const SEGMENTS = Array.from({ length: 8 }, (_, at) => `01890000-0000-7000-8000-00000000000${at}`);
const [STATIC, PRO, NESTED, TRACKED, ONE, OTHER, EMPTY] = SEGMENTS as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const in_ = (id: string): FilterCondition => ({ field: `segment.${id}`, operator: "memberOfSegment" });
const notIn = (id: string): FilterCondition => ({ field: `segment.${id}`, operator: "notMemberOfSegment" });
const all = (...conditions: Filter["conditions"]): Filter => ({ operator: "AND", conditions });
const SOURCES: SegmentToStore[] = [
  { id: STATIC, filters: null },
  { id: EMPTY, filters: null },
  { id: PRO, filters: all({ field: "data.b", operator: "contains", value: "pro" }) },
  { id: NESTED, filters: { operator: "OR", conditions: [notIn(PRO), in_(STATIC)] } },
  {
    id: TRACKED,
    filters: all({ field: "subscribed", operator: "equals", value: true }),
    trackMembership: true,
  },
  // A cycle of segments, which cannot be saved.
  {
    id: ONE,
    filters: { operator: "OR", conditions: [in_(OTHER), { field: "event.paid", operator: "triggered" }] },
  },
  { id: OTHER, filters: all(notIn(ONE)) },
];

/** Times on both sides of the compared values. */
const instants = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...SPANS).map((span) => instantBefore(NOW.getTime(), span)),
      fc.constantFrom(...SPANS).map((span) => instantAfter(NOW.getTime(), span)),
      fc
        .tuple(fc.constantFrom(1992, 2024, 2025, 2026, 2027), fc.constantFrom("02-28", "03-31", "04-07"))
        .map(([year, day]) => Date.parse(`${year}-${day}T00:00:00Z`)),
      fc.constantFrom(
        NOW.getTime(),
        Date.parse("2026-01-31T00:00:00Z"),
        Date.parse("2026-01-31T10:00:00.500Z"),
      ),
    ),
    fc.constantFrom(0, 0, -1, 1, -1000, 1000, 500, -789, 211, 86_400_000),
  )
  .map(([atMs, shiftMs]) => atMs + shiftMs);

/** Writes a time in one of the common spellings. */
const dates = fc
  .tuple(instants, fc.constantFrom("day", "second", "milli", "short", "nano", "offset", "minus"))
  .map(([atMs, form]) => {
    const iso = new Date(atMs).toISOString();
    switch (form) {
      case "day":
        return iso.slice(0, 10);
      case "second":
        return `${iso.slice(0, 19)}Z`;
      case "short":
        return `${iso.slice(0, -1).replace(/\.?0+$/, "")}Z`;
      case "nano":
        return `${iso.slice(0, -1)}999999Z`;
      case "offset":
        return `${new Date(atMs + 5.5 * 3_600_000).toISOString().slice(0, -1)}999999+05:30`;
      case "minus":
        return `${new Date(atMs - 9 * 3_600_000).toISOString().slice(0, -1)}-09:00`;
      default:
        return iso;
    }
  });

/** A small set of values, so that filters and contacts often match. */
const FREQUENT = [5, "5", true, "pro", "Pro plan", "2026-01-31T00:00:00Z"];
const scalars = fc.oneof(
  fc.constantFrom(...FREQUENT),
  fc.constantFrom<string | number | boolean>(...NUMBERS, ...TEXTS, ...ODD_DATES, true, false),
  dates,
);
const values: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalars },
  { weight: 1, arbitrary: fc.array(fc.oneof(scalars, fc.constant(null)), { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(null, {}, [], [["pro"]], [{ b: 5 }], { b: { c: null } }, { "b.c": 5 }),
  },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("b", "c", "a"), scalars, { maxKeys: 2 }) },
);
const microseconds = instants.map((atMs) => new Date(atMs).toISOString().replace("Z", "987Z"));
const contacts: fc.Arbitrary<ContactToStore> = fc.record({
  subscribed: fc.boolean(),
  data: fc.dictionary(fc.constantFrom("a", "a", "a", "b", "b", "b", ...KEYS), values, { maxKeys: 6 }),
  createdAt: microseconds,
  updatedAt: microseconds,
  events: fc.array(
    fc.record({ name: fc.constantFrom("paid", "email.open", "email.sent", "paid.twice"), at: microseconds }),
    {
      maxLength: 4,
    },
  ),
  segments: fc.subarray([STATIC, TRACKED]),
});

const asValue = (one: fc.Arbitrary<unknown>) => one.map((input) => ({ value: input }));
const someOf = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 4 });
const counts = fc.constantFrom(...SPANS.map(({ amount }) => amount));
const units = fc.constantFrom(...FILTER_UNITS);
const searched = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("pro", "o", "5", "Z") },
  fc.constantFrom(...TEXTS),
  dates,
);
const addresses = fc.constantFrom(
  "contact1@example.com",
  " Contact2@Example.COM",
  "CONTACT1",
  "%",
  "_",
  "com",
  "\\",
  "c",
);

const FIELDS: Record<FieldKind, fc.Arbitrary<string>> = {
  email: fc.constant("email"),
  subscribed: fc.constant("subscribed"),
  createdAt: fc.constant("createdAt"),
  updatedAt: fc.constant("updatedAt"),
  data: fc
    .constantFrom(
      "a",
      "a",
      "b",
      "b",
      ...KEYS,
      "a.a",
      "a.b.b",
      "b.c",
      "a.",
      ".a",
      "missing",
      "a.length",
      "a.0",
    )
    .map((path) => `data.${path}`),
  event: fc.constantFrom("event.paid", "event.paid.twice", "email.opened", "email.sent", "event.never"),
  segment: fc.constantFrom(...SEGMENTS).map((id) => `segment.${id}`),
};
const VALUES: Record<ValueForm, fc.Arbitrary<object>> = {
  none: fc.constant({}),
  text: asValue(searched),
  texts: asValue(someOf(searched)),
  boolean: asValue(fc.boolean()),
  date: asValue(dates),
  scalar: asValue(fc.oneof(scalars, searched)),
  scalars: asValue(someOf(scalars)),
  order: asValue(fc.oneof(fc.constantFrom(...NUMBERS), dates)),
  span: fc.record({ value: counts, unit: units }),
  count: fc.oneof(
    fc.constant({}),
    fc.record({ value: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ value: fc.integer({ min: 1, max: 3 }), unit: units, window: counts }),
  ),
  day: asValue(dates.map((date) => date.slice(0, 10))),
  daysAhead: fc.constantFrom({}, { value: 1 }, { value: 7 }, { value: 200 }, { value: 364 }),
};
const isFilter = (condition: unknown) =>
  filterSchema.safeParse({ operator: "AND", conditions: [condition] }).success;

/** Conditions for every operator of every kind of field. */
const leavesByKind = Object.entries(FILTER_OPERATORS).flatMap(([kind, forms]) =>
  Object.entries(forms).map(([operator, form]) =>
    fc
      .tuple(
        FIELDS[kind as FieldKind],
        kind !== "email" ? VALUES[form] : asValue(form === "texts" ? someOf(addresses) : addresses),
      )
      .map(([field, rest]) => ({ field, operator, ...rest }))
      // Impossible dates are not valid filter values.
      .filter(isFilter),
  ),
) as Array<fc.Arbitrary<FilterCondition>>;
/** Uses each operator twice. */
const leaves = fc.tuple(...leavesByKind, ...leavesByKind);

const groups = fc.letrec<{ filter: Filter; part: Filter | FilterCondition }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small" },
    { weight: 4, arbitrary: fc.oneof(...leavesByKind) },
    { weight: 1, arbitrary: tie("filter") },
  ),
  filter: fc.record({
    operator: fc.constantFrom("AND" as const, "OR" as const),
    conditions: fc.array(tie("part"), { minLength: 1, maxLength: 4 }),
  }),
})).filter;

/** Returns the first difference with the contact and both results, or null. */
function difference(
  input: readonly Filter[],
  stored: readonly ContactToStore[],
  inSql: ReadonlyArray<ReadonlyArray<boolean | null>>,
  inMemory: readonly boolean[][],
): unknown {
  for (const [place, filter] of input.entries()) {
    const at = stored.findIndex((_, one) => inSql[place]?.[one] !== inMemory[place]?.[one]);
    if (at !== -1)
      return { filter, contact: stored[at], inSql: inSql[place]?.[at], inMemory: inMemory[place]?.[at] };
  }
  return null;
}

test("SQL and memory return the same matches", async () => {
  const reported = new Map<string, Set<boolean>>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(contacts, { minLength: CONTACTS, maxLength: CONTACTS }),
      leaves,
      fc.array(groups, { minLength: GROUPS, maxLength: GROUPS }),
      fc.constantFrom("few", "page", "all"),
      fc.boolean(),
      async (stored, conditions, nested, scope, trackedAsStored) => {
        const { projectId, ids } = await storeContacts(database, stored, SOURCES);
        const trial = { projectId, ids, now: NOW, scope, trackedAsStored };
        const parts = [...conditions.map((one) => all(one)), ...nested];
        const inSql = await matchesInSql(database, parts, trial);
        const inMemory = await matchesInMemory(database, parts, trial);
        expect(difference(parts, stored, inSql, inMemory)).toBeNull();
        for (const [at, one] of conditions.entries())
          reported.set(kindOf(one), new Set([...(reported.get(kindOf(one)) ?? []), ...(inMemory[at] ?? [])]));
      },
    ),
    { seed: 20_260_331, numRuns: RUNS, endOnFailure: true },
  );
  // Checks the test itself. Each operator of each kind of field must have matched and not matched.
  const everything = Object.entries(FILTER_OPERATORS).flatMap(([kind, forms]) =>
    Object.keys(forms).map((operator) => `${kind} ${operator}`),
  );
  // Fields of every contact always exist.
  const certain = new Map<string, boolean>(
    ["email", "subscribed", "createdAt", "updatedAt"].flatMap((kind) => [
      [`${kind} exists`, true] as const,
      [`${kind} notExists`, false] as const,
    ]),
  );
  const expected = (one: string) => (certain.has(one) ? [certain.get(one)] : [false, true]);
  expect(
    everything.filter((one) => [...(reported.get(one) ?? [])].toSorted().join() !== expected(one).join()),
  ).toEqual([]);
});

function kindOf({ field, operator }: FilterCondition): string {
  const read = readField(field);
  return typeof read === "string" ? read : `${read.kind} ${operator}`;
}
