// Tests that the parts of a large table contain every row once, in order, below the same header.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import { splitTable } from "./split-table.ts";

const PREAMBLE = "Newsletter 2024,,\r\n,,\r\nemail,näme,note\r\n";

function rowsOf(text: string): string[][] {
  const { next } = createCsvReader(text, ",", true);
  const rows: string[][] = [];
  for (let row = next(); row !== null; row = next())
    rows.push(row.kind === "row" ? row.cells : [row.firstCell]);
  return rows;
}

test("parts repeat the header, stay within the limit and number their rows as the file does", async () => {
  const cell = fc.constantFrom("ada@example.com", "Zoë", '"two\nlines, ""quoted"""', "", "日本語", " ");
  const row = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(","));
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 60 }),
      fc.integer({ min: 150, max: 600 }),
      async (rows, most) => {
        const text = PREAMBLE + rows.join("\r\n");
        const parts = await splitTable({ text, separator: ",", start: PREAMBLE.length }, most);
        let before = 0;
        for (const part of parts) {
          expect(part.text.startsWith(PREAMBLE)).toBe(true);
          expect(part.rowOffset).toBe(before);
          expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(most);
          before += rowsOf(part.text.slice(PREAMBLE.length)).length;
        }
        const together = parts.map((part) => part.text.slice(PREAMBLE.length)).join("");
        expect(PREAMBLE + together).toBe(text);
      },
    ),
  );
});

test("a table that fits is one part, identical to the file", async () => {
  const text = `${PREAMBLE}ada@example.com,Ada,\n`;
  expect(await splitTable({ text, separator: ",", start: PREAMBLE.length }, Buffer.byteLength(text))).toEqual(
    [{ text, rowOffset: 0 }],
  );
});

test("a row above the limit gets a separate part, and other rows stay within it", async () => {
  const rows = ["a@example.com", `b@example.com,${"x".repeat(500)}`, "c@example.com"];
  const text = `email,note\n${rows.join("\n")}`;
  const parts = await splitTable({ text, separator: ",", start: "email,note\n".length }, 200);
  expect(parts.map((part) => [part.rowOffset, rowsOf(part.text).length - 1])).toEqual([
    [0, 1],
    [1, 1],
    [2, 1],
  ]);
});
