// Tests which inputs are filters, in both forms, and the exact position of each fault.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { leastCpuMs } from "../../server/src/testing/cpu-timer.ts";
import { z } from "zod";
import { readDate } from "./filter-dates.ts";
import { FILTER_OPERATORS, readField, type FieldKind, type ValueForm } from "./filter-fields.ts";
import { causesOf, filter, filterOrCondition, groupedFilter, isGroup, type Filter } from "./filters.ts";
import { LIMITS } from "./limits/limits.ts";

const MAX_ERROR_MS = 100;
const SEGMENT = "01890000-0000-7000-8000-00000000000a";
const body = z.object({ filters: filter });

/** Returns the filter, or its faults as `path code`. */
function read(filters: unknown, schema: z.ZodType = body): unknown {
  const parsed = schema.safeParse({ filters });
  if (parsed.success) return (parsed.data as { filters: Filter }).filters;
  return parsed.error.issues.map(
    (one) => `${one.path.join(".")} ${one.code === "custom" ? String(one.params?.["code"]) : one.code}`,
  );
}

const and = (...conditions: unknown[]) => ({ operator: "AND", conditions });
const or = (...conditions: unknown[]) => ({ operator: "OR", conditions });
const condition = (field: string, operator: string, value?: unknown, unit?: string) => ({
  field,
  operator,
  ...(value === undefined ? {} : { value }),
  ...(unit === undefined ? {} : { unit }),
});
const plan = condition("data.plan", "equals", "pro");

const FIELDS: Record<FieldKind, string> = {
  email: "email",
  subscribed: "subscribed",
  createdAt: "createdAt",
  updatedAt: "updatedAt",
  data: "data.plan",
  event: "event.order paid.twice",
  segment: `segment.${SEGMENT}`,
};
const GOOD_VALUES: Record<ValueForm, unknown[]> = {
  none: [{}],
  text: [{ value: "x" }],
  texts: [{ value: ["x", "y"] }],
  boolean: [{ value: false }],
  date: [{ value: "2026-01-31" }, { value: "2026-01-31T10:00:00.5+02:00" }],
  scalar: [{ value: "x" }, { value: 0 }, { value: false }, { value: "2024-02-29" }],
  scalars: [{ value: ["x", 1, true] }],
  order: [{ value: -1.5 }, { value: "2026-01-31T10:00:00Z" }],
  span: [{ value: 7, unit: "days" }],
  count: [{}, { value: 3 }, { value: 3, unit: "weeks", window: 2 }, { unit: "weeks", window: 2 }],
  day: [{ value: "2028-02-29" }],
  daysAhead: [{}, { value: 1 }, { value: 364 }],
};
/** Faults of each value form, with their position below the condition. */
const BAD_VALUES: Record<ValueForm, Array<[given: object, faults: string[]]>> = {
  none: [],
  text: [
    [{}, ["value required"]],
    [{ value: null }, ["value required"]],
    [{ value: 1 }, ["value invalid_type"]],
    [{ value: ["x"] }, ["value invalid_type"]],
    [{ value: "" }, ["value too_small"]],
    [{ value: "x".repeat(1001) }, ["value too_big"]],
    [{ value: "a\u0000" }, ["value invalid_string"]],
    [{ value: "\ud800" }, ["value invalid_string"]],
  ],
  texts: [
    [{}, ["value required"]],
    [{ value: "x" }, ["value invalid_type"]],
    [{ value: [] }, ["value too_small"]],
    [{ value: ["x", 1, ""] }, ["value.1 invalid_type", "value.2 too_small"]],
    [{ value: Array.from({ length: 1001 }, () => "x") }, ["value too_big"]],
  ],
  boolean: [
    [{}, ["value required"]],
    [{ value: "true" }, ["value invalid_type"]],
    [{ value: 1 }, ["value invalid_type"]],
  ],
  date: [
    [{}, ["value required"]],
    [{ value: 1 }, ["value invalid_type"]],
    [{ value: "yesterday" }, ["value invalid_date"]],
    [{ value: "2026-02-30" }, ["value invalid_date"]],
    [{ value: "2026-01-31T10:00" }, ["value invalid_date"]],
  ],
  scalar: [
    [{}, ["value required"]],
    [{ value: {} }, ["value invalid_type"]],
    [{ value: [1] }, ["value invalid_type"]],
    [{ value: "2026-02-29" }, ["value invalid_date"]],
    [{ value: Infinity }, ["value too_big"]],
  ],
  scalars: [
    [{}, ["value required"]],
    [{ value: 1 }, ["value invalid_type"]],
    [
      { value: [null, [], "2026-13-01T00:00:00Z"] },
      ["value.0 invalid_type", "value.1 invalid_type", "value.2 invalid_date"],
    ],
  ],
  order: [
    [{}, ["value required"]],
    [{ value: true }, ["value invalid_type"]],
    [{ value: "5" }, ["value invalid_date"]],
    [{ value: "2100-02-29" }, ["value invalid_date"]],
  ],
  span: [
    [{}, ["unit required", "value required"]],
    [{ value: 1 }, ["unit required"]],
    [{ value: 1, unit: "day" }, ["unit invalid_enum_value"]],
    [{ unit: "days" }, ["value required"]],
    [{ value: "7", unit: "days" }, ["value invalid_type"]],
    [{ value: 1.5, unit: "days" }, ["value invalid_type"]],
    [{ value: 0, unit: "days" }, ["value too_small"]],
    [{ value: -3, unit: "days" }, ["value too_small"]],
    [{ value: 1201, unit: "months" }, ["value too_big"]],
  ],
  count: [
    [{ value: "3" }, ["value invalid_type"]],
    [{ value: 0 }, ["value too_small"]],
    [{ value: 1001 }, ["value too_big"]],
    [{ value: 3, unit: "days" }, ["window required"]],
    [{ value: 3, window: 2 }, ["unit required"]],
    [{ unit: "years", window: 0 }, ["unit invalid_enum_value", "window too_small"]],
  ],
  day: [
    [{}, ["value required"]],
    [{ value: 20270131 }, ["value invalid_type"]],
    [{ value: "tomorrow" }, ["value invalid_date"]],
    [{ value: "2027-02-29" }, ["value invalid_date"]],
    [{ value: "2027-01-31T10:00:00Z" }, ["value invalid_date"]],
  ],
  daysAhead: [
    [{ value: "3" }, ["value invalid_type"]],
    [{ value: 1.5 }, ["value invalid_type"]],
    [{ value: -1 }, ["value too_small"]],
    [{ value: 365 }, ["value too_big"]],
    [{ value: 2, unit: "weeks" }, ["unit invalid_enum_value"]],
    [{ unit: "months" }, ["unit invalid_enum_value"]],
  ],
};

