// Finds the table of a file: the cell separator, the header row and the start of the data.
import { createCsvReader, isEmptyRow, type CsvReader } from "../read-csv.ts";
import type { RowFault } from "../row-faults.ts";
import { looksLikeAddress } from "./clean-address.ts";
import { emailRank } from "./column-names.ts";
import type { FileTable } from "./mapping.ts";

/** If two separators explain the file equally well, the first one wins. */
const SEPARATORS = [",", ";", "\t", "|"] as const;
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?[ \t,;]*(?:\r\n|\n|\r|$)/i;
const FIRST_COLUMN = "email";
/** Number of rows with content in which the header is searched. */
const ROWS_SEARCHED = 20;
/** Number of data rows that show whether a separator gives rows of equal width. */
const ROWS_COMPARED = 10;

export type FoundTable = { table: FileTable; problem?: never } | { problem: TableProblem; table?: never };

export interface TableProblem {
  /** The unreadable row, numbered as in a spreadsheet; null for a file without content. */
  row: number | null;
  fault: RowFault | null;
  isUnclosed: boolean;
}

interface Candidate {
  table: FileTable;
  hasEmail: boolean;
  alike: number;
}

/** Finds the table of a file. The problem contains the row if no separator gives a readable header. */
export function findTable(text: string): FoundTable {
  const line = SEPARATOR_LINE.exec(text);
  const skipped = line === null ? { start: 0, rows: 0 } : { start: line[0].length, rows: 1 };
  const separators = line?.[1] === undefined ? SEPARATORS : [line[1]];
  const candidates: Candidate[] = [];
  let problem: TableProblem | null = null;
  for (const separator of separators) {
    const found = findBy(text.slice(skipped.start), separator, skipped);
    if ("fault" in found) problem ??= found;
    else candidates.push(found);
  }
  const [best] = candidates.toSorted(
    (one, other) =>
      Number(other.hasEmail) - Number(one.hasEmail) ||
      other.alike - one.alike ||
      other.table.names.length - one.table.names.length,
  );
  // An unclosed quote hides the header from one separator but not from the others.
  if (best !== undefined && (best.hasEmail || problem === null)) return { table: best.table };
  return { problem: problem ?? { row: null, fault: null, isUnclosed: false } };
}

interface SeenRow {
  cells: string[];
  /** Numbered as in a spreadsheet. */
  row: number;
  start: number;
  end: number;
}

function findBy(
  text: string,
  separator: string,
  skipped: { start: number; rows: number },
): Candidate | TableProblem {
  const reader = createCsvReader(text, separator, true);
  const seen: SeenRow[] = [];
  for (let row = 1 + skipped.rows; seen.length < ROWS_SEARCHED; row++) {
    const start = reader.end();
    const next = reader.next();
    if (next === null) break;
    if (next.kind === "fault" && seen.length === 0)
      return { row, fault: next.fault, isUnclosed: next.isUnclosed };
    if (next.kind === "fault") break;
    if (isEmptyRow(next.cells)) continue;
    seen.push({ cells: next.cells, row, start, end: reader.end() });
    if (isDecided(next.cells)) break;
  }
  const header = headerOf(seen);
  const first = seen[0];
  if (first === undefined) return { row: null, fault: null, isUnclosed: false };
  const chosen = header ?? first;
  const table: FileTable = {
    separator,
    names: header === null ? first.cells.map((_, at) => unnamed(at)) : withoutEmptyTail(header.cells),
    hasHeader: header !== null,
    firstRow: header === null ? first.row : header.row + 1,
    start: skipped.start + (header === null ? first.start : header.end),
    rowsAbove: header === null ? 0 : seen.indexOf(header),
  };
  const hasEmail = chosen.cells.some((cell) => emailRank(cell) !== null || looksLikeAddress(cell));
  const rows = createCsvReader(text.slice(table.start - skipped.start), separator, true);
  return { table, hasEmail, alike: countAlike(rows, table.names.length) };
}

/** Returns the name of a column without a header; `at` counts from 0. */
export function unnamed(at: number): string {
  return `Column ${at + 1}`;
}

/** Returns whether the header is this row or one above it. */
function isDecided(cells: readonly string[]): boolean {
  return cells.some(looksLikeAddress) || cells.some((cell) => emailRank(cell) !== null);
}

/** Returns the header among the first rows, or null if the file has none. A row with an address is a person and never a header. */
function headerOf(seen: readonly SeenRow[]): SeenRow | null {
  const last = seen.at(-1);
  if (last === undefined) return null;
  // The format of our own exports; their fields can have any name.
  if (last.cells[0]?.toLowerCase() === FIRST_COLUMN) return last;
  const at = last.cells.findIndex(looksLikeAddress);
  if (at === -1) return last.cells.some((cell) => emailRank(cell) !== null) ? last : (seen[0] ?? null);
  const above = seen.at(-2);
  return above !== undefined && (above.cells[at] ?? "") !== "" ? above : null;
}

/** Trailing separators create no columns. */
function withoutEmptyTail(names: readonly string[]): string[] {
  const last = names.findLastIndex((name) => name !== "");
  return names.slice(0, last + 1);
}

function countAlike(reader: CsvReader, width: number): number {
  if (width < 2) return 0;
  const rows = Array.from({ length: ROWS_COMPARED }, () => reader.next());
  return rows.filter((row) => row?.kind === "row" && row.cells.length === width).length;
}
