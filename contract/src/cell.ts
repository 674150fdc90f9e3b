// Reads and writes cells of spreadsheets: texts, numbers, booleans, dates, objects, nothing. Pure.
import { readIsoDate } from "./contact-file/read-date.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A number of so many digits is exact as JavaScript holds it; longer ones are identifiers. */
const EXACT_DIGITS = 15;
const ISO_START = /^\d{4}-\d{2}-\d{2}/;
const BOOLEAN = /^(?:true|false)$/i;
/** Starts a formula in a spreadsheet program, which may also convert full-width forms (reliability case S59). */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const OBJECT = /^(?:\{[^]*\}|\[[^]*\])$/;

/** Written by databases and spreadsheets for a value that is missing. */
const NOTHING = /^(?:NULL|#?N\/A)$/;
const NOTHING_MAX_CHARS = 4;
/** How values that are no text begin, because most cells are texts. */
const MAY_BE_VALUE = /^[-\dtTfFN#{[]|^$/;
/** A number as text: an apostrophe before it keeps its leading zeros and its sign in a spreadsheet. */
const DIGITS = /^\+?\d[\d ()./-]*$/;

const OUTER_BLANKS = /^\s|\s$/;
const NEEDS_QUOTES = /[",;\n\r\t]/;

/** The value of a cell as its text says (spec §2.3), `""` for one that says nothing; a text stays as it is, blanks included. */
export function plainValue(text: string): unknown {
  const trimmed = text.trim();
  if (!MAY_BE_VALUE.test(trimmed)) return text;
  if (NUMBER.test(trimmed)) return isExact(trimmed) ? Number(trimmed) : text;
  if (BOOLEAN.test(trimmed)) return trimmed.toLowerCase() === "true";
  if (NOTHING.test(trimmed)) return "";
  if (OBJECT.test(trimmed)) return parseObject(trimmed) ?? text;
  return (ISO_START.test(trimmed) ? readIsoDate(trimmed) : null) ?? text;
}

/** Whether a cell says nothing: empty, NULL, N/A. */
export function isNothing(cell: string): boolean {
  const trimmed = cell.trim();
  return trimmed === "" || (trimmed.length <= NOTHING_MAX_CHARS && NOTHING.test(trimmed));
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
 * Whether a text would be read as something else: a formula, a number, a date, an object, or the same without its apostrophe.
 * Exports write it with one more apostrophe, which spreadsheets know as the mark of a text.
 */
export function needsMark(text: string): boolean {
  if (text.startsWith("'")) return isMarked(text);
  return isFormula(text) || plainValue(text) !== text;
}

/** Whether the apostrophe before a cell is the mark of a text and not a part of it, as in `'t Hooft`. */
function isMarked(cell: string): boolean {
  const bare = cell.replace(/^'+/, "");
  return isFormula(bare) || DIGITS.test(bare) || plainValue(bare) !== bare;
}

/** Whether a spreadsheet would run a cell as a formula. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text) || FORMULA.test(text.trimStart());
}

/** A cell that stands for a text whatever it looks like: an address, a name. */
export function readTextCell(cell: string): string {
  return cell.startsWith("'") && isMarked(cell) ? cell.slice(1) : cell;
}

/** A cell as it stands in a CSV file with commas (RFC 4180): in quotes where it needs them. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) || OUTER_BLANKS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a cell says, before anybody looked whether it may be stored. */
export function cellValue(cell: string): unknown {
  return cell.startsWith("'") ? readTextCell(cell) : plainValue(cell);
}