const CASES = Object.entries(FILTER_OPERATORS).flatMap(([kind, forms]) =>
  Object.entries(forms).map(([operator, form]) => [kind as FieldKind, operator, form as ValueForm] as const),
);

test.for(CASES)(
  "%s %s accepts valid values and reports the path of invalid ones",
  ([kind, operator, form]) => {
    const input = { field: FIELDS[kind], operator };
    for (const value of GOOD_VALUES[form]) {
      const good = { ...input, ...(value as object) };
      expect(read(and(plan, good))).toEqual(and(plan, good));
    }
    for (const [value, faults] of BAD_VALUES[form])
      expect(read(or(plan, and({ ...input, ...value }), plan))).toEqual(
        faults.map((fault) => `filters.conditions.1.conditions.0.${fault}`),
      );
    expect(read(and({ ...input, operator: `${operator}x` }))).toEqual([
      "filters.conditions.0.operator invalid_enum_value",
    ]);
  },
);

test("rejects an operator of another kind of field", () => {
  const all = new Set(CASES.map(([, operator]) => operator));
  const foreign = Object.entries(FILTER_OPERATORS).flatMap(([kind, forms]) =>
    [...all]
      .filter((operator) => !(operator in forms))
      .map((operator) => condition(FIELDS[kind as FieldKind], operator, "x", "days")),
  );
  expect(read(and(...foreign))).toEqual(
    foreign.map((_, at) => `filters.conditions.${at}.operator invalid_enum_value`),
  );
  for (const operator of ["toString", "constructor", "__proto__", 5, null])
    expect(read(and({ field: "data.x", operator }))).toEqual([
      `filters.conditions.0.operator ${operator === null ? "required" : "invalid_enum_value"}`,
    ]);
});

