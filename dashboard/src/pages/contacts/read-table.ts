// From the text of a CSV file to its rows, by the API's own reader: what it would refuse is known before the file is sent. Pure.
// Before it: read-csv.ts. After it: csv.ts.
import {
  createCsvReader,
  faultOfSurplus,
  isEmptyRow,
  readFirstRow,
  type CsvRow,
} from "@postloft/contract/read-csv.ts";
import type { RowFault } from "@postloft/contract/row-faults.ts";
import type { CsvTable } from "./csv.ts";

type ReadTable =
  | { table: CsvTable; unclosedRow?: never; headerFault?: never }
  /** The number of the row that takes the rest of the file with it. */
  | { unclosedRow: number; table?: never; headerFault?: never }
  | { headerFault: RowFault; table?: never; unclosedRow?: never };

/** What may separate cells; of two that do it equally well, the first. */
const SEPARATORS = [",", ";", "\t", "|"] as const;
/** So many rows tell what separates the cells. */
const ROWS_LOOKED_AT = 10;
const NOTHING: string[] = [];

/** The rows of a file with those that are at fault, or why it has none. */
export function readTable(text: string): ReadTable {
  const separator = guessSeparator(text);
  const { row: first, rows: rowsBefore, end } = readFirstRow(text, separator);
  const firstRow = rowsBefore + 1;
  if (first?.kind === "fault")
    return first.isUnclosed ? { unclosedRow: rowsBefore } : { headerFault: first.fault };
  const header = first?.cells ?? [];
  const table: CsvTable = { header, rows: [], firstRow, faults: [] };
  const reader = createCsvReader(text.slice(end), separator, true);
  for (let row = reader.next(); row !== null; row = reader.next()) {
    if (row.kind === "fault" && row.isUnclosed) return { unclosedRow: firstRow + table.rows.length };
    take(table, row);
  }
  return { table };
}

function take({ header, rows, faults }: CsvTable, row: CsvRow): void {
  const at = rows.length;
  if (row.kind === "fault") {
    rows.push(NOTHING);
    faults.push({ at, firstCell: row.firstCell, fault: row.fault });
    return;
  }
  rows.push(isEmptyRow(row.cells) ? NOTHING : row.cells);
  const fault = faultOfSurplus(row.cells, header.length);
  if (fault !== null) faults.push({ at, firstCell: row.cells[0] ?? "", fault });
}

/** By what most of the first rows have as many cells as the header, which has more than one; else by what makes most of the header. */
function guessSeparator(text: string): string {
  const [best] = SEPARATORS.map((separator) => ({ separator, ...widthBy(text, separator) })).toSorted(
    (one, other) => other.alike - one.alike || other.columns - one.columns,
  );
  return best?.separator ?? ",";
}

function widthBy(text: string, separator: string): { columns: number; alike: number } {
  const { row, end } = readFirstRow(text, separator);
  const columns = row?.kind === "row" ? row.cells.length : 0;
  if (columns < 2) return { columns, alike: 0 };
  const reader = createCsvReader(text.slice(end), separator, true);
  const next = Array.from({ length: ROWS_LOOKED_AT }, () => reader.next());
  const alike = next.filter((one) => one?.kind === "row" && one.cells.length === columns).length;
  return { columns, alike };
}
