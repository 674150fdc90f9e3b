// Semantics of each operator in examples, checked in the compiler and the evaluator.
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filter as filterSchema, type Filter } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { createTestDatabase, type TestDatabase } from "../../platform/database/test-database.ts";
import {
  matchesInMemory,
  matchesInSql,
  storeContacts,
  type ContactToStore,
  type SegmentToStore,
} from "../../testing/filter-contacts.ts";
import { membershipOf, restrictionForAll, restrictionOf } from "./compile-filter.ts";
import { FEW_EVENTS } from "./related-queries.ts";
import { explainFilter } from "./evaluate-filter.ts";
import { loadFilterContacts } from "./load-contacts.ts";
import { loadSegments, loadSegmentsFor } from "./load-segments.ts";

const NOW = new Date("2026-03-31T12:00:00.000Z");

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});
afterAll(async () => testDatabase.drop());

type Input = [field: string, operator: string, value?: unknown, unit?: string, window?: number];

const condition = ([field, operator, value, unit, window]: Input) => ({
  field,
  operator,
  value,
  unit,
  window,
});
const readOne = (input: Input): Filter =>
  filterSchema.parse({ operator: "AND", conditions: [condition(input)] });

/** Returns which of these contacts match, and checks that SQL and memory agree. */
async function matching(
  filter: Filter,
  contacts: readonly ContactToStore[],
  segments: readonly SegmentToStore[] = [],
  trackedAsStored = false,
  now = NOW,
): Promise<boolean[]> {
  const trial = { ...(await storeContacts(database, contacts, segments)), now, trackedAsStored };
  const [inSql = []] = await matchesInSql(database, [filter], trial);
  const [inMemory = []] = await matchesInMemory(database, [filter], trial);
  expect(inSql).toEqual(inMemory);
  return inMemory;
}

/** Returns the contacts that a condition wrongly excludes or wrongly includes. */
async function mismatches(
  input: Input,
  taken: ContactToStore[],
  left: ContactToStore[],
  segments?: SegmentToStore[],
) {
  const matches = await matching(readOne(input), [...taken, ...left], segments);
  return [...taken, ...left].filter((_, at) => matches[at] !== at < taken.length);
}

const withA = (a: unknown): ContactToStore => ({ data: { a } });

const withEmails = (emails: string[]) => emails.map((email) => ({ email }));

test.each<[given: Input, taken: string[], left: string[]]>([
  [["email", "endsWith", "@müller.example"], ["a@xn--mller-kva.example"], ["müller@example.com"]],
  [["email", "endsWith", ".MÜLLER.example"], ["a@m.xn--mller-kva.example"], ["a@xn--mller-kva.example"]],
  [["email", "contains", "müller"], ["a@xn--mller-kva.example", "müller@example.com"], ["a@muller.example"]],
  [["email", "notContains", "@müller."], ["müller@example.com"], ["a@xn--mller-kva.example"]],
  [["email", "startsWith", "müller"], ["müller@example.com"], ["a@xn--mller-kva.example"]],
  [["email", "startsWith", "müller@müller."], ["müller@xn--mller-kva.example"], ["müller@example.com"]],
])("%j matches parts of addresses in their stored form", async (input, taken, left) => {
  expect(await mismatches(input, withEmails(taken), withEmails(left))).toEqual([]);
});

