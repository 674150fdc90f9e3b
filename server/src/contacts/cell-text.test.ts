// CSV cells: parsing, formula protection, and round trips.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { quoteCell, readTextCell } from "@postloft/contract/cell.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import { readCell, writeCell, writeRow } from "./cell-text.ts";

const MEANINGS: Array<[string, unknown]> = [
  ["42", 42],
  ["-1.5", -1.5],
  ["0", 0],
  ["0.50", 0.5],
  ["999999999999999", 999999999999999],
  ["0.30000000000000004", 0.1 + 0.2],
  ["1234567890.1234567", 1234567890.1234567],
  ["true", true],
  ["FALSE", false],
  ['{"a":[1,null]}', { a: [1, null] }],
  ["[]", []],
  ["'42", "42"],
  ["'=1+1", "=1+1"],
  ["''x", "''x"],
  ["'tis", "'tis"],
];
const TEXTS = [
  "007",
  "+49301234",
  "1e5",
  "1e300",
  "1234567890123456",
  ".5",
  "1.",
  "1,5",
  "0x10",
  "Infinity",
  "NaN",
  "null",
  "yes",
  "2026-01-31",
  "2026-01-31T10:00:00Z",
  "{draft}",
  "[1",
  "١٢",
  " x",
];

test.for(MEANINGS)("reads %s as its value", ([cell, value]) => {
  expect(readCell(cell)).toEqual({ value });
});

test.for(TEXTS)("reads %s as text", (cell) => {
  expect(readCell(cell)).toEqual({ value: cell });
});

test("rejects objects that could reach a prototype or that are nested too deeply", () => {
  for (const cell of [
    '{"__proto__":{"polluted":1}}',
    '[{"constructor":1}]',
    '["a\\u0000"]',
    "[".repeat(50) + "]".repeat(50),
  ])
    expect(readCell(cell)).toHaveProperty("fault");
  expect({}).not.toHaveProperty("polluted");
});

test("writes formulas as text and numbers unchanged", () => {
  const fullWidth = ["＝1+1", "＋1", "－1", "＠a", "\u00a0＝1"];
  expect(fullWidth.map(writeCell)).toEqual(fullWidth.map((text) => quoteCell(`'${text}`)));
  expect(fullWidth.map((text) => readCell(`'${text}`))).toEqual(fullWidth.map((value) => ({ value })));
  const written = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", " =1", "'=1", "-x", -1, true].map(writeCell);
  expect(written).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@a",
    '"\'\t=1"',
    '"\'\r=1"',
    "' =1",
    "''=1",
    "'-x",
    "-1",
    "true",
  ]);
  expect(writeRow(['a "b", c', null, undefined, "d\ne"])).toBe('"a ""b"", c",,,"d\ne"\r\n');
});

/** Reads the cell out of a CSV line, as an import does. */
function readBack(value: unknown) {
  const row = createCsvReader(writeRow(["x", value]), ",", true).next();
  return row?.kind === "row" ? row.cells[1] : undefined;
}

test("every written text is read back unchanged", () => {
  const odd = fc.string({
    unit: fc.constantFrom(
      "'",
      "=",
      "+",
      "-",
      "1",
      ".",
      "e",
      "[",
      "]",
      "{",
      "}",
      '"',
      " ",
      "\t",
      "\r",
      "\n",
      ",",
    ),
  });
  const word = fc.constantFrom("true", "False", "42", "'42", " 1", "1 ", "[1]", '{"a":1}', "'", "''=");
  fc.assert(
    fc.property(fc.oneof(odd, word, fc.string()), (text) => {
      const cell = readBack(text) ?? "";
      expect(text === "" ? { value: cell } : readCell(cell)).toEqual({ value: text });
      expect(readTextCell(cell)).toBe(text);
    }),
    { numRuns: 3_000 },
  );
});

test("numbers of up to 15 digits, booleans, lists and objects keep their type in a round trip", () => {
  const value = fc.oneof(
    fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e14, max: 1e14 })
      .filter((number) => !String(number).includes("e"))
      .filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.array(fc.jsonValue(), { maxLength: 3 }),
    fc.dictionary(
      fc.string().filter((key) => !["__proto__", "constructor", "prototype"].includes(key)),
      fc.string(),
    ),
  );
  fc.assert(
    fc.property(value, (drawn) => {
      const expected: unknown = JSON.parse(JSON.stringify(drawn));
      fc.pre(!/__proto__|"constructor"|"prototype"/.test(JSON.stringify(drawn)));
      expect(readCell(readBack(drawn) ?? "")).toEqual({ value: expected });
    }),
    { numRuns: 1_000 },
  );
});

test("negative numbers and phone numbers survive a round trip", () => {
  const values = [-5, -0.5, "-5", "+49 30 1234", "+4930123456789", "−5", "=A1", "＋49 30"];
  const cells = values.map(writeCell);
  expect(cells.slice(0, 4)).toEqual(["-5", "-0.5", "'-5", "'+49 30 1234"]);
  expect(cells.map((cell) => readCell(cell))).toEqual(values.map((value) => ({ value })));
});
