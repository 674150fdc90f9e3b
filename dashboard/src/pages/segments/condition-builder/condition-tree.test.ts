// Tests that the tree behind the condition builder loses nothing the API accepts, and that every change keeps it valid.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  FILTER_OPERATORS,
  FILTER_UNITS,
  type FieldKind,
  type ValueForm,
} from "@postloft/contract/filter-fields.ts";
import { conditionsOf, filter as filterSchema, type Filter } from "@postloft/contract/filters.ts";
import {
  changeTree,
  filterOf,
  hasRoom,
  isComplete,
  isGroup,
  operatorsFor,
  readTree,
  rowsOf,
  withField,
  withOperator,
  type Tree,
} from "./condition-tree.ts";

const SEGMENT = "0190f5c2-0000-7000-8000-000000000001";
const FIELDS: Record<FieldKind, string> = {
  email: "email",
  subscribed: "subscribed",
  createdAt: "createdAt",
  updatedAt: "updatedAt",
  data: "data.plan",
  event: "event.signed-up",
  segment: `segment.${SEGMENT}`,
};
const VALUES: Record<ValueForm, object> = {
  none: {},
  text: { value: 'a, b\n"c" <b>' },
  texts: { value: ["a,b", "c\nd"] },
  boolean: { value: false },
  date: { value: "2026-02-03T04:05:06+02:00" },
  scalar: { value: 0 },
  scalars: { value: ["1", 1, true, ""].slice(0, 3) },
  order: { value: -1.5 },
  span: { value: 3, unit: "weeks" },
  count: { value: 2, window: 30, unit: "days" },
  day: { value: "2026-02-03" },
  daysAhead: { value: 14 },
};
const EVERY_CONDITION = Object.entries(FILTER_OPERATORS).flatMap(([kind, forms]) =>
  Object.entries(forms).map(([operator, form]) => ({
    field: FIELDS[kind as FieldKind],
    operator,
    ...VALUES[form as ValueForm],
  })),
);

const { filter: anyFilter } = fc.letrec<{ filter: unknown; part: unknown }>((tie) => ({
  filter: fc.record({
    operator: fc.constantFrom("AND", "OR"),
    conditions: fc.array(tie("part"), { minLength: 1, maxLength: 5 }),
  }),
  part: fc.oneof({ maxDepth: 4 }, fc.constantFrom(...EVERY_CONDITION), tie("filter")),
}));

const row = (value: string) => ({ field: "data.plan", operator: "equals" as const, value });
const flat = (...values: string[]): Filter => ({ operator: "AND", conditions: values.map(row) });
const valuesOf = (tree: Tree) => rowsOf(tree.root).map(({ condition }) => condition.value);
const keyOf = (tree: Tree, value: string) =>
  rowsOf(tree.root).find(({ condition }) => condition.value === value)?.key ?? -1;

test("preserves every filter that the API can return", () => {
  fc.assert(
    fc.property(anyFilter, (input) => {
      const read = filterSchema.safeParse(input);
      if (!read.success) return;
      expect(filterOf(readTree(read.data))).toEqual(read.data);
    }),
  );
  for (const condition of EVERY_CONDITION) expect(isComplete(condition as never)).toBe(true);
  expect(FILTER_UNITS.length).toBeGreaterThan(0);
});

test("adds, fills in and removes a condition, and returns no filter while one is incomplete", () => {
  const tree = readTree(flat("pro"));
  const added = changeTree(tree, { do: "add", group: tree.root.key });
  expect(filterOf(added)).toBeNull();
  const key = rowsOf(added.root)[1]?.key ?? -1;
  const filled = changeTree(added, { do: "change", part: key, condition: row("free") });
  expect(filterOf(filled)).toEqual(flat("pro", "free"));
  expect(filterOf(changeTree(filled, { do: "remove", part: key }))).toEqual(flat("pro"));
});

test("removing the last condition removes its group, and an empty builder starts a new one", () => {
  const nested: Filter = {
    operator: "AND",
    conditions: [row("pro"), { operator: "OR", conditions: [row("free")] }],
  };
  const tree = readTree(nested);
  expect(filterOf(changeTree(tree, { do: "remove", part: keyOf(tree, "free") }))).toEqual(flat("pro"));
  const single = readTree(flat("pro"));
  const emptied = changeTree(single, { do: "remove", part: keyOf(single, "pro") });
  expect(valuesOf(emptied)).toEqual([undefined]);
  expect(filterOf(emptied)).toBeNull();
});

test("nests a condition in a new group that uses the other operator", () => {
  const tree = readTree(flat("pro", "free"));
  const nested = changeTree(tree, { do: "nest", part: keyOf(tree, "free") });
  expect(filterOf(nested)).toEqual({
    operator: "AND",
    conditions: [row("pro"), { operator: "OR", conditions: [row("free")] }],
  });
  const group = nested.root.parts.find(isGroup);
  const joined = changeTree(nested, { do: "join", group: group?.key ?? -1, operator: "AND" });
  expect(joined.root.parts.find(isGroup)?.operator).toBe("AND");
  expect(joined.root.operator).toBe("AND");
});

