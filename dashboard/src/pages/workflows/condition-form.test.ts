// Reads stored conditions for the condition builder, and writes them back with the same meaning.
import { expect, test } from "vitest";
import { readWorkflowCondition } from "@postloft/contract/workflows/condition.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { filterOfStored, storedFilterOf } from "./condition-form.ts";

const meaningOf = (condition: unknown) =>
  readWorkflowCondition(condition, ({ message }) => expect.unreachable(message));

test.each<[string, Record<string, unknown>]>([
  ["a single condition", { field: "data.plan", operator: "equals", value: "pro" }],
  ["a field of the contact", { field: "contact.data.plan", operator: "exists" }],
  ["data of the starting event", { field: "event.plan", operator: "equals", value: "pro" }],
  ["an event of the contact", { field: "event.bought", operator: "triggeredWithin", value: 3, unit: "days" }],
  ["the existence of event data", { field: "workflow.plan", operator: "exists" }],
  ["the result of a step", { field: "steps.Webhook.status", operator: "greaterThan", value: 299 }],
  [
    "groups inside a group",
    {
      operator: "OR",
      conditions: [
        { field: "subscribed", operator: "equals", value: true },
        { operator: "AND", conditions: [{ field: "event.seats", operator: "lessThan", value: 5 }] },
      ],
    },
  ],
  [
    "the form with groups of filters",
    { logic: "OR", groups: [{ filters: [{ field: "email", operator: "contains", value: "@acme" }] }] },
  ],
])("keeps the meaning of %s", (_name, stored) => {
  expect(meaningOf(storedFilterOf(filterOfStored(stored)))).toEqual(meaningOf(stored));
});

test("asks for the existence of event data, not for an event, when the operator changes", () => {
  const filter = filterOfStored({ field: "event.plan", operator: "equals", value: "pro" });
  const conditions = filter.conditions.map((part) => ({
    ...part,
    operator: "exists",
  })) as Filter["conditions"];
  expect(storedFilterOf({ ...filter, conditions }).conditions).toMatchObject([
    { field: "workflow.plan", operator: "exists" },
  ]);
});
