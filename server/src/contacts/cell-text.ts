// Converts between CSV cells and values. Exports and imports share these rules, so that an exported file imports unchanged. Pure.
import { cellValue, needsEscapePrefix, quoteCell } from "@postloft/contract/cell.ts";
import { findHostileValues } from "../platform/http/body.ts";

/** Returns the value of a cell, or a fault if the value is an object that must not be stored. */
export function readCell(cell: string): { value: unknown } | { fault: string } {
  const value = cellValue(cell);
  if (typeof value !== "object") return { value };
  const [problem] = findHostileValues(value).problems;
  return problem === undefined ? { value } : { fault: problem.message };
}

/** Returns a value as a cell of a comma-separated CSV file (RFC 4180). */
export function writeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string")
    return quoteCell(typeof value === "object" ? JSON.stringify(value) : String(value));
  return quoteCell(needsEscapePrefix(value) ? `'${value}` : value);
}

/** Returns a CSV line with its line break. */
export function writeRow(values: readonly unknown[]): string {
  return `${values.map(writeCell).join(",")}\r\n`;
}