test.for([
  [undefined, "filters required"],
  [null, "filters invalid_type"],
  [[], "filters invalid_type"],
  ["x", "filters invalid_type"],
  [{}, "filters.operator required", "filters.conditions required"],
  [{ operator: "and", conditions: [plan] }, "filters.operator invalid_enum_value"],
  [{ operator: "AND" }, "filters.conditions required"],
  [{ operator: "AND", conditions: {} }, "filters.conditions invalid_type"],
  [and(), "filters.conditions too_small"],
  [and(plan, or()), "filters.conditions.1.conditions too_small"],
  [and(plan, null, 5), "filters.conditions.1 invalid_type", "filters.conditions.2 invalid_type"],
  [and({}), "filters.conditions.0.field required"],
  [and({ field: 5, operator: "equals" }), "filters.conditions.0.field invalid_type"],
  [and(condition("plan", "equals", 1)), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("data.", "exists")), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("data.a.b.c.d.e.f.g.h.i.j.k", "exists")), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("event. ", "triggered")), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("email.read", "triggered")), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("segment.vip", "memberOfSegment")), "filters.conditions.0.field invalid_enum_value"],
  [and(condition("data.a\u0000", "exists")), "filters.conditions.0.field invalid_string"],
  [
    and({ field: "data.a", operator: "equals" }, plan, condition("data.b", "within", 1)),
    "filters.conditions.0.value required",
    "filters.conditions.2.unit required",
  ],
  [plan, "filters.operator invalid_enum_value", "filters.conditions required"],
  [{ logic: "AND", groups: [] }, "filters.groups too_small"],
  [{ logic: "X", groups: [{}] }, "filters.logic invalid_enum_value", "filters.groups.0.filters required"],
  [{ groups: [{ filters: [plan] }] }, "filters.logic required"],
  [
    { logic: "AND", groups: [{ filters: [{ ...plan, value: {} }] }, 5] },
    "filters.groups.0.filters.0.value invalid_type",
    "filters.groups.1 invalid_type",
  ],
  [
    {
      logic: "AND",
      groups: [{ filters: [], conditions: { logic: "OR", groups: [{ filters: [plan, {}] }] } }],
    },
    "filters.groups.0.conditions.groups.0.filters.1.field required",
  ],
] as const)("rejects %j at %s", ([input, ...faults]) => {
  expect(read(input)).toEqual(faults);
});

test("drops values that an operator does not use and normalizes field names", () => {
  const input = and(
    { ...condition("data.x", "exists", "left over", "days"), window: 3, note: "x" },
    condition("event. paid ", "notTriggered", 3),
    condition("email.open", "triggered"),
    condition(`segment.${SEGMENT.toUpperCase()}`, "memberOfSegment", true),
  );
  expect(read(input)).toEqual(
    and(
      { field: "data.x", operator: "exists" },
      { field: "event.paid", operator: "notTriggered" },
      { field: "email.opened", operator: "triggered" },
      { field: `segment.${SEGMENT}`, operator: "memberOfSegment" },
    ),
  );
});

test("a filter is optional if the schema says so, and its transformation is then skipped", () => {
  const schema = z.object({ filters: filter.optional() });
  expect(schema.parse({})).toEqual({});
  expect(schema.parse({ filters: and(plan) })).toEqual({ filters: and(plan) });
  expect(z.object({ filters: filter }).safeParse({}).success).toBe(false);
});

test("reads a single condition as a filter with one condition where allowed", () => {
  const schema = z.object({ filters: filterOrCondition });
  expect(read(plan, schema)).toEqual(and(plan));
  expect(read(or(plan), schema)).toEqual(or(plan));
  expect(read({ field: "data.x", operator: "equals" }, schema)).toEqual(["filters.value required"]);
});

const nested = (depth: number): unknown => {
  let inner: unknown = and(plan);
  for (let at = 1; at < depth; at++) inner = and(inner);
  return inner;
};
const nestedGroups = (depth: number): unknown => {
  let inner: unknown = { logic: "AND", groups: [{ filters: [plan, plan] }] };
  for (let at = 1; at < depth; at++)
    inner = { logic: "OR", groups: [{ filters: [plan], conditions: inner }] };
  return inner;
};
const many = (count: number) => Array.from({ length: count }, () => plan);

