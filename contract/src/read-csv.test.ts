// Tests CSV as found in practice, with quotes, line breaks, separators and faults, and that reading in parts returns the same as reading at
// once.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leastCpuMs } from "../../server/src/testing/cpu-timer.ts";
import { LIMITS } from "./limits/limits.ts";
import { createCsvReader, type CsvRow } from "./read-csv.ts";

/** Returns the cells of each row, or its fault as a message. */
function read(text: string, separator = ",", isEnd = true): Array<string[] | string> {
  const reader = createCsvReader(text, separator, isEnd);
  return [...rowsOf(reader.next)].map((row) => (row.kind === "row" ? row.cells : row.fault.text));
}

function* rowsOf(next: () => CsvRow | null): Generator<CsvRow> {
  for (let row = next(); row !== null; row = next()) yield row;
}

const STRAY = "There is text after a closing quote.";
const UNCLOSED = "A quoted cell is not closed.";

const FILES: Array<[string, string, Array<string[] | string>]> = [
  [
    "line feeds",
    "a,b\nc,d\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "no line break at the end",
    "a,b\nc,d",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "carriage returns and line feeds",
    "a,b\r\nc,d\r\n",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  [
    "carriage returns alone",
    "a,b\rc,d\r",
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["every kind in one file", "a\nb\r\nc\rd", [["a"], ["b"], ["c"], ["d"]]],
  ["empty lines", "a\n\n\r\n\rb", [["a"], [""], [""], [""], ["b"]]],
  [
    "empty cells",
    ",\n,,",
    [
      ["", ""],
      ["", "", ""],
    ],
  ],
  [
    "quotes",
    '"a","b, c"\n"d""e",""\n',
    [
      ["a", "b, c"],
      ['d"e', ""],
    ],
  ],
  ["line breaks in quotes", '"a\nb","c\r\nd"\ne', [["a\nb", "c\r\nd"], ["e"]]],
  [
    "blanks around",
    ' a , b\u00a0\n "c" , " d "\t\n',
    [
      ["a", "b"],
      ["c", " d "],
    ],
  ],
  ["a quote within a cell", '5" disk,a"b"c\nx', [['5" disk', 'a"b"c'], ["x"]]],
  ["text behind a quote spoils its line alone", '"a" b,"c"\nd,e\n', [STRAY, ["d", "e"]]],
  [
    "a quote too many does not swallow the rows behind it",
    'a,"b\nc,"d"\ne,f\n',
    [STRAY, ["c", "d"], ["e", "f"]],
  ],
  ["a quote never closed", 'a\nb,"c\nd\n', [["a"], UNCLOSED, ["d"]]],
  ["only a quote", '"', [UNCLOSED]],
  ["nothing", "", []],
];

test.for(FILES)("%s", ([, text, expected]) => {
  expect(read(text)).toEqual(expected);
});

test("reads semicolons and tabs as separators or as text, depending on the separator", () => {
  expect(read('a;"b;c";d,e\n', ";")).toEqual([["a", "b;c", "d,e"]]);
  expect(read('a\t"b\tc"\t\td\n', "\t")).toEqual([["a", "b\tc", "", "d"]]);
});

test("reads a row only when its end is there", () => {
  const incomplete = ["a,b", "a,b\r", '"a"', '"a', '"a""', '"a\nb', 'a,"'];
  expect(incomplete.map((text) => read(text, ",", false))).toEqual(incomplete.map(() => []));
  expect(read("a\nb\r", ",", false)).toEqual([["a"]]);
});

test("a fault contains the first cell of its row", () => {
  const faults = [...rowsOf(createCsvReader('ada@example.com,"x"y\n"q"z,1\n', ",", true).next)];
  expect(faults).toEqual([
    {
      kind: "fault",
      fault: expect.objectContaining({ text: STRAY }),
      firstCell: "ada@example.com",
      line: 'ada@example.com,"x"y',
      isUnclosed: false,
    },
    {
      kind: "fault",
      fault: expect.objectContaining({ text: STRAY }),
      firstCell: '"q"z',
      line: '"q"z,1',
      isUnclosed: false,
    },
  ]);
});

test("reports a too long row, with or without quotes, and reads the rest", () => {
  const limit = LIMITS.importRowBytes.value;
  const tooLong = `The row has more than ${limit.toLocaleString("en")} bytes.`;
  const long = "x".repeat(limit);
  expect(read(`a,${long}\nb\n`)).toEqual([tooLong, ["b"]]);
  expect(read(`a,"${long}\n"\nb\n`)).toEqual([tooLong, ["b"]]);
  expect(read(`"${long.slice(2)}"\nb\n`)).toEqual([[long.slice(2)], ["b"]]);
  expect(read(`${"ü".repeat(limit / 2)}ü\nb\n`)).toEqual([tooLong, ["b"]]);
});

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "ü", "🦀", '"', ",", "\n", "\r", " ") }),
  fc.string(),
);
const write = (text: string) => `"${text.replaceAll('"', '""')}"`;

test("reads back everything that is written in quotes", () => {
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 });
  fc.assert(
    fc.property(rows, fc.constantFrom("\n", "\r\n", "\r"), (drawn, lineBreak) => {
      const text = drawn.map((cells) => cells.map(write).join(",") + lineBreak).join("");
      expect(read(text)).toEqual(drawn);
    }),
  );
});

test("reading in parts returns the same as reading at once, wherever the cuts are", () => {
  const anything = fc.string({ unit: fc.constantFrom("a", "ü", '"', ",", "\n", "\r", " "), maxLength: 60 });
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 9 }), (text, partChars) => {
      const parts: Array<string[] | string> = [];
      for (let at = 0; at < text.length;) {
        // Same as in a job step: a part without a complete row is read again with more text.
        for (let length = partChars; ; length *= 2) {
          const isEnd = at + length >= text.length;
          const reader = createCsvReader(text.slice(at, at + length), ",", isEnd);
          const rows = [...rowsOf(reader.next)];
          parts.push(...rows.map((row) => (row.kind === "row" ? row.cells : row.fault.text)));
          if (rows.length === 0 && !isEnd) continue;
          at += reader.end();
          break;
        }
      }
      expect(parts).toEqual(read(text));
    }),
    { numRuns: 2_000 },
  );
});

test("reads a hostile file in linear time, not quadratic", async () => {
  const hostile = ['"a\n', 'a"b\n', '"a"b\n', '"",""x\n', `${'"a""b'.repeat(3)}\n`, ",", '"",'];
  for (const piece of hostile) {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(await leastCpuMs(10_000, () => read(text))).toBeLessThan(10_000);
  }
});