/** Included and excluded values of `data.a` for each condition. `undefined` is a contact without the key. */
const DATA: Array<[given: Input, taken: unknown[], left: unknown[]]> = [
  [["data.a", "equals", "pro"], ["pro"], ["Pro", "pro ", "", ["pro"], { pro: 1 }, null, undefined]],
  [["data.a", "equals", 5], [5], ["5", 5.5, [5], undefined]],
  [["data.a", "equals", 0.1], [0.1], [0.2, "0.1"]],
  [["data.a", "equals", true], [true], ["true", 1, false, undefined]],
  [["data.a", "equals", "NaN"], ["NaN"], [0, "nan"]],
  [["data.a", "notEquals", "pro"], ["Pro", 5, ["pro"], null, undefined], ["pro"]],
  [
    ["data.a", "equals", "2026-01-31"],
    ["2026-01-31", "2026-01-31T00:00:00Z", "2026-01-31T00:00:00.000Z", "2026-01-31T01:00:00+01:00"],
    [
      "2026-01-31T10:00:00Z",
      "2026-01-31T00:00:00.001Z",
      "2026-01-30T23:59:59.999Z",
      "2026-1-31",
      20260131,
      undefined,
    ],
  ],
  [
    ["data.a", "equals", "2026-01-31T10:00:00+02:00"],
    ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00.0Z"],
    ["2026-01-31T10:00:00Z"],
  ],
  [["data.a", "notEquals", "2026-01-31"], ["2026-02-31", "x", undefined], ["2026-01-31T00:00:00.000000Z"]],
  [
    ["data.a", "in", ["pro", 5, "2026-01-31"]],
    ["pro", 5, "2026-01-31T00:00:00Z"],
    ["PRO", "5", ["pro"], undefined],
  ],
  [
    ["data.a", "notIn", ["pro", 5]],
    ["5", null, undefined],
    ["pro", 5],
  ],
  [
    ["data.a", "contains", "Pro"],
    ["a PROject", "pro", ["x", "Pro"]],
    ["pr o", ["pro"], ["a Pro"], { Pro: 1 }, 5, undefined],
  ],
  [["data.a", "contains", "ÜBER"], ["darüber", "Über"], ["uber"]],
  [["data.a", "contains", "straße"], ["Hauptstraße", "STRAßE"], ["STRASSE"]],
  [["data.a", "contains", "50%_\\"], ["a 50%_\\ b"], ["50 percent", "50%x\\"]],
  [["data.a", "contains", 5], [[1, 5]], ["5", 5, ["5"], undefined]],
  [
    ["data.a", "notContains", "pro"],
    ["x", ["PRO"], 5, null, undefined],
    ["PRO", ["pro"]],
  ],
  [
    ["data.a", "startsWith", "ça"],
    ["Ça va", "ça"],
    ["va ça", ["ça"], undefined],
  ],
  [["data.a", "endsWith", "🙂Я"], ["x🙂я"], ["🙂я.", undefined]],
  [
    ["data.a", "greaterThan", 5],
    [5.1, 1e308],
    [5, -6, "6", true, [6], "NaN", undefined],
  ],
  [
    ["data.a", "greaterThanOrEqual", 5],
    [5, 6],
    [4.9, "5"],
  ],
  [
    ["data.a", "lessThan", -1.5e3],
    [-1501, -1e308],
    [-1500, 0, "-2000", null, {}, undefined],
  ],
  [["data.a", "lessThanOrEqual", 0], [0, -1], [5e-324]],
  [
    ["data.a", "greaterThan", "2026-01-31T10:00:00Z"],
    ["2026-01-31T10:00:00.001Z", "2026-01-31T09:30:00-01:00", "2026-02-01", "9999-12-31"],
    [
      "2026-01-31T10:00:00.0009Z",
      "2026-01-31T11:00:00+01:00",
      "2026-01-31",
      "2026-02-31",
      "2027",
      1e308,
      undefined,
    ],
  ],
  [
    ["data.a", "greaterThanOrEqual", "2026-01-31"],
    ["2026-01-31", "2026-01-31T00:00:00Z"],
    ["2026-01-30T23:59:59.9Z"],
  ],
  [
    ["data.a", "lessThan", "2026-01-31T10:00:00.5Z"],
    ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.49Z", "2026-01-31", "0001-01-01T00:00:00Z"],
    ["2026-01-31T10:00:00.5Z", "2026-01-31T10:00:00.50Z", "2025-02-29", "0000-01-01", "", undefined],
  ],
  [
    ["data.a", "lessThanOrEqual", "2026-01-31T10:00:00Z"],
    ["2026-01-31T10:00:00.0004Z"],
    ["2026-01-31T10:00:00.001Z"],
  ],
  [
    ["data.a", "exists"],
    ["", 0, false, [], {}],
    [null, undefined],
  ],
  [
    ["data.a", "notExists"],
    [null, undefined],
    ["", 0, false],
  ],
  [
    ["data.a", "within", 7, "days"],
    ["2026-03-24T12:00:00Z", "2026-03-24T14:00:00+02:00", "2026-03-31T12:00:00Z", "2099-01-01T00:00:00Z"],
    ["2026-03-24T11:59:59.999Z", "2026-03-30", "2026-03-30 10:00:00", 7, undefined],
  ],
  [
    ["data.a", "olderThan", 1, "months"],
    ["2026-02-28T11:59:59Z", "2026-02-28T12:59:59+01:00", "0001-01-01T00:00:00Z"],
    ["2026-02-28T12:00:00Z", "2026-01-01", "2026-02-31T10:00:00Z", "x", undefined],
  ],
  [["data.a", "within", 36, "hours"], ["2026-03-30T00:00:00Z"], ["2026-03-29T23:59:59Z"]],
  [
    ["data.a", "inNext", 7, "days"],
    ["2026-03-31", "2026-03-31T12:00:00Z", "2026-04-07T13:59:59.999+02:00", "2026-04-07"],
    ["2026-03-30", "2026-03-31T11:59:59Z", "2026-04-07T12:00:00Z", "2026-04-08", "2026-04-31", 7, undefined],
  ],
  [
    ["data.a", "inNext", 1, "months"],
    ["2026-04-30T11:59:59Z", "2026-04-30"],
    ["2026-04-30T12:00:00Z", "2026-05-01", "2026-02-28"],
  ],
  [
    ["data.a", "onDay", "2027-01-31"],
    ["2027-01-31", "2027-01-31T23:59:59.9999999Z", "2027-02-01T01:30:00+02:00"],
    ["2027-02-01", "2027-01-31T01:30:00+02:00", "2027-01-30T23:59:59Z", "2027-1-31", undefined],
  ],
  [
    ["data.a", "isToday"],
    ["2026-03-31", "2026-03-31T00:00:00Z", "2026-03-31T23:59:59.999Z", "2026-04-01T01:59:59+02:00"],
    [
      "2026-03-30",
      "2026-04-01",
      "2026-04-01T00:00:00Z",
      "2026-03-31T01:59:59+02:00",
      "2026-03-31 10:00",
      undefined,
    ],
  ],
  [
    ["data.a", "anniversary"],
    ["1990-03-31", "2026-03-31", "2025-03-31T23:59:59Z", "1990-04-01T01:00:00+02:00", "0001-03-31"],
    [
      "1990-03-30",
      "1990-04-01",
      "2027-03-31",
      "1990-03-31T01:00:00+02:00",
      "0000-03-31",
      "xxxx-03-31",
      undefined,
    ],
  ],
  [
    ["data.a", "anniversary", 7],
    ["1990-03-31", "1990-04-07", "2026-04-07T23:59:59Z"],
    ["1990-03-30", "1990-04-08", "2027-04-07", "2026-04-08"],
  ],
  [
    ["data.a", "anniversary", 364],
    ["1990-03-31", "1990-04-01", "1990-03-30", "1992-02-29", "2027-03-30"],
    ["2027-03-31", "1990-02-29"],
  ],
  [["data.a", "within", 10, "minutes"], ["2026-03-31T11:50:00Z"], ["2026-03-31T11:49:59Z"]],
  [["data.a", "within", 2, "weeks"], ["2026-03-17T12:00:00Z"], ["2026-03-17T11:59:59Z"]],
];

