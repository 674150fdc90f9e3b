// Joins CSV files, such as those in Mailchimp's archive, into one table. The table has all columns and the status from the file names.
import { quoteCell } from "../cell.ts";
import { createCsvReader, isEmptyRow } from "../read-csv.ts";
import { findTable } from "./find-table.ts";
import type { FileTable } from "./mapping.ts";
import { withValues, type ErrorMessage } from "../translation.ts";

export interface NamedText {
  name: string;
  text: string;
}

export type JoinedFiles =
  | { text: string; files: string; problem?: never }
  | { problem: ErrorMessage; text?: never };

/** Mailchimp names each file after the status of its contacts. */
const STATUS_NAME = /^(subscribed|unsubscribed|nonsubscribed|non-subscribed|cleaned|pending|archived)[_ -]/i;
/** The header of the column with the status from Mailchimp's file names. */
export const FILE_STATUS = "Status (file name)";

/** Columns that only Mailchimp's exports have. */
const MAILCHIMP_COLUMNS: ReadonlySet<string> = new Set(["LEID", "EUID"]);

/**
 * Returns the text of a Mailchimp file with the status from its name as a column, and any other text unchanged. Without this column a file
 * of people who never subscribed would look like any other list.
 */
export async function withFileStatus({ name, text }: NamedText, pause: Pause): Promise<string> {
  if (!STATUS_NAME.test(baseName(name))) return text;
  const { table } = findTable(text);
  if (table === undefined || !table.names.some((column) => MAILCHIMP_COLUMNS.has(column))) return text;
  return (await joinFiles([{ name, text }], pause)).text ?? text;
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Gives other work of the thread a turn. */
export type Pause = () => Promise<unknown>;
/** A few milliseconds of work. */
const ROWS_A_TURN = 1_000;

/**
 * Joins files into one text. `files` lists them with their rows in the joined text. An unreadable file is a problem that includes its name.
 * @param pause called every few milliseconds, because joining megabytes takes a second
 */
export async function joinFiles(files: readonly NamedText[], pause: Pause): Promise<JoinedFiles> {
  const statuses = files.map(({ name }) => STATUS_NAME.exec(baseName(name))?.[1]);
  const hasStatuses = statuses.every((status) => status !== undefined);
  const names: string[] = hasStatuses ? [FILE_STATUS] : [];
  const rows: AlignedRow[] = [];
  const listed: string[] = [];
  for (const [at, { name, text }] of files.entries()) {
    const found = findTable(text);
    if (found.table === undefined)
      return {
        problem: withValues("{file} has no table: {why}", {
          file: baseName(name),
          why: found.problem.fault?.text ?? "it is empty.",
        }),
      };
    const places = joinedColumnsOf(found.table, names);
    const first = rows.length + HEADER_AND_FIRST;
    const reader = createCsvReader(text.slice(found.table.start), found.table.separator, true);
    let number = found.table.firstRow;
    for (let row = reader.next(); row !== null; row = reader.next(), number++) {
      if (row.kind === "fault")
        return {
          problem: withValues("Row {row} of {file} cannot be read: {why} Upload each file separately.", {
            row: number,
            file: baseName(name),
            why: row.fault.text,
          }),
        };
      if (isEmptyRow(row.cells)) continue;
      const one = placed(row.cells, places);
      if (hasStatuses) one.cells[0] = statuses[at] ?? "";
      rows.push(one);
      if (rows.length % ROWS_A_TURN === 0) await pause();
    }
    listed.push(`${baseName(name)} (rows ${first} to ${rows.length + 1})`);
  }
  const lines = [lineOf({ cells: names, surplus: [] }, names.length)];
  for (const row of rows) {
    lines.push(lineOf(row, names.length));
    if (lines.length % ROWS_A_TURN === 0) await pause();
  }
  return { text: lines.join("\n"), files: listed.join(", ") };
}

/** The first data row in a file with one header row. */
const HEADER_AND_FIRST = 2;

/** Returns the columns of the joined table for the columns of one file, and adds new ones. A repeated name gets a separate column. */
function joinedColumnsOf({ names, hasHeader }: FileTable, joined: string[]): number[] {
  const used = new Set<number>();
  return names.map((name) => {
    const known = joined.findIndex((other, place) => other === name && !used.has(place));
    const place = known === -1 || !hasHeader ? joined.push(name) - 1 : known;
    used.add(place);
    return place;
  });
}

interface AlignedRow {
  cells: string[];
  /** Cells beyond the columns of their file. Those beyond the joined table are reported. */
  surplus: readonly string[];
}

function placed(cells: readonly string[], places: readonly number[]): AlignedRow {
  const row: string[] = [];
  for (const [at, cell] of cells.slice(0, places.length).entries()) row[places[at] ?? 0] = cell;
  const surplus = cells.slice(places.length);
  return { cells: row, surplus: isEmptyRow(surplus) ? [] : surplus };
}

function lineOf({ cells, surplus }: AlignedRow, width: number): string {
  const all = [...Array.from({ length: width }, (_, at) => cells[at] ?? ""), ...surplus];
  return all.map(quoteCell).join(",");
}