describe("size limits", () => {
  test("accepts ten levels and two hundred conditions", () => {
    expect(read(nested(10))).toEqual(nested(10));
    expect(read(and(...many(100), or(...many(100))))).toEqual(and(...many(100), or(...many(100))));
    expect(Array.isArray(read(nestedGroups(10)))).toBe(false);
  });

  test.for<[unknown, string]>([
    [nested(11), `filters${".conditions.0".repeat(10)} too_big`],
    [nested(1000), `filters${".conditions.0".repeat(10)} too_big`],
    [nestedGroups(1000), `filters${".groups.0.conditions".repeat(10)} too_big`],
    [and(...many(201)), "filters too_big"],
    [and(...many(100), or(...many(101))), "filters too_big"],
    [and(...many(10_000)), "filters too_big"],
    [{ logic: "AND", groups: many(10_000).map((one) => ({ filters: [one] })) }, "filters too_big"],
    [and(...Array.from({ length: 100 }, () => and(...many(100)))), "filters too_big"],
  ])("rejects a larger filter quickly (%#)", async ([input, fault]) => {
    expect(read(input)).toEqual([fault]);
    expect(await leastCpuMs(MAX_ERROR_MS, () => read(input))).toBeLessThan(MAX_ERROR_MS);
  });

  test("limits the number of reported faults", () => {
    const empty = and(...Array.from({ length: 200 }, () => and()));
    const faults = read(and(...Array.from({ length: 200 }, () => empty))) as string[];
    expect(faults.length).toBeLessThan(2 * LIMITS.filterConditions.value + 1_000);
  });

  test("limits the depth of a filter in the second form as in the first form", () => {
    let inner: unknown = { logic: "OR", groups: [{ filters: [plan, plan] }, { filters: [plan] }] };
    for (let at = 0; at < 6; at++)
      inner = { logic: "OR", groups: [{ filters: [plan], conditions: inner }, { filters: [plan] }] };
    expect(read(inner)).toEqual(["filters too_big"]);
  });
});

const leaves = fc.constantFrom(
  plan,
  condition("subscribed", "equals", true),
  condition("event.paid", "triggeredWithin", 3, "weeks"),
) as fc.Arbitrary<Filter["conditions"][number]>;
const filters = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.record({
    operator: fc.constantFrom("AND" as const, "OR" as const),
    conditions: fc.array(
      fc.oneof({ weight: 3, arbitrary: leaves }, { weight: 1, arbitrary: tie("filter") }),
      {
        minLength: 1,
        maxLength: 4,
        depthIdentifier: "filter",
      },
    ),
  }),
})).filter;

/** Returns the filter without groups that contain only a group. */
function simplified(input: Filter): Filter {
  const [only] = input.conditions;
  if (input.conditions.length === 1 && only !== undefined && isGroup(only)) return simplified(only);
  return {
    operator: input.operator,
    conditions: input.conditions.map((part) => (isGroup(part) ? simplified(part) : part)),
  };
}

test("converting to the second form and back returns the same filter", () => {
  fc.assert(
    fc.property(filters, (input) => {
      const first = filter.safeParse(input);
      fc.pre(first.success);
      expect(simplified(filter.parse(groupedFilter(input)))).toEqual(simplified(input));
    }),
    { seed: 4, numRuns: 500 },
  );
});

test("reads the second form as the reference's clients write it", () => {
  const age = condition("data.age", "greaterThan", 30);
  const paid = condition("event.paid", "triggered");
  const input = {
    logic: "OR",
    groups: [
      { filters: [plan, age] },
      { filters: [paid], conditions: { logic: "OR", groups: [{ filters: [plan] }, { filters: [age] }] } },
      { filters: [paid] },
    ],
  };
  expect(read(input)).toEqual(or(and(plan, age), and(paid, or(plan, age)), paid));
  expect(read({ logic: "AND", groups: [{ filters: [plan, age] }] })).toEqual(and(plan, age));
  expect(read({ logic: "AND", groups: [{ filters: [plan] }] })).toEqual(and(plan));
});

const causes = (...conditions: unknown[]) => causesOf(filter.parse(or(and(...conditions))));

