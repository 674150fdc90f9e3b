// Cells of a CSV file as values, and values as cells. Export writes with the same rules as import reads, so that a file that goes out and
// comes back says the same. Pure.
import { cellValue, needsMark, quoteCell } from "@postloft/contract/cell.ts";
import { findHostileValues } from "../platform/http/body.ts";

/** The value of a cell; a fault where it is an object that nobody may store. */
export function readCell(cell: string): { value: unknown } | { fault: string } {
  const value = cellValue(cell);
  if (typeof value !== "object") return { value };
  const [problem] = findHostileValues(value).problems;
  return problem === undefined ? { value } : { fault: problem.message };
}

/** A value as a cell of a CSV file with commas (RFC 4180). */
export function writeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string")
    return quoteCell(typeof value === "object" ? JSON.stringify(value) : String(value));
  return quoteCell(needsMark(value) ? `'${value}` : value);
}

/** A line of CSV with its line break. */
export function writeRow(values: readonly unknown[]): string {
  return `${values.map(writeCell).join(",")}\r\n`;
}
