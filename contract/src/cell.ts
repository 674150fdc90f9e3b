// What a cell of a spreadsheet says: text, number, boolean, object. Pure.
// Before it: nothing. After it: server/src/contacts/cell-text.ts reads and writes files by it, the dashboard tells what a column becomes.

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
export function plainValue(text: string): unknown {
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
export function needsMark(text: string): boolean {
  const bare = text.replace(/^'+/, "");
  return FORMULA.test(bare.trimStart()) || FORMULA.test(bare) || typeof plainValue(bare) !== "string";
}

/** A cell that stands for a text whatever it looks like: an address, a name. */
export function readTextCell(cell: string): string {
  return cell.startsWith("'") && needsMark(cell) ? cell.slice(1) : cell;
}

/** A cell as it stands in a CSV file with commas (RFC 4180): in quotes where it needs them. */
export function quoteCell(text: string): string {
  return NEEDS_QUOTES.test(text) || OUTER_BLANKS.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a cell says, before anybody looked whether it may be stored. */
export function cellValue(cell: string): unknown {
  return cell.startsWith("'") ? readTextCell(cell) : plainValue(cell);
}
