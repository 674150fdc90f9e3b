// Reads rows of CSV (RFC 4180, as it is found in the wild) out of a text that may be only a part of the file, and tells where each ends.
// Why not a library: docs/decisions/0017-contacts-as-files.md. Pure.
import { exceedsBytes } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { faultOfRow, type RowFault } from "./row-faults.ts";

export type CsvRow =
  | {
      kind: "row";
      /** Blanks around an unquoted cell are dropped; a quoted one is kept as it is. */
      cells: string[];
    }
  | {
      kind: "fault";
      fault: RowFault;
      /** What stands first in the row, as it is written. */
      firstCell: string;
      /** The line as it is written. */
      line: string;
      /** A quote that no other closes before the text ends. */
      isUnclosed: boolean;
    };

export interface CsvReader {
  /** The next whole row; null when there is none, or not all of it is there. */
  next(): CsvRow | null;
  /** Where the rows that were read end: characters from the start of the text. */
  end(): number;
}

const QUOTE = '"';
const QUOTE_CODE = 0x22;
const DOUBLED_QUOTES = /""/g;
const MAX_ROW_BYTES = LIMITS.importRowBytes.value;
const TOO_LONG = faultOfRow("row.long", { most: MAX_ROW_BYTES });
/** A row may have cells too many, which is told where it is known how many columns there are, but not cells without end. */
export const MAX_CELLS = 10 * LIMITS.importColumns.value;
const TOO_MANY = faultOfRow("row.manyCells", { most: MAX_CELLS });
/** So much of a first cell is shown beside a fault. */
const SHOWN_CHARS = 254;

/**
 * @param isEnd whether the file ends where the text does; otherwise a row counts only when its line break is there
 */
export function createCsvReader(text: string, separator: string, isEnd: boolean): CsvReader {
  const quotes = createFinder(text, QUOTE);
  const linefeeds = createFinder(text, "\n");
  const returns = createFinder(text, "\r");
  const separators = createFinder(text, separator);
  let start = 0;

  const lineEndFrom = (at: number) => Math.min(linefeeds(at), returns(at));

  /** Behind the line break at `at`; null when its second half may still come. */
  function behindBreak(at: number): number | null {
    if (at >= text.length) return isEnd ? text.length : null;
    if (text[at] !== "\r") return at + 1;
    if (at + 1 === text.length && !isEnd) return null;
    return text[at + 1] === "\n" ? at + 2 : at + 1;
  }

  /** A fault spoils its line and not what follows: a quote too many would swallow good rows. */
  function faulty(fault: RowFault, isUnclosed = false): CsvRow | null {
    const lineEnd = lineEndFrom(start);
    const next = behindBreak(lineEnd);
    if (next === null) return null;
    const line = text.slice(start, lineEnd);
    start = next;
    const firstCell = (line.slice(0, SHOWN_CHARS).split(separator)[0] ?? "").trim();
    return { kind: "fault", fault, firstCell, line, isUnclosed };
  }

  /** Past blanks that are no separator. */
  function skipBlanks(at: number): number {
    let next = at;
    while (text[next] === " " || (text[next] === "\t" && separator !== "\t")) next++;
    return next;
  }

  /** Where a quoted cell ends that opens at `open`; null: not in this text. */
  function closingQuote(open: number): number | null {
    let at = quotes(open + 1);
    while (text.charCodeAt(at + 1) === QUOTE_CODE) {
      at += 2;
      // Where quote follows quote without end, to search from each would take longer than to look.
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
    const next = behindBreak(rowEnd);
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
  /** Null where no row says anything. */
  row: CsvRow | null;
  /** Rows up to and with it: empty ones before it count. */
  rows: number;
  /** Where the rows behind it begin, in characters. */
  end: number;
}

/** The first row of a file that says anything, or cannot be read. */
export function readFirstRow(text: string, separator: string): FirstRow {
  const reader = createCsvReader(text, separator, true);
  for (let rows = 1; ; rows++) {
    const row = reader.next();
    if (row === null || row.kind === "fault" || !isEmptyRow(row.cells))
      return { row, rows, end: reader.end() };
  }
}

/** A row without a word counts as a row, and is neither a contact nor a fault. */
export function isEmptyRow(cells: readonly string[]): boolean {
  return cells.every((cell) => cell === "");
}

/** The fault of a row that says more than there are columns for; null where it does not. */
export function faultOfSurplus(cells: readonly string[], columns: number): RowFault | null {
  if (isEmptyRow(cells.slice(columns))) return null;
  return faultOfRow("row.moreCells", { cells: cells.length, columns });
}

/** Finds a character from a place on; the end of the text where there is none. It keeps the last find, as places mostly grow. */
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