test.for(DATA)("%j", async ([input, taken, left]) => {
  expect(await mismatches(input, taken.map(withA), left.map(withA))).toEqual([]);
});

/** Days of now and of `data.a`, with the days ahead. */
test.for<[now: string, a: string, daysAhead: number | undefined, isMatch: boolean]>([
  ["2027-02-28T00:00:00Z", "1992-02-29", undefined, true],
  ["2027-02-28T23:59:59.999Z", "1992-02-29T10:00:00+01:00", undefined, true],
  ["2027-02-28T12:00:00Z", "1990-02-28", undefined, true],
  ["2027-03-01T00:00:00Z", "1992-02-29", undefined, false],
  ["2028-02-28T12:00:00Z", "1992-02-29", undefined, false],
  ["2028-02-29T12:00:00Z", "1992-02-29", undefined, true],
  ["2028-02-29T12:00:00Z", "1990-02-28", undefined, false],
  ["2027-02-25T12:00:00Z", "1992-02-29", 3, true],
  ["2027-02-25T12:00:00Z", "1992-02-29", 2, false],
  ["2028-02-25T12:00:00Z", "1992-02-29", 3, false],
  ["2028-02-25T12:00:00Z", "1992-02-29", 4, true],
  ["2026-12-30T12:00:00Z", "1990-01-02", 3, true],
  ["2026-12-30T12:00:00Z", "1990-12-31", 3, true],
  ["2026-12-30T12:00:00Z", "1990-01-03", 3, false],
  ["2026-12-30T12:00:00Z", "2027-01-01", 3, true],
  ["2026-12-30T12:00:00Z", "2027-12-31", 3, false],
])("at %s, the anniversary of %s within %s days is %s", async ([now, a, daysAhead, isMatch]) => {
  const contacts = [withA(a), { createdAt: a.length > 10 ? a : `${a}T12:00:00Z` }];
  const input = ["data.a", "createdAt"].map((field) => readOne([field, "anniversary", daysAhead]));
  const found = await Promise.all(input.map((one) => matching(one, contacts, [], false, new Date(now))));
  expect([found[0]?.[0], found[1]?.[1]]).toEqual([isMatch, isMatch]);
});

const addedAt = (createdAt: string) => ({ createdAt });

test("a contact was added on a day, today, or on an earlier date like today", async () => {
  expect(
    await mismatches(
      ["createdAt", "onDay", "2026-01-31"],
      [addedAt("2026-01-31T00:00:00Z"), addedAt("2026-01-31T23:59:59.999999Z")],
      [addedAt("2026-02-01T00:00:00Z"), addedAt("2026-01-30T23:59:59.999999Z")],
    ),
  ).toEqual([]);
  expect(
    await mismatches(
      ["createdAt", "isToday"],
      [addedAt("2026-03-31T00:00:00Z"), addedAt("2026-03-31T23:59:59.999999Z")],
      [addedAt("2026-04-01T00:00:00Z"), addedAt("2026-03-30T23:59:59.999999Z")],
    ),
  ).toEqual([]);
  expect(
    await mismatches(
      ["createdAt", "anniversary", 1],
      [addedAt("2024-03-31T00:00:00Z"), addedAt("2024-04-01T23:59:59.999999Z")],
      [addedAt("2024-04-02T00:00:00Z"), addedAt("2027-03-31T00:00:00Z")],
    ),
  ).toEqual([]);
});

