// Joins CSV files, such as those in Mailchimp's archive, to one table with the columns of all, and adds the status that their names say.
import { quoteCell } from "../cell.ts";
import { createCsvReader, isEmptyRow } from "../read-csv.ts";
import { findTable } from "./find-table.ts";
import type { FileTable } from "./mapping.ts";

export interface NamedText {
  name: string;
  text: string;
}

export type JoinedFiles =
  | { text: string; files: string; problem?: never }
  | { problem: string; text?: never };

/** Mailchimp names each file after the status of the people in it. */
const STATUS_NAME = /^(subscribed|unsubscribed|nonsubscribed|non-subscribed|cleaned|pending|archived)[_ -]/i;
/** The header of the column that the names of Mailchimp's files become. */
export const FILE_STATUS = "Status (file name)";

/** Columns that only Mailchimp's exports have. */
const MAILCHIMP_COLUMNS: ReadonlySet<string> = new Set(["LEID", "EUID"]);

/**
 * Returns the text of one of Mailchimp's files with the status that its name says as a column, and the text of any other file as it is. Without it,
 * a file of people who never subscribed would look like any list, because nothing inside says so.
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
 * Joins files; `files` lists them with their rows in the joined text. A file that can't be read is a problem that names it.
 *
 * @param pause called every few milliseconds, because joining megabytes takes a second
 */
export async function joinFiles(files: readonly NamedText[], pause: Pause): Promise<JoinedFiles> {
  const statuses = files.map(({ name }) => STATUS_NAME.exec(baseName(name))?.[1]);
  const hasStatuses = statuses.every((status) => status !== undefined);
  const names: string[] = hasStatuses ? [FILE_STATUS] : [];
  const rows: PlacedRow[] = [];
  const listed: string[] = [];
  for (const [at, { name, text }] of files.entries()) {
    const found = findTable(text);
    if (found.table === undefined)
      return { problem: `${baseName(name)} has no table: ${found.problem.fault?.text ?? "it is empty."}` };
    const places = placesOf(found.table, names);
    const first = rows.length + HEADER_AND_FIRST;
    const reader = createCsvReader(text.slice(found.table.start), found.table.separator, true);
    let number = found.table.firstRow;
    for (let row = reader.next(); row !== null; row = reader.next(), number++) {
      if (row.kind === "fault")
        return {
          problem: `Row ${number} of ${baseName(name)} cannot be read: ${row.fault.text} Send the files one by one.`,
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

/** The number of the first data row under one header row. */
const HEADER_AND_FIRST = 2;

/** The columns of the joined table in which those of one file are; new ones are added. A repeated name gets columns of its own. */
function placesOf({ names, hasHeader }: FileTable, joined: string[]): number[] {
  const used = new Set<number>();
  return names.map((name) => {
    const known = joined.findIndex((other, place) => other === name && !used.has(place));
    const place = known === -1 || !hasHeader ? joined.push(name) - 1 : known;
    used.add(place);
    return place;
  });
}

interface PlacedRow {
  cells: string[];
  /** Beyond the columns of its file; beyond those of the joined table they are reported. */
  surplus: readonly string[];
}

function placed(cells: readonly string[], places: readonly number[]): PlacedRow {
  const row: string[] = [];
  for (const [at, cell] of cells.slice(0, places.length).entries()) row[places[at] ?? 0] = cell;
  const surplus = cells.slice(places.length);
  return { cells: row, surplus: isEmptyRow(surplus) ? [] : surplus };
}

function lineOf({ cells, surplus }: PlacedRow, width: number): string {
  const all = [...Array.from({ length: width }, (_, at) => cells[at] ?? ""), ...surplus];
  return all.map(quoteCell).join(",");
}
