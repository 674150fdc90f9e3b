// What a cell of a spreadsheet says: text, number, boolean, object. Export writes with the same rules as import reads, so that a file
// that goes out and comes back says the same. Pure.
// Before it: import/ has a cell, export-contacts.ts has a value. After it: contacts, or a line of CSV.
import { findHostileValues } from "../platform/http-body.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A number of so many digits is exact as JavaScript holds it; longer ones are identifiers. */
const EXACT_DIGITS = 15;
const BOOLEAN = /^(?:true|false)$/i;
/** What makes a formula of a cell in a spreadsheet program (reliability case S59). */
const FORMULA = /^[=+\-@\t\r]/;
const OBJECT = /^(?:\{[^]*\}|\[[^]*\])$/;
const OUTER_BLANKS = /^\s|\s$/;
const NEEDS_QUOTES = /[",;\n\r\t]/;

/** The value of a cell as its text says (spec §2.3); a text stays as it is, blanks included. */
function plainValue(text: string): unknown {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) return isExact(trimmed) ? Number(trimmed) : text;
  if (BOOLEAN.test(trimmed)) return trimmed.toLowerCase() === "true";
  return OBJECT.test(trimmed) ? (parseObject(trimmed) ?? text) : text;
}

function isExact(digits: string): boolean {
  if (digits.length <= EXACT_DIGITS) return true;
  if (digits.replace(/[-.]/g, "").length <= EXACT_DIGITS) return true;
  return digits.includes(".") && String(Number(digits)) === digits;
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It only looks like JSON: a text in brackets.
    return undefined;
  }
}

/**
 * Whether a text, apostrophes before it aside, would be taken for something else: a formula, a number, an object. It is
 * written with one more apostrophe, which spreadsheets know as the mark of a text.
 */
function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, "");
  return FORMULA.test(bare.trimStart()) || FORMULA.test(bare) || typeof plainValue(bare) !== "string";
}

/** A cell that stands for a text whatever it looks like: an address, a name. */
export function readTextCell(cell: string): string {
  return cell.startsWith("'") && needsMark(cell) ? cell.slice(1) : cell;
}

/** The value of a cell; a fault where it is an object that nobody may store. */
export function readCell(cell: string): { value: unknown } | { fault: string } {
  if (cell.startsWith("'")) return { value: readTextCell(cell) };
  const value = plainValue(cell);
  if (typeof value !== "object") return { value };
  const [problem] = findHostileValues(value).problems;
  return problem === undefined ? { value } : { fault: problem.message };
}

/** A value as a cell of a CSV file with commas (RFC 4180). */
export function writeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string")
    return quoted(typeof value === "object" ? JSON.stringify(value) : String(value));
  return quoted(needsMark(value) ? `'${value}` : value);
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) || OUTER_BLANKS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of CSV with its line break. */
export function writeRow(values: readonly unknown[]): string {
  return `${values.map(writeCell).join(",")}\r\n`;
}
