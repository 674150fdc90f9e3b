// The tree behind the condition builder: what it takes in it gives back, whatever is done in between stays a condition the API takes.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FILTER_OPERATORS, type FilterOperator } from "@postloft/contract/filter-fields.ts";
import { filter, type Filter, type FilterCondition } from "@postloft/contract/filters.ts";
import {
  addTo,
  changeAt,
  isComplete,
  isGroup,
  NEW_CONDITION,
  NEW_FILTER,
  removeAt,
  withField,
} from "./tree.ts";

const plan: FilterCondition = { field: "data.plan", operator: "equals", value: "pro" };
const opened: FilterCondition = {
  field: "email.opened",
  operator: "triggeredWithin",
  value: 7,
  unit: "days",
};
const nested: Filter = {
  operator: "OR",
  conditions: [plan, { operator: "AND", conditions: [opened, plan] }],
};

test("a part is added, changed and removed where the path leads, and nothing else is touched", () => {
  expect(addTo(nested, [1], NEW_CONDITION).conditions[1]).toEqual({
    operator: "AND",
    conditions: [opened, plan, NEW_CONDITION],
  });
  expect(changeAt(nested, [1, 0], () => plan).conditions).toEqual([
    plan,
    { operator: "AND", conditions: [plan, plan] },
  ]);
  expect(removeAt(nested, [1, 1]).conditions).toEqual([plan, { operator: "AND", conditions: [opened] }]);
});

test("a group that lost its last condition goes, and the tree always has one", () => {
  const once = removeAt(removeAt(nested, [1, 0]), [1, 0]);
  expect(once).toEqual({ operator: "OR", conditions: [plan] });
  expect(removeAt(once, [0]).conditions).toEqual([NEW_CONDITION]);
  expect(isComplete(NEW_FILTER)).toBe(false);
});

const FIELDS = ["email", "subscribed", "createdAt", "data.plan", "event.signed-up", "email.opened"];
const KINDS = ["email", "subscribed", "createdAt", "data", "event", "event"] as const;

test("whatever field and operator are chosen, the operator is one the field takes", () => {
  const step = fc.record({ field: fc.constantFrom(...FIELDS) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), (steps) => {
      const last = steps.reduce((condition, { field }) => withField(condition, field), plan);
      const kind = KINDS[FIELDS.indexOf(last.field)] ?? "data";
      expect(Object.keys(FILTER_OPERATORS[kind])).toContain(last.operator);
    }),
  );
});

test("200 conditions, nested, come out as the API takes them", () => {
  const many: Filter = {
    operator: "AND",
    conditions: Array.from({ length: 20 }, () => ({
      operator: "OR" as const,
      conditions: Array.from({ length: 10 }, () => opened),
    })),
  };
  const changed = changeAt(many, [7, 3], (part) => (isGroup(part) ? part : withField(part, "data.plan")));
  const filled = changeAt(changed, [7, 3], (part) =>
    isGroup(part) ? part : { ...part, operator: "equals" as FilterOperator, value: "pro" },
  );
  expect(isComplete(filled)).toBe(true);
  expect(filter.parse(filled)).toEqual(filled);
});
