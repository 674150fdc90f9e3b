// Reads CSV rows (RFC 4180, as found in practice) from a text that may be only a part of the file, and returns where each row ends.
// docs/decisions/0017-contacts-as-files.md explains why this is not a library. Pure.
import { exceedsBytes } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { faultOfRow, type RowFault } from "./row-faults.ts";

export type CsvRow =
  | {
      kind: "row";
      /** Blanks around an unquoted cell are dropped; a quoted cell stays unchanged. */
      cells: string[];
    }
  | {
      kind: "fault";
      fault: RowFault;
      /** The first cell of the row in its original form. */
      firstCell: string;
      /** The original line. */
      line: string;
      /** Whether the fault is an opening quote that is not closed before the text ends. */
      isUnclosed: boolean;
    };

export interface CsvReader {
  /** Returns the next complete row; null if there is none. */
  next(): CsvRow | null;
  /** Returns the end of the rows already read, in characters from the start of the text. */
  end(): number;
}

const QUOTE = '"';
const QUOTE_CODE = 0x22;
const DOUBLED_QUOTES = /""/g;
const MAX_ROW_BYTES = LIMITS.importRowBytes.value;
const TOO_LONG = faultOfRow("row.long", { most: MAX_ROW_BYTES });
/** A row may have too many cells, because that is reported once the number of columns is known, but not an unlimited number. */
export const MAX_CELLS = 10 * LIMITS.importColumns.value;
const TOO_MANY = faultOfRow("row.manyCells", { most: MAX_CELLS });
/** Maximum length of a first cell shown with a fault. */
const SHOWN_CHARS = 254;

/**
 * Creates a reader of rows.
 * @param isEnd whether the file ends with the text; otherwise a row counts only if its line break is included
 */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createCsvReader(text: string, separator: string, isEnd: boolean): CsvReader {
  const quotes = createFinder(text, QUOTE);
  const linefeeds = createFinder(text, "\n");
  const returns = createFinder(text, "\r");
  const separators = createFinder(text, separator);
  let start = 0;

  const lineEndFrom = (at: number) => Math.min(linefeeds(at), returns(at));

  /** Returns the position after the line break at `at`; null if its second half may still follow. */
  function afterLineBreak(at: number): number | null {
    if (at >= text.length) return isEnd ? text.length : null;
    if (text[at] !== "\r") return at + 1;
    if (at + 1 === text.length && !isEnd) return null;
    return text[at + 1] === "\n" ? at + 2 : at + 1;
  }

  /** A fault only affects its line, because an extra quote would otherwise swallow valid rows. */
  function faulty(fault: RowFault, isUnclosed = false): CsvRow | null {
    const lineEnd = lineEndFrom(start);
    const next = afterLineBreak(lineEnd);
    if (next === null) return null;
    const line = text.slice(start, lineEnd);
    start = next;
    const firstCell = (line.slice(0, SHOWN_CHARS).split(separator)[0] ?? "").trim();
    return { kind: "fault", fault, firstCell, line, isUnclosed };
  }

  /** Skips blanks that are not separators. */
  function skipBlanks(at: number): number {
    let next = at;
    while (text[next] === " " || (text[next] === "\t" && separator !== "\t")) next++;
    return next;
  }

  /** Returns the end of a quoted cell that opens at `open`; null if it does not end in this text. */
  function closingQuote(open: number): number | null {
    let at = quotes(open + 1);
    while (text.charCodeAt(at + 1) === QUOTE_CODE) {
      at += 2;
      // Searching after each of many consecutive quotes would take longer than checking the next character.
      if (text.charCodeAt(at) !== QUOTE_CODE) at = quotes(at);
    }
    return at >= text.length ? null : at;
  }

  function quotedRow(): CsvRow | null {
    const cells: string[] = [];
    for (let at = start; ; at++) {
      const open = skipBlanks(at);
      let cellEnd: number;
      if (text[open] === QUOTE) {
        const close = closingQuote(open);
        if (close === null) return isEnd ? faulty(faultOfRow("row.quoteOpen"), true) : null;
        const cell = text.slice(open + 1, close);
        cells.push(cell.includes(QUOTE) ? cell.replace(DOUBLED_QUOTES, QUOTE) : cell);
        cellEnd = skipBlanks(close + 1);
      } else {
        cellEnd = Math.min(lineEndFrom(at), separators(at));
        cells.push(text.slice(at, cellEnd).trim());
      }
      if (cells.length > MAX_CELLS) return faulty(TOO_MANY);
      if (text[cellEnd] === separator) at = cellEnd;
      else if (cellEnd < text.length && text[cellEnd] !== "\n" && text[cellEnd] !== "\r")
        return faulty(faultOfRow("row.quoteFollowed"));
      else return finish(cells, cellEnd);
    }
  }

  function finish(cells: string[], rowEnd: number): CsvRow | null {
    const next = afterLineBreak(rowEnd);
    if (next === null) return null;
    const line = text.slice(start, rowEnd);
    start = next;
    if (!exceedsBytes(line, MAX_ROW_BYTES)) return { kind: "row", cells };
    const firstCell = (cells[0] ?? "").slice(0, SHOWN_CHARS);
    return { kind: "fault", fault: TOO_LONG, firstCell, line, isUnclosed: false };
  }

  return {
    end: () => start,
    next() {
      if (start >= text.length) return null;
      const lineEnd = lineEndFrom(start);
      if (quotes(start) < lineEnd) return quotedRow();
      if (lineEnd - start > MAX_ROW_BYTES) return faulty(TOO_LONG);
      const cells = text.slice(start, lineEnd).split(separator, MAX_CELLS + 1);
      if (cells.length > MAX_CELLS) return faulty(TOO_MANY);
      for (let at = 0; at < cells.length; at++) cells[at] = (cells[at] ?? "").trim();
      return finish(cells, lineEnd);
    },
  };
}

export interface FirstRow {
  /** Null if all rows are empty. */
  row: CsvRow | null;
  /** Number of rows up to and including this one, with the empty rows before it. */
  rows: number;
  /** Start of the following rows, in characters. */
  end: number;
}

/** Returns the first row of a file that has content or cannot be read. */
export function readFirstRow(text: string, separator: string): FirstRow {
  const reader = createCsvReader(text, separator, true);
  for (let rows = 1; ; rows++) {
    const row = reader.next();
    if (row === null || row.kind === "fault" || !isEmptyRow(row.cells))
      return { row, rows, end: reader.end() };
  }
}

/** An empty row counts as a row, but it is neither a contact nor a fault. */
export function isEmptyRow(cells: readonly string[]): boolean {
  return cells.every((cell) => cell === "");
}

/** Returns the fault of a row with more cells than columns; null for any other row. */
export function faultOfSurplus(cells: readonly string[], columns: number): RowFault | null {
  if (isEmptyRow(cells.slice(columns))) return null;
  return faultOfRow("row.moreCells", { cells: cells.length, columns });
}

/**
 * Returns a function that finds a character from a position, or the end of the text. It remembers the last result, because positions mostly
 * increase.
 */
function createFinder(text: string, character: string): (from: number) => number {
  let searchedFrom = 0;
  let found = -1;
  return (from) => {
    if (found !== -1 && searchedFrom <= from && from <= found) return found;
    const at = text.indexOf(character, from);
    searchedFrom = from;
    found = at === -1 ? text.length : at;
    return found;
  };
}