test("causes of a change in matching", () => {
  const none = { contact: false, events: [], emails: [], segments: [], timeBased: false };
  expect(causes(plan)).toEqual({ ...none, contact: true });
  expect(causes(condition("subscribed", "equals", true))).toEqual({ ...none, contact: true });
  expect(causes(condition("event.paid", "triggered"), condition("event.paid", "triggered", 3))).toEqual({
    ...none,
    events: ["paid"],
  });
  expect(causes(condition("email.opened", "triggered"))).toEqual({ ...none, emails: ["email.open"] });
  expect(causes(condition("event.paid", "triggeredWithin", 3, "days"))).toEqual({
    ...none,
    events: ["paid"],
    timeBased: true,
  });
  expect(causes({ ...condition("event.paid", "triggered", 3, "days"), window: 3 }).timeBased).toBe(true);
  expect(causes(condition("createdAt", "olderThan", 3, "days"))).toEqual({
    ...none,
    contact: true,
    timeBased: true,
  });
  for (const ahead of [
    condition("data.due", "inNext", 3, "days"),
    condition("data.due", "isToday"),
    condition("createdAt", "anniversary"),
    condition("data.due", "anniversary", 7),
  ])
    expect(causes(ahead)).toEqual({ ...none, contact: true, timeBased: true });
  expect(causes(condition("data.due", "onDay", "2027-01-31"))).toEqual({ ...none, contact: true });
  expect(causes(condition(`segment.${SEGMENT}`, "memberOfSegment"))).toEqual({
    ...none,
    segments: [SEGMENT],
  });
  expect(causes(condition("event.paid", "notTriggered"))).toEqual({
    ...none,
    contact: true,
    events: ["paid"],
  });
  expect(causes(condition(`segment.${SEGMENT}`, "notMemberOfSegment"))).toEqual({
    ...none,
    contact: true,
    segments: [SEGMENT],
  });
});

test("a field ends at its first dot", () => {
  expect(readField("data.email.opened")).toEqual({ kind: "data", key: "email.opened" });
  expect(readField("data.my key.x")).toEqual({ kind: "data", key: "my key.x" });
  expect(readField("event.segment.vip.entry")).toEqual({
    kind: "event",
    event: "segment.vip.entry",
    isMail: false,
  });
  expect(readField("email.clicked")).toEqual({ kind: "event", event: "email.click", isMail: true });
  expect(readField("email")).toEqual({ kind: "email" });
});

const pad = (number: number, length: number) => String(number).padStart(length, "0");

describe("dates", () => {
  test("accepts every day that exists and no other", () => {
    for (const year of [1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999])
      for (let month = 0; month <= 13; month++)
        for (let day = 0; day <= 32; day++) {
          const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
          const real = new Date(0);
          real.setUTCFullYear(year, month - 1, day);
          const exists = real.getUTCMonth() === month - 1 && real.getUTCDate() === day && day > 0;
          expect([text, readDate(text)]).toEqual([
            text,
            exists ? { atMs: real.getTime(), hasTime: false } : null,
          ]);
        }
  });

  test.for<[string, string | null]>([
    ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T10:00:00.5Z", "2026-01-31T10:00:00.500Z"],
    ["2026-01-31T10:00:00.123999999Z", "2026-01-31T10:00:00.123Z"],
    ["2026-01-31T10:00:00.1234567+02:00", "2026-01-31T08:00:00.123Z"],
    ["2026-01-31T23:30:00-01:30", "2026-02-01T01:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
    ["0000-01-01", null],
    ["0001-01-01T00:00:00+01:00", null],
    ["9999-12-31T23:59:59-01:00", null],
    ["2026-01-31T24:00:00Z", null],
    ["2026-01-31T10:60:00Z", null],
    ["2026-01-31T10:00:60Z", null],
    ["2026-01-31T10:00:00", null],
    ["2026-01-31T10:00:00z", null],
    ["2026-01-31 10:00:00Z", null],
    ["2026-01-31T10:00:00.Z", null],
    ["2026-01-31T10:00:00.1234567890Z", null],
    ["2026-01-31T10:00:00+15:00", null],
    ["2026-01-31T10:00:00+0100", null],
    ["+002026-01-31T10:00:00Z", null],
    ["2026-01-31\n", null],
    [" 2026-01-31", null],
    ["٢٠٢٦-01-31", null],
    ["20260131", null],
    ["", null],
  ])("%j is %s", ([text, instant]) => {
    const date = readDate(text);
    expect(date === null ? null : new Date(date.atMs).toISOString()).toBe(instant);
  });
});