const USUAL_DATES = ["2024-02-29", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00.500Z"];
const NEARLY_DIGITS = ["0", "9", " ", "+", "-", ".", ":", "T", "Z", "a", "\n", "٣"];

/** Returns a date with each character, each pair of adjacent characters and each field replaced. */
function spoilt(date: string): string[] {
  const places = Array.from(date, (_, at) => at);
  const put = (at: number, text: string) => date.slice(0, at) + text + date.slice(at + text.length);
  return [
    ...places.flatMap((at) => NEARLY_DIGITS.map((one) => put(at, one))),
    ...places.flatMap((at) => NEARLY_DIGITS.flatMap((one) => NEARLY_DIGITS.map((two) => put(at, one + two)))),
    ...[5, 8, 11, 14, 17].flatMap((at) =>
      Array.from({ length: 100 }, (_, field) => put(at, String(field).padStart(2, "0"))),
    ),
    ...["", "2", "2-2", "2026-", "-2026", "+2026", "99999"].map((year) => year + date.slice(4)),
    ...["1", ".1", "12-4", "1:23", "1234"].map((end) => date.slice(0, -2) + end),
  ];
}

test.for(USUAL_DATES)("SQL and memory accept the same variants of %s as dates", async (date) => {
  const contacts = [date, ...new Set(spoilt(date))].map(withA);
  const matches = await matching(readOne(["data.a", "lessThan", "9999-12-31"]), contacts);
  expect(matches[0]).toBe(true);
  expect(matches.filter((one) => !one).length).toBeGreaterThan(contacts.length / 2);
  await matching(readOne(["data.a", "olderThan", 1, "minutes"]), contacts);
});

test("a dot reads a nested object unless a key has exactly that name", async () => {
  expect(
    await mismatches(
      ["data.a.b", "equals", 5],
      [{ data: { a: { b: 5 } } }, { data: { "a.b": 5, a: { b: 6 } } }],
      [
        { data: { a: { b: "5" } } },
        { data: { "a.b": 6, a: { b: 5 } } },
        { data: { a: [{ b: 5 }] } },
        { data: { b: 5 } },
      ],
    ),
  ).toEqual([]);
  expect(
    await mismatches(
      ["data.a.b.c", "contains", "X"],
      [{ data: { a: { b: { c: "x" } } } }],
      [{ data: { a: { "b.c": "x" } } }, { data: { "a.b": { c: "x" } } }],
    ),
  ).toEqual([]);
  expect(
    await mismatches(
      ["data.a.b", "notExists"],
      [{ data: { a: 5 } }, { data: { "a.b": null, a: { b: 1 } } }],
      [{ data: { a: { b: 0 } } }],
    ),
  ).toEqual([]);
});

test("keys may contain any characters and cannot read outside the data", async () => {
  for (const key of [
    "my key",
    'a"b',
    "a\\b",
    "'; drop table contacts; --",
    "$.x ? (1 == 1)",
    "ключ🙂",
    "\u0001",
  ]) {
    expect(
      await mismatches(
        [`data.${key}`, "greaterThan", 1],
        [{ data: { [key]: 2 } }],
        [{ data: { [key]: 1 } }, {}],
      ),
    ).toEqual([]);
    expect(await mismatches([`data.${key}`, "contains", key], [{ data: { [key]: key } }], [{}])).toEqual([]);
  }
  for (const key of ["toString", "constructor", "length", "__proto__"])
    expect(await mismatches([`data.${key}`, "exists"], [], [{}, { data: { a: [] } }])).toEqual([]);
});

test("email addresses are compared in canonical form", async () => {
  const [ada, bob] = [{ email: "ada_l@bucher.example" }, { email: "bob@example.com" }];
  expect(await mismatches(["email", "equals", " ADA_L@Bucher.Example "], [ada], [bob])).toEqual([]);
  expect(await mismatches(["email", "notEquals", "ada_l@bucher.example"], [bob], [ada])).toEqual([]);
  expect(await mismatches(["email", "in", ["x", "BOB@example.com"]], [bob], [ada])).toEqual([]);
  expect(await mismatches(["email", "notIn", ["bob@example.com"]], [ada], [bob])).toEqual([]);
  expect(await mismatches(["email", "contains", "A_L@"], [ada], [bob])).toEqual([]);
  expect(await mismatches(["email", "contains", "_"], [ada], [bob])).toEqual([]);
  expect(await mismatches(["email", "notContains", "example.com"], [ada], [bob])).toEqual([]);
  expect(await mismatches(["email", "startsWith", "Bob"], [bob], [ada])).toEqual([]);
  expect(await mismatches(["email", "endsWith", "@EXAMPLE.com"], [bob], [ada])).toEqual([]);
  expect(await mismatches(["email", "endsWith", "%"], [], [ada, bob])).toEqual([]);
});

test("subscription", async () => {
  expect(
    await mismatches(["subscribed", "equals", true], [{ subscribed: true }], [{ subscribed: false }]),
  ).toEqual([]);
  expect(
    await mismatches(["subscribed", "notEquals", true], [{ subscribed: false }], [{ subscribed: true }]),
  ).toEqual([]);
});

test.for(["createdAt", "updatedAt"] as const)(
  "%s is compared to the millisecond, as in responses",
  async (field) => {
    const at = (instant: string) => ({ [field]: instant });
    expect(
      await mismatches(
        [field, "equals", "2026-01-31T10:00:00.123Z"],
        [at("2026-01-31T10:00:00.123456Z")],
        [at("2026-01-31T10:00:00.124Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "equals", "2026-01-31"],
        [at("2026-01-31T00:00:00Z"), at("2026-01-31T23:59:59.999999Z")],
        [at("2026-02-01T00:00:00Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "notEquals", "2026-01-31"],
        [at("2026-01-30T23:59:59.999999Z")],
        [at("2026-01-31T12:00:00Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "greaterThan", "2026-01-31"],
        [at("2026-01-31T00:00:00.001Z")],
        [at("2026-01-31T00:00:00.000999Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "greaterThanOrEqual", "2026-01-31"],
        [at("2026-01-31T00:00:00Z")],
        [at("2026-01-30T23:59:59Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "lessThan", "2026-01-31T00:00:00+01:00"],
        [at("2026-01-30T22:59:59Z")],
        [at("2026-01-30T23:00:00Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "lessThanOrEqual", "9999-12-31T23:59:59.999Z"],
        [at("2026-01-01T00:00:00Z")],
        [],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "within", 1, "months"],
        [at("2026-02-28T12:00:00Z"), at("2026-04-01T00:00:00Z")],
        [at("2026-02-28T11:59:59.999999Z")],
      ),
    ).toEqual([]);
    expect(
      await mismatches(
        [field, "olderThan", 1, "months"],
        [at("2026-02-28T11:59:59.999999Z")],
        [at("2026-02-28T12:00:00Z")],
      ),
    ).toEqual([]);
  },
);

/** Sent emails are events stored in a separate table. */
describe.each([
  ["paid", "event.paid"],
  ["email.sent", "email.sent"],
])("events %s", (name, field) => {
  const happened = (...days: string[]): ContactToStore => ({
    events: days.map((day) => ({ name, at: `${day}T12:00:00Z` })),
  });
  const never: ContactToStore = { events: [{ name: "paid.twice", at: "2026-03-31T00:00:00Z" }] };
  const old = happened("2026-01-01");
  const recent = happened("2026-03-24", "2026-01-01");

  test.for<[Input, ContactToStore[], ContactToStore[]]>([
    [
      [field, "triggered"],
      [old, recent],
      [never, {}],
    ],
    [
      [field, "notTriggered"],
      [never, {}],
      [old, recent],
    ],
    [[field, "triggeredWithin", 7, "days"], [recent], [old, never]],
    // Before the first UUIDv7.
    [[field, "triggeredWithin", 1_200, "months"], [old, recent], [never]],
    [[field, "notTriggeredWithin", 7, "days"], [old, never, {}], [recent]],
    [[field, "triggeredOlderThan", 7, "days"], [old], [recent, never]],
    [[field, "triggered", 1], [old, recent], [never]],
    [[field, "triggered", 2], [recent], [old, never]],
    [[field, "triggered", 2, "days", 7], [happened("2026-03-24", "2026-03-30")], [recent, old]],
    [[field, "triggered", undefined, "days", 7], [recent], [old]],
  ])("%j", async ([input, taken, left]) => {
    expect(await mismatches(input, taken, left)).toEqual([]);
  });
});

test("email activity counts as events", async () => {
  const opened = { events: [{ name: "email.open", at: "2026-03-01T00:00:00Z" }] };
  expect(await mismatches(["email.opened", "triggered"], [opened], [{}])).toEqual([]);
  expect(await mismatches(["email.clicked", "notTriggered"], [opened, {}], [])).toEqual([]);
});

describe("segments", () => {
  const [fixed, pro, tracked, gone] = [newId(), newId(), newId(), newId()];
  const paying = readOne(["data.plan", "equals", "pro"]);
  const segments: SegmentToStore[] = [
    { id: fixed, filters: null },
    { id: pro, filters: paying },
    { id: tracked, filters: paying, trackMembership: true },
  ];
  const member = { segments: [fixed, tracked] };
  const payer = { data: { plan: "pro" } };

  test("a static segment has its members, and a dynamic one the current matches", async () => {
    expect(
      await mismatches([`segment.${fixed}`, "memberOfSegment"], [member], [payer, {}], segments),
    ).toEqual([]);
    expect(
      await mismatches([`segment.${fixed}`, "notMemberOfSegment"], [payer, {}], [member], segments),
    ).toEqual([]);
    expect(await mismatches([`segment.${pro}`, "memberOfSegment"], [payer], [member, {}], segments)).toEqual(
      [],
    );
    expect(
      await mismatches([`segment.${pro}`, "notMemberOfSegment"], [member, {}], [payer], segments),
    ).toEqual([]);
    expect(
      await mismatches([`segment.${tracked}`, "memberOfSegment"], [payer], [member, {}], segments),
    ).toEqual([]);
  });

  test("a tracked segment can use the members of its last computation", async () => {
    const filter = readOne([`segment.${tracked}`, "memberOfSegment"]);
    expect(await matching(filter, [member, payer], segments, true)).toEqual([true, false]);
  });

  test("a deleted or foreign segment matches no contact, with either operator", async () => {
    const other = await storeContacts(database, [], [{ id: gone, filters: null }]);
    expect(other.ids).toEqual([]);
    expect(await mismatches([`segment.${gone}`, "memberOfSegment"], [], [member, {}], segments)).toEqual([]);
    expect(await mismatches([`segment.${gone}`, "notMemberOfSegment"], [], [member, {}], segments)).toEqual(
      [],
    );
  });

  test("evaluation of a segment cycle ends", async () => {
    const [one, two] = [newId(), newId()];
    const circle: SegmentToStore[] = [
      { id: one, filters: readOne([`segment.${two}`, "memberOfSegment"]) },
      { id: two, filters: readOne([`segment.${one}`, "notMemberOfSegment"]) },
    ];
    expect(await mismatches([`segment.${one}`, "memberOfSegment"], [], [{}], circle)).toEqual([]);
  });

  test("segments can be nested ten levels deep and no deeper", async () => {
    const ids = Array.from({ length: LIMITS.filterDepth.value + 1 }, () => newId());
    const chain = ids.map((id, at) => ({
      id,
      filters: at === 0 ? paying : readOne([`segment.${ids[at - 1]}`, "memberOfSegment"]),
    }));
    const over = (at: number) =>
      matching(readOne([`segment.${ids.at(at)}`, "memberOfSegment"]), [payer, {}], chain);
    expect(await over(-2)).toEqual([true, false]);
    await expect(over(-1)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      fields: [{ field: "filters", code: "too_big" }],
    });
  });

  test("accepts a filter up to the limit of expanded conditions and rejects a larger one", async () => {
    const [small, large] = [newId(), newId()];
    const conditions = (id: string, count: number): Filter =>
      filterSchema.parse({
        operator: "OR",
        conditions: Array.from({ length: count }, () => condition([`segment.${id}`, "memberOfSegment"])),
      });
    const wide = filterSchema.parse({
      operator: "OR",
      conditions: [
        condition(["data.a.b.c.d", "contains", "x"]),
        condition(["data.a.b.c.d", "within", 3, "days"]),
        condition(["data.a.b.c.d", "in", ["x", 5, "2026-01-31"]]),
        condition(["event.paid", "triggered", 3, "days", 7]),
        ...Array.from({ length: 5 }, () => condition(["data.plan", "equals", "pro"])),
      ],
    });
    const sources: SegmentToStore[] = [
      { id: small, filters: wide },
      { id: large, filters: conditions(small, 20) },
    ];
    expect(await matching(conditions(large, 9), [payer, {}], sources)).toEqual([true, false]);
    await expect(matching(conditions(large, 10), [payer], sources)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });

  test("loads the members of one segment and all segments of a project", async () => {
    const { projectId, ids } = await storeContacts(database, [member, payer], segments);
    const sources = await loadSegments(database, projectId);
    expect([...sources.keys()].toSorted()).toEqual([fixed, pro, tracked].toSorted());
    expect(sources.get(tracked)).toEqual({
      id: tracked,
      name: tracked,
      type: "DYNAMIC",
      filters: paying,
      trackMembership: true,
    });
    const membersOf = async (id: string) => {
      const members = await membershipOf(database, id, { projectId, segments: sources });
      const { rows } = await sql<{ id: string }>`
        select c.id from contacts c where c.project_id = ${projectId} and ${members}`.execute(database);
      return rows.map((row) => row.id);
    };
    expect(await membersOf(fixed)).toEqual([ids[0]]);
    expect(await membersOf(pro)).toEqual([ids[1]]);
    expect(await loadSegmentsFor(database, projectId, [paying])).toEqual(new Map());
  });
});

test("lists may have the maximum number of values, including dates", async () => {
  const dates = Array.from({ length: LIMITS.filterValues.value }, (_, at) =>
    new Date(Date.UTC(2020, 0, 1, 0, 0, at)).toISOString(),
  );
  const last = dates.at(-1);
  expect(await mismatches(["data.a", "in", dates], [withA(last)], [withA("2020-01-02"), {}])).toEqual([]);
  expect(await mismatches(["data.a.b", "notIn", dates], [{}], [withA({ b: last })])).toEqual([]);
});

test("groups combine with AND and OR, also nested", async () => {
  const filter = filterSchema.parse({
    operator: "OR",
    conditions: [
      {
        operator: "AND",
        conditions: [condition(["data.a", "equals", 1]), condition(["data.b", "equals", 1])],
      },
      {
        logic: "AND",
        groups: [
          { filters: [condition(["data.c", "exists"])] },
          { filters: [condition(["data.b", "notExists"])] },
        ],
      },
    ],
  });
  const contacts = [{ a: 1, b: 1 }, { a: 1 }, { b: 1 }, { c: 1 }, { c: 1, b: 1 }, {}].map((data) => ({
    data,
  }));
  expect(await matching(filter, contacts)).toEqual([true, false, false, true, false, false]);
});

test("the current time is the default", async () => {
  const [fresh, stale] = [60_000, 3 * 86_400_000].map((agoMs) => new Date(Date.now() - agoMs).toISOString());
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const { projectId, ids } = await storeContacts(
    database,
    [fresh, stale].map((instant = "") => ({
      createdAt: instant,
      data: {
        a: instant,
        next: instant === fresh ? soon : instant,
        day: instant === fresh ? tomorrow : instant.slice(0, 10),
      },
      events: [{ name: "paid", at: instant }],
    })),
  );
  for (const input of [
    ["createdAt", "within", 1, "hours"],
    ["data.a", "within", 1, "hours"],
    ["event.paid", "triggeredWithin", 1, "hours"],
    ["data.next", "inNext", 2, "hours"],
    ["data.day", "anniversary", 1],
  ] as Input[]) {
    const restriction = await restrictionOf(database, readOne(input), { projectId, segments: new Map() });
    const { rows } = await sql<{ id: string }>`
      select c.id from contacts c where c.project_id = ${projectId} and ${restriction}`.execute(database);
    expect([input, rows]).toEqual([input, [{ id: ids[0] }]]);
  }
});

test(
  "events are read into memory while they are few, and looked up by contact otherwise",
  { timeout: 60_000 },
  async () => {
    const { projectId, ids } = await storeContacts(database, [
      { events: [{ name: "paid", at: "2026-01-01T00:00:00Z" }] },
      { subscribed: false },
      {},
    ]);
    await sql`
    insert into events (project_id, id, contact_id, name)
    select ${projectId}, gen_random_uuid(), ${ids[2]}, 'viewed' from generate_series(1, ${FEW_EVENTS + 1})`.execute(
      database,
    );
    const isHeld: boolean[] = [];
    for (const [event, found] of [
      ["paid", [ids[0], ids[1]]],
      ["viewed", [ids[1], ids[2]]],
    ] as const) {
      const filter = filterSchema.parse({
        operator: "OR",
        conditions: [condition([`event.${event}`, "triggered"]), condition(["subscribed", "equals", false])],
      });
      const matches = await restrictionForAll(database, filter, { projectId, segments: new Map() });
      const statement = sql<{ id: string; "QUERY PLAN": string }>`
      select c.id from contacts c where c.project_id = ${projectId} and ${matches} order by c.id`;
      expect((await statement.execute(database)).rows.map(({ id }) => id)).toEqual([...found].toSorted());
      const plan = await sql<{ "QUERY PLAN": string }>`explain ${statement}`.execute(database);
      isHeld.push(plan.rows.some((line) => line["QUERY PLAN"].includes("(hashed SubPlan")));
    }
    expect(isHeld).toEqual([true, false]);
  },
);

test("joins at most one of several AND conditions, even without table statistics", async () => {
  const segmentId = newId();
  const { projectId, ids } = await storeContacts(
    database,
    Array.from({ length: 6_000 }, () => ({ segments: [segmentId] })),
    [{ id: segmentId, filters: null }],
  );
  for (const name of ["came", "went", "paid", "left", "back", "again"])
    await sql`insert into events (project_id, id, contact_id, name)
      select ${projectId}, new_id(), id, ${name} from contacts where project_id = ${projectId}`.execute(
      database,
    );
  const segments = new Map([
    [segmentId, { id: segmentId, type: "STATIC", filters: null, trackMembership: false } as const],
  ]);
  const event = (name: string, value = 1) => condition([`event.${name}`, "triggered", value]);
  const isMember = condition([`segment.${segmentId}`, "memberOfSegment"]);
  for (const conditions of [
    [event("came"), event("went")],
    [event("came"), isMember],
    [event("came"), event("went"), event("paid"), event("left"), event("back"), event("again"), isMember],
  ]) {
    const filter = filterSchema.parse({ operator: "AND", conditions });
    for (const restrict of [restrictionForAll, restrictionOf]) {
      const matches = await restrict(database, filter, { projectId, segments });
      const { rows } = await sql<{
        "QUERY PLAN": string;
      }>`explain (analyze, timing off, buffers off, summary off)
        select c.id from contacts c where c.project_id = ${projectId} and ${matches}`.execute(database);
      const plan = rows.map((line) => line["QUERY PLAN"]);
      expect([
        plan[0]?.match(/actual rows=(\d+)/)?.[1],
        plan.filter((line) => line.includes("Rows Removed by Join Filter")),
      ]).toEqual([String(ids.length), []]);
    }
  }
});

test("an explanation has the shape of the filter and the compared value of each condition", async () => {
  const pro = newId();
  const segments = [{ id: pro, filters: readOne(["data.plan", "equals", "pro"]) }];
  const stored = {
    email: "ada@example.com",
    createdAt: "2026-01-01T00:00:00.000999Z",
    data: { plan: "free", profile: { tags: ["vip"] } },
    events: ["2026-03-01T00:00:00Z", "2026-03-30T00:00:00Z"].map((at) => ({ name: "paid", at })),
  };
  const { projectId, ids } = await storeContacts(database, [stored], segments);
  const filter = filterSchema.parse({
    operator: "OR",
    conditions: [
      condition(["data.plan", "equals", "pro"]),
      {
        operator: "AND",
        conditions: [condition(["event.paid", "triggered", 3]), condition(["email", "contains", "ADA"])],
      },
      condition(["data.profile.tags", "contains", "vip"]),
      condition(["data.missing", "notEquals", 1]),
      condition([`segment.${pro}`, "notMemberOfSegment"]),
      condition(["createdAt", "olderThan", 1, "months"]),
      condition(["event.never", "triggered"]),
    ],
  });
  const sources = { segments: await loadSegmentsFor(database, projectId, [filter]) };
  const contacts = await loadFilterContacts(database, {
    projectId,
    contactIds: ids,
    filters: [filter],
    ...sources,
  });
  const contact = contacts.get(ids[0] ?? "");
  if (contact === undefined) throw new Error("The contact was not read.");
  expect(explainFilter(filter, contact, { ...sources, now: NOW })).toEqual({
    operator: "OR",
    matches: true,
    conditions: [
      { field: "data.plan", operator: "equals", value: "pro", matches: false, seen: "free" },
      {
        operator: "AND",
        matches: false,
        conditions: [
          {
            field: "event.paid",
            operator: "triggered",
            value: 3,
            matches: false,
            seen: { count: 2, lastAt: "2026-03-30T00:00:00.000Z" },
          },
          { field: "email", operator: "contains", value: "ADA", matches: true, seen: "ada@example.com" },
        ],
      },
      { field: "data.profile.tags", operator: "contains", value: "vip", matches: true, seen: ["vip"] },
      { field: "data.missing", operator: "notEquals", value: 1, matches: true, seen: null },
      { field: `segment.${pro}`, operator: "notMemberOfSegment", matches: true, seen: false },
      {
        field: "createdAt",
        operator: "olderThan",
        value: 1,
        unit: "months",
        matches: true,
        seen: "2026-01-01T00:00:00.000Z",
      },
      { field: "event.never", operator: "triggered", matches: false, seen: { count: 0, lastAt: null } },
    ],
  });
});

test("loads only contacts of this project and only as many events as the filter counts", async () => {
  const events = ["2026-03-01", "2026-03-03", "2026-03-02"].map((day) => ({
    name: "paid",
    at: `${day}T00:00:00Z`,
  }));
  const { projectId, ids } = await storeContacts(database, [{ events }, {}]);
  const other = await storeContacts(database, [{}]);
  const load = (input: Input, leastEvents?: number) =>
    loadFilterContacts(database, {
      projectId,
      contactIds: [...ids, ...other.ids, newId()],
      filters: [readOne(input)],
      segments: new Map(),
      ...(leastEvents === undefined ? {} : { leastEvents }),
    });
  const days = (contacts: Awaited<ReturnType<typeof load>>) =>
    contacts
      .get(ids[0] ?? "")
      ?.events.get("paid")
      ?.map((at) => at.toISOString().slice(0, 10));
  expect([...(await load(["event.paid", "triggered"])).keys()].toSorted()).toEqual(ids.toSorted());
  expect(days(await load(["event.paid", "triggered"]))).toEqual(["2026-03-03"]);
  expect(days(await load(["event.paid", "triggered", 2]))).toEqual(["2026-03-03", "2026-03-02"]);
  expect(days(await load(["event.paid", "triggered"], 100))).toEqual([
    "2026-03-03",
    "2026-03-02",
    "2026-03-01",
  ]);
  expect(days(await load(["email", "contains", "a"]))).toBeUndefined();
});
