// Tests which numbers JavaScript keeps and which would silently change.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { areNumbersKept } from "./exact-numbers.ts";

test.each([
  "0.1",
  "-0",
  "0e5",
  "1.50",
  "1e21",
  "1E+2",
  "100000000000000000000",
  "9007199254740992000e-3",
  "0.30000000000000004",
  "5e-324",
  '"12345678901234567890"',
  String.raw`{"12345678901234567890": "\"12345678901234567890"}`,
  "[]",
])("keeps %s as written", (json) => {
  expect(areNumbersKept(json)).toBe(true);
});

test.each([
  "9007199254740993",
  "1e309",
  "-12345678901234567890",
  "1e-400",
  '{"a": [0.10000000000000000001]}',
  String.raw`["\\", 12345678901234567890]`,
])("detects that %s would be stored as another number", (json) => {
  expect(areNumbersKept(json)).toBe(false);
});

test("accepts every JSON that JavaScript writes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(areNumbersKept(JSON.stringify(value))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
