// Reads and writes spreadsheet cells with texts, numbers, booleans, dates, objects or no value. Pure.
import { readIsoDate } from "./contact-file/read-date.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** JavaScript represents a number with up to this many digits exactly; longer ones are identifiers. */
const EXACT_DIGITS = 15;
const ISO_START = /^\d{4}-\d{2}-\d{2}/;
const BOOLEAN = /^(?:true|false)$/i;
/** Starts a formula in a spreadsheet program, which may also convert full-width forms (reliability case S59). */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const OBJECT = /^(?:\{[^]*\}|\[[^]*\])$/;

/** Written by databases and spreadsheets for a missing value. */
const NOTHING = /^(?:NULL|#?N\/A)$/;
const NOTHING_MAX_CHARS = 4;
/** Start of values that are not texts; a fast check, because most cells are texts. */
const MAY_BE_VALUE = /^[-\dtTfFN#{[]|^$/;
/** A number as text. A leading apostrophe keeps its leading zeros and sign in a spreadsheet. */
const DIGITS = /^\+?\d[\d ()./-]*$/;

const OUTER_BLANKS = /^\s|\s$/;
const NEEDS_QUOTES = /[",;\n\r\t]/;

/** Returns the value of a cell (spec §2.3), or `""` for a cell without a value. A text is returned unchanged, including blanks. */
export function plainValue(text: string): unknown {
  const trimmed = text.trim();
  if (!MAY_BE_VALUE.test(trimmed)) return text;
  if (NUMBER.test(trimmed)) return isExact(trimmed) ? Number(trimmed) : text;
  if (BOOLEAN.test(trimmed)) return trimmed.toLowerCase() === "true";
  if (NOTHING.test(trimmed)) return "";
  if (OBJECT.test(trimmed)) return parseObject(trimmed) ?? text;
  return (ISO_START.test(trimmed) ? readIsoDate(trimmed) : null) ?? text;
}

/** Returns whether a cell has no value: empty, NULL, N/A. */
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
    // Only looks like JSON, so it is a text in brackets.
    return undefined;
  }
}

/**
 * Returns whether a text would be read as a formula, a number, a date, an object, or the same text without its apostrophe. Exports add one
 * more apostrophe, which spreadsheets know as the escape prefix of a text.
 */
export function needsEscapePrefix(text: string): boolean {
  if (text.startsWith("'")) return isMarked(text);
  return isFormula(text) || plainValue(text) !== text;
}

/** Returns whether the apostrophe before a cell is an escape prefix and not part of the text, as in `'t Hooft`. */
function isMarked(cell: string): boolean {
  const bare = cell.replace(/^'+/, "");
  return isFormula(bare) || DIGITS.test(bare) || plainValue(bare) !== bare;
}

/** Returns whether a spreadsheet would run a cell as a formula. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text) || FORMULA.test(text.trimStart());
}

/** Returns a cell as text regardless of its appearance, such as an address or a name. */
export function readTextCell(cell: string): string {
  return cell.startsWith("'") && isMarked(cell) ? cell.slice(1) : cell;
}

/** Returns a cell for a comma-separated CSV file (RFC 4180), quoted if necessary. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) || OUTER_BLANKS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns the value of a cell without checking whether it may be stored. */
export function cellValue(cell: string): unknown {
  return cell.startsWith("'") ? readTextCell(cell) : plainValue(cell);
}
