// A file is read as the API reads it, and what is sent of it makes the API say of each row what it would say of the file itself.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits.ts";
import { createCsvReader, faultOfSurplus, isEmptyRow, MAX_CELLS } from "@postloft/contract/read-csv.ts";
import { countRows, writeCsv, type CsvTable, type Mapping } from "./csv.ts";
import { readTable } from "./read-table.ts";

function tableOf(text: string): CsvTable {
  const { table } = readTable(text);
  if (table === undefined) throw new Error(`not a table: ${text}`);
  return table;
}

/** What the API says of the rows of a file with so many columns, by their numbers. */
function saidOf(text: string, columns: number, separator = ","): Array<[row: number, said: string]> {
  const { next } = createCsvReader(text, separator, true);
  const said: Array<[number, string]> = [];
  for (let row = next(), number = 1; row !== null; row = next(), number++) {
    const fault = row.kind === "fault" ? row.fault : faultOfSurplus(row.cells, columns);
    if (fault !== null) said.push([number, fault.code]);
    else if (row.kind === "row" && !isEmptyRow(row.cells))
      said.push([number, Array.from({ length: columns }, (_, at) => row.cells[at] ?? "").join("|")]);
  }
  return said;
}

const write = (text: string, mapping: Mapping) =>
  writeCsv({ ...tableOf(text), name: "people.csv", isGuessed: false }, mapping, []).text();
const faultsOf = ({ faults, firstRow }: CsvTable) =>
  faults.map(({ at, firstCell, fault }) => [firstRow + at, firstCell, fault.code]);

test.for([
  ["a,b\n1,2", ["a", "b"]],
  ["a;b\n1;2,3", ["a", "b"]],
  ["a\tb, c\n1\t2", ["a", "b, c"]],
  ["a|b\n1|2", ["a", "b"]],
  ["Name, first;Address\nAda;ada@example.com\n", ["Name, first", "Address"]],
  ["email,name,city\nada@example.com\n", ["email", "name", "city"]],
  ["a;b", ["a", "b"]],
  ["address\nada@example.com", ["address"]],
] as const)("what separates the cells is seen: %j", ([text, header]) => {
  expect(tableOf(text).header).toEqual(header);
});

test("a quote that is never closed refuses the file, by the number of its row, and swallows nothing", () => {
  const text = '\n\nName;E-Mail\n\nAda;ada@example.com\nBo;"bo@example.com\nCy;cy@example.com\n';
  expect(readTable(text)).toEqual({ unclosedRow: 6 });
  expect(readTable('"Name;E-Mail\nAda;ada@example.com')).toEqual({ unclosedRow: 1 });
  expect(readTable('"Name"x;E-Mail\nAda;ada@example.com').headerFault?.code).toBe("row.quoteFollowed");
});

test("rows at fault are told by the numbers they have in the file, the others are taken", async () => {
  const text = [
    "",
    "Name;E-Mail;Plan",
    "Ada;ada@example.com;pro",
    "",
    'Bo;"bo@example.com" x;pro',
    "Cy, the third;cy@example.com;free;one;more",
    '"Dee, ""D""" ; dee@example.com',
    '"q" z;eve@example.com;pro',
    "only a name;;",
    " ; ; ",
    "Fay;fay@example.com;",
  ].join("\r\n");
  const table = tableOf(text);
  expect(countRows(table)).toBe(7);
  expect(faultsOf(table)).toEqual([
    [5, "Bo", "row.quoteFollowed"],
    [6, "Cy, the third", "row.moreCells"],
    [8, '"q" z', "row.quoteFollowed"],
  ]);
  expect(saidOf(await write(text, [null, "email", "plan"]), 2)).toEqual([
    [2, "email|plan"],
    [3, "ada@example.com|pro"],
    [5, "row.quoteFollowed"],
    [6, "row.moreCells"],
    [7, "dee@example.com|"],
    [8, "row.quoteFollowed"],
    // An address that is missing is a fault too.
    [9, " |"],
    [11, "fay@example.com|"],
  ]);
});

test("rows without end are told as such", async () => {
  const long = `x;"${"y".repeat(LIMITS.importRowBytes.value)}\n"`;
  const text = `a;email\n${long}\nAda;ada@example.com\n${";".repeat(MAX_CELLS)}\nBo;bo@example.com`;
  expect(faultsOf(tableOf(text))).toEqual([
    [2, "x", "row.long"],
    [4, "", "row.manyCells"],
  ]);
  expect(saidOf(await write(text, [null, "email"]), 1)).toEqual([
    [1, "email"],
    [2, "row.long"],
    [3, "ada@example.com"],
    [4, "row.manyCells"],
    [5, "bo@example.com"],
  ]);
});

test("whatever stands in a file, the API says of what is sent what it would say of the file", async () => {
  const anything = fc.string({
    unit: fc.constantFrom("a", "ü", '"', ",", ";", "\n", "\r", " "),
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(anything, async (below) => {
      const text = `email,b\nx,y\n${below}`;
      fc.pre(readTable(text).table?.header.length === 2);
      expect(saidOf(await write(text, ["email", "b"]), 2)).toEqual(saidOf(text, 2));
    }),
    { numRuns: 2_000 },
  );
});
