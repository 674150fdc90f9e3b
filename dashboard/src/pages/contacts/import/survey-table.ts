// Reads a table once and collects what the wizard shows: row counts, sample values and the distinct values of each column.
import { cellValue, isNothing } from "@postloft/contract/cell.ts";
import type { FileTable } from "@postloft/contract/contact-file/mapping.ts";
import { createCsvReader, faultOfSurplus, isEmptyRow } from "@postloft/contract/read-csv.ts";
import { kindOf, type Kind } from "../own-data/field-value.ts";
import { createYield } from "./take-turns.ts";

export interface Survey {
  /** Rows with content. */
  rows: number;
  /** In the order of the columns. */
  columns: ColumnSurvey[];
  /** The first values with letters beyond ASCII, which show whether the encoding is right. */
  accented: string[];
}

export interface ColumnSurvey {
  /** The first values that aren't empty. */
  samples: string[];
  /** Each distinct value with its number of rows, without empty cells. Null if there are too many to be statuses. */
  values: Array<[value: string, rows: number]> | null;
  /** Rows with an empty cell. */
  empty: number;
  /** The number of values of each kind, if the type of the column is left open. */
  kinds: Partial<Record<Kind, number>>;
}

export type Surveyed =
  | { survey: Survey; sampleRows: string[][]; unclosedRow?: never }
  /** The row that opens a quote which never ends. */
  | { unclosedRow: number; survey?: never; sampleRows?: never };

const SHOWN = 3;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
export const DISTINCT_VALUES_MAX = 40;
const VALUE_LENGTH_MAX = 80;

/** The reader takes more rows, but would block the page for too long with them. */
const SAMPLE_ROWS = 400;

/** Surveys a table without blocking the page. The sample consists of its first rows. */
export async function surveyTable(text: string, table: FileTable): Promise<Surveyed> {
  const reader = createCsvReader(text.slice(table.start), table.separator, true);
  const columns = table.names.map(createColumnNotes);
  const accented = new Set<string>();
  const sampleRows: string[][] = [];
  const turn = createYield();
  let rows = 0;
  for (let row = reader.next(), at = table.firstRow; row !== null; row = reader.next(), at++) {
    await turn();
    if (row.kind === "fault") {
      if (row.isUnclosed) return { unclosedRow: at };
      rows++;
      continue;
    }
    const { cells } = row;
    if (isEmptyRow(cells)) continue;
    rows++;
    if (faultOfSurplus(cells, columns.length) !== null) continue;
    for (const [place, column] of columns.entries()) {
      const cell = cells[place] ?? "";
      column.take(cell);
      if (accented.size < SHOWN && BEYOND_ASCII.test(cell)) accented.add(cell.trim());
    }
    if (sampleRows.length < SAMPLE_ROWS) sampleRows.push(cells);
  }
  const survey = { rows, columns: columns.map(({ survey: one }) => one()), accented: [...accented] };
  return { survey, sampleRows };
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:$|(?<time>[T ]\d))/;

/** Treats every text that starts like a date as one, because full validation would take most of the time. */
function cellKind(cell: string, value: string): Kind {
  const date = DATE.exec(value);
  if (date !== null) return date.groups?.["time"] === undefined ? "day" : "instant";
  return kindOf(cellValue(cell), undefined);
}

function createColumnNotes(): { take: (cell: string) => void; survey: () => ColumnSurvey } {
  const samples: string[] = [];
  const kinds: Partial<Record<Kind, number>> = {};
  let values: Map<string, number> | null = new Map();
  let empty = 0;
  return {
    take(cell) {
      const value = cell.trim();
      if (isNothing(value)) {
        empty++;
        return;
      }
      if (samples.length < SHOWN) samples.push(value);
      const kind = cellKind(cell, value);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      values?.set(value, (values.get(value) ?? 0) + 1);
      if (value.length > VALUE_LENGTH_MAX || (values?.size ?? 0) > DISTINCT_VALUES_MAX) values = null;
    },
    survey: () => ({ samples, kinds, empty, values: values === null ? null : [...values] }),
  };
}
