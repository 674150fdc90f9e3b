// Tests the search parameters of the contacts page and their round trip through a saved view.
import { expect, test } from "vitest";
import type { Filter } from "@postloft/contract/filters.ts";
import { fitsIntoUrl, isSameView, readContactsSearch, searchOfView, viewQueryOf } from "./search.ts";

const FILTER: Filter = {
  operator: "OR",
  conditions: [
    { field: "data.plan", operator: "equals", value: "pro" },
    {
      operator: "AND",
      conditions: [{ field: "event.seen", operator: "triggeredWithin", value: 3, unit: "days" }],
    },
  ],
};

test("reads a filter from the URL unchanged and drops anything that is no filter", () => {
  expect(readContactsSearch({ filter: FILTER, status: "subscribed" })).toEqual({
    filter: FILTER,
    status: "subscribed",
  });
  const deep = Array.from({ length: 30 }).reduce<unknown>(
    (inner) => ({ operator: "AND", conditions: [inner] }),
    FILTER,
  );
  for (const filter of [
    "x",
    null,
    [],
    {},
    { operator: "XOR", conditions: FILTER.conditions },
    { operator: "AND", conditions: [] },
    { operator: "AND", conditions: [{ field: "email" }] },
    { operator: "AND", conditions: [null] },
    deep,
  ])
    expect(readContactsSearch({ filter })).toEqual({});
});

test("compares views regardless of key order", () => {
  const search = { filter: FILTER, segment: "s", dir: "asc" as const };
  const asStored = {
    dir: "asc" as const,
    filters: {
      conditions: [
        { value: "pro", field: "data.plan", operator: "equals" },
        {
          conditions: [{ unit: "days", value: 3, field: "event.seen", operator: "triggeredWithin" }],
          operator: "AND",
        },
      ],
      operator: "OR",
    },
    segmentId: "s",
  };
  expect(isSameView(viewQueryOf(search), asStored)).toBe(true);
  expect(searchOfView({ id: "v", query: asStored })).toEqual({ ...search, view: "v" });
  expect(isSameView(viewQueryOf({ ...search, dir: "desc" }), asStored)).toBe(false);
  const other = { ...asStored, filters: { ...asStored.filters, operator: "AND" } };
  expect(isSameView(viewQueryOf(search), other)).toBe(false);
});

const many = (count: number): Filter => ({
  operator: "OR",
  conditions: Array.from({ length: count }, (_unused, at) => ({
    field: `data.field${at}`,
    operator: "equals",
    value: "مرحبا",
  })),
});

test("detects a filter that is too long for the URL", () => {
  expect(fitsIntoUrl(many(10))).toBe(true);
  expect(fitsIntoUrl(many(200))).toBe(false);
});
