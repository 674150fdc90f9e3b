// Tests which differences between declared and returned rows are reported, and that the compiler sees the right places.
import { expect, test } from "vitest";
import { compareRows, faultsOfRow } from "./compare-rows.ts";
import type { DeclaredField, DeclaredRow, Kind } from "./declared-rows.ts";

const [BOOL, BYTEA, INT8, TEXT, TIMESTAMPTZ, UUID, TEXTS, JSONB, NUMERIC] = [
  16, 17, 20, 25, 1184, 2950, 1009, 3802, 1700,
];
const AT = "server/src/x/queries.ts:1:1";
const field = (...kinds: Kind[]): DeclaredField => ({ kinds, mayBeNull: false, mayBeMissing: false });
const row = (fields: Record<string, DeclaredField>): DeclaredRow => ({ at: AT, fields, others: null });
const ran = (columns: Record<string, number>, nulls: string[] = []) => ({
  at: AT,
  columns: Object.entries(columns),
  nulls,
});

test("accepts a row that matches its statement, and ignores unused columns", () => {
  const declared = row({
    id: field("string"),
    isOpen: field("boolean"),
    bytes: field("buffer"),
    count: field("number"),
    at: { ...field("date"), mayBeNull: true },
    names: field("string[]"),
    data: field("object"),
    kind: { ...field("string"), mayBeMissing: true },
  });
  const columns = {
    id: UUID,
    isOpen: BOOL,
    bytes: BYTEA,
    count: INT8,
    at: TIMESTAMPTZ,
    names: TEXTS,
    data: JSONB,
    other: TEXT,
  };
  expect(faultsOfRow(declared, ran(columns, ["at"]))).toEqual([]);
});

test("reports missing columns, other types and unexpected nulls", () => {
  const declared = row({
    name: field("string"),
    sum: field("number"),
    since: field("string"),
    ids: field("number[]"),
  });
  const columns = { title: TEXT, sum: NUMERIC, since: TEXT, ids: TEXTS };
  expect(faultsOfRow(declared, ran(columns, ["since"]))).toEqual([
    'no column "name" is returned',
    '"sum" is string, declared as number',
    '"since" was null, declared as never null',
    '"ids" is string[], declared as number[]',
  ]);
});

test("compares fields of any name", () => {
  const declared = { ...row({}), others: field("boolean") };
  expect(faultsOfRow(declared, ran({ a: BOOL, b: TEXT }))).toEqual(['"b" is string, declared as boolean']);
});

test("reports faults with their place, and statements at an unknown place", () => {
  const declared = [row({ id: field("string") }), { ...row({}), at: "server/src/y.ts:2:2" }];
  const run = [ran({ id: INT8 }), ran({ id: INT8 }), { ...ran({}), at: "server/src/z.ts:3:3" }];
  expect(compareRows(declared, run)).toEqual({
    faults: [
      `${AT}: "id" is number, declared as string`,
      "server/src/z.ts:3:3: nothing in the source runs a statement here",
    ],
    placesRun: 2,
    placesNotRun: ["server/src/y.ts:2:2"],
  });
});
