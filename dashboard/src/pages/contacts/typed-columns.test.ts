// What a column becomes is told as the API will read it, and what is chosen instead is written so that it does.
import { expect, test } from "vitest";
import { cellValue } from "@postloft/contract/cell.ts";
import { choicesFor, kindsOf, writeAs } from "./typed-columns.ts";

const column = (...cells: string[]) => cells.map((cell) => [cell]);

test("each value is of the kind that the import will make of it, empty cells are none", () => {
  expect(kindsOf(column("1", "2.50", "", " "), 0, null)).toEqual([["number", 2]]);
  expect(kindsOf(column("01234", "12345", "54321"), 0, null)).toEqual([
    ["number", 2],
    ["text", 1],
  ]);
  expect(kindsOf(column("2027-01-31", "31.01.2027"), 0, null)).toEqual([
    ["day", 1],
    ["text", 1],
  ]);
  expect(kindsOf(column("true", "FALSE"), 0, null)).toEqual([["boolean", 2]]);
  expect(kindsOf(column("yes"), 0, null)).toEqual([["text", 1]]);
  expect(kindsOf(column("'42", '["a"]'), 0, null)).toEqual([
    ["text", 1],
    ["json", 1],
  ]);
});

test("only what makes a difference can be chosen", () => {
  expect(choicesFor(column("pro", "free"), 0)).toEqual([]);
  expect(choicesFor(column("2027-01-31"), 0)).toEqual([]);
  expect(choicesFor(column("01234", "12345"), 0)).toEqual(["text"]);
  expect(choicesFor(column("ja", "nein", ""), 0)).toEqual(["boolean"]);
  expect(choicesFor(column("1", "0"), 0)).toEqual(["text", "boolean"]);
  expect(choicesFor(column("true"), 0)).toEqual(["text"]);
  expect(choicesFor(column("", ""), 0)).toEqual([]);
});

test("chosen as text, every value stays as it stands; as yes or no, words become it", () => {
  const cells = ["42", "007", "'42", "true", '{"a":1}', " 5", "+49 30"];
  expect(cells.map((cell) => cellValue(writeAs(cell, "text")))).toEqual([
    "42",
    "007",
    "42",
    "true",
    '{"a":1}',
    " 5",
    "+49 30",
  ]);
  expect(["Ja", " no ", "1", "", "perhaps"].map((cell) => writeAs(cell, "boolean"))).toEqual([
    "true",
    "false",
    "true",
    "",
    "perhaps",
  ]);
});