test("moves a condition past its neighbour or out of its group, and stops at the ends", () => {
  const tree = readTree(flat("a", "b", "c"));
  const up = changeTree(tree, { do: "move", part: keyOf(tree, "c"), by: -1 });
  expect(valuesOf(up)).toEqual(["a", "c", "b"]);
  expect(valuesOf(changeTree(up, { do: "move", part: keyOf(up, "a"), by: -1 }))).toEqual(["a", "c", "b"]);
  const nested = readTree({
    operator: "AND",
    conditions: [row("a"), { operator: "OR", conditions: [row("b"), row("c")] }],
  });
  const out = changeTree(nested, { do: "move", part: keyOf(nested, "b"), by: -1 });
  expect(filterOf(out)).toEqual({
    operator: "AND",
    conditions: [row("a"), row("b"), { operator: "OR", conditions: [row("c")] }],
  });
  const last = changeTree(out, { do: "move", part: keyOf(out, "c"), by: 1 });
  expect(filterOf(last)).toEqual(flat("a", "b", "c"));
});

test("accepts 200 conditions and no more", () => {
  const many = flat(...Array.from({ length: 200 }, (_unused, at) => String(at)));
  const tree = readTree(many);
  expect(filterOf(tree)).toEqual(many);
  expect(hasRoom(tree)).toBe(false);
  expect(changeTree(tree, { do: "add", group: tree.root.key })).toBe(tree);
  const fewer = changeTree(tree, { do: "remove", part: keyOf(tree, "7") });
  expect(conditionsOf(filterOf(fewer) ?? flat())).toHaveLength(199);
  expect(hasRoom(fewer)).toBe(true);
});

test("keeps the value for another field or operator if it fits, and drops it otherwise", () => {
  const within = withOperator(row("pro"), "within");
  expect(within).toEqual({ field: "data.plan", operator: "within", value: 7, unit: "days" });
  expect(withOperator(row("pro"), "in")).toEqual({ field: "data.plan", operator: "in", value: ["pro"] });
  expect(withOperator(row("pro"), "notEquals")).toEqual({ ...row("pro"), operator: "notEquals" });
  expect(withField(row("pro"), "subscribed")).toEqual({
    field: "subscribed",
    operator: "equals",
    value: true,
  });
  expect(withField(row("pro"), "event.signed-up")).toEqual({
    field: "event.signed-up",
    operator: "triggered",
  });
  expect(withField(row("pro"), "data.city", "string")).toEqual({ ...row("pro"), field: "data.city" });
});

test("keeps the value if the new operator takes the same kind of date, and drops it otherwise", () => {
  const due = { field: "data.due", operator: "within" as const, value: 3, unit: "weeks" as const };
  expect(withOperator(due, "inNext")).toEqual({ ...due, operator: "inNext" });
  expect(withOperator(due, "anniversary")).toEqual({ field: "data.due", operator: "anniversary" });
  expect(withOperator(due, "isToday")).toEqual({ field: "data.due", operator: "isToday" });
  const soon = { field: "data.due", operator: "anniversary" as const, value: 3 };
  expect(withOperator(soon, "onDay")).toEqual({ field: "data.due", operator: "onDay" });
  expect(withOperator(soon, "inNext")).toEqual({ ...due, operator: "inNext", value: 7, unit: "days" });
  const onDay = { field: "data.due", operator: "onDay" as const, value: "2027-01-31" };
  expect(withOperator(onDay, "equals")).toEqual({ ...onDay, operator: "equals" });
});

test("a condition on a day is incomplete until its date is complete", () => {
  const onDay = { field: "data.due", operator: "onDay" as const };
  expect(isComplete(onDay)).toBe(false);
  expect(isComplete({ ...onDay, value: "soon" })).toBe(false);
  expect(isComplete({ ...onDay, value: "2027-01-31" })).toBe(true);
  expect(isComplete({ field: "data.due", operator: "anniversary" })).toBe(true);
  expect(isComplete({ field: "data.due", operator: "anniversary", value: -1 })).toBe(false);
});

test("offers the operators of the field's type and the one already used", () => {
  expect(operatorsFor({ field: "data.seats", operator: "equals" }, "number")).not.toContain("startsWith");
  expect(operatorsFor({ field: "data.seats", operator: "startsWith" }, "number")).toContain("startsWith");
  expect(operatorsFor({ field: "data.due", operator: "within" }, "date")).toContain("anniversary");
  expect(operatorsFor({ field: "createdAt", operator: "within" })).not.toContain("inNext");
  expect(operatorsFor({ field: "data.new", operator: "equals" })).toContain("within");
  expect(operatorsFor({ field: "event.x", operator: "triggered" })).not.toContain("exists");
  expect(operatorsFor({ field: "", operator: "exists" })).toEqual([]);
});
