// A CSV file of any origin, made into one that the import takes: which column becomes what, and the address first.
// Before it: read-table.ts reads a file. After it: the API, which has the last word on each row.
import { quoteCell } from "@postloft/contract/cell.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { isEmptyRow, MAX_CELLS } from "@postloft/contract/read-csv.ts";
import type { RowFault, RowFaultCode } from "@postloft/contract/row-faults.ts";
import { writeAs, type ColumnType } from "./typed-columns.ts";

/** What stands in a file: its rows as the API counts them. */
export interface CsvTable {
  header: string[];
  /** Below the header. One without cells says nothing, or cannot be read. */
  rows: string[][];
  /** The number of the first of them, as a spreadsheet counts: the header is row 1 where nothing stands before it. */
  firstRow: number;
  /** Those that are left out for how they are written, in their order. */
  faults: FaultyRow[];
}

export interface FaultyRow {
  /** Where it stands among the rows. */
  at: number;
  /** What stands first in it. */
  firstCell: string;
  fault: RowFault;
}

export interface CsvFile extends CsvTable {
  name: string;
  /** Whether its letters are a guess, since it is not UTF-8. */
  isGuessed: boolean;
}

/** How many of its rows say anything, those at fault among them. */
export function countRows({ rows, faults }: CsvTable): number {
  return (
    rows.filter((cells) => cells.length > 0).length + faults.filter(({ at }) => rows[at]?.length === 0).length
  );
}

/** What a column becomes: the name of a field, or null for nothing. */
export type Mapping = Array<string | null>;

const EMAIL = /^(e-?mail([ _-]?(address|adresse))?|courriel|correo)$/i;
/** An address of mail or of a house. */
const ADDRESS = /^(address|adresse)$/i;
const SUBSCRIBED = /^(subscribed|opt[ _-]?in|abonniert|abonné|suscrito)$/i;
const LOOKS_LIKE_ADDRESS = /^[^\s@]+@[^\s@]+$/;
const SAMPLES = 20;

/** What each column is by its name, and where none is the email by name, by its values. */
export function guessMapping({ header, rows }: CsvTable): Mapping {
  const holdsAddresses = (at: number) =>
    rows.slice(0, SAMPLES).some((row) => LOOKS_LIKE_ADDRESS.test((row[at] ?? "").trim()));
  const ways: ReadonlyArray<(name: string, at: number) => boolean> = [
    (name) => EMAIL.test(name),
    (name, at) => ADDRESS.test(name) && holdsAddresses(at),
    (_name, at) => holdsAddresses(at),
    (name) => ADDRESS.test(name),
  ];
  const address = ways.map((isIt) => header.findIndex(isIt)).find((at) => at !== -1);
  return header.map((name, at) => {
    if (at === address) return "email";
    if (SUBSCRIBED.test(name)) return "subscribed";
    return name === "" ? null : name.replace(/^data\./, "");
  });
}

/** Whether a column becomes a field of the project's own, which may have any type. */
export function isOwn(field: string | null): boolean {
  return field !== null && field !== "email" && field !== "subscribed";
}

/** The first values of a column that say anything. */
export function samplesOf({ rows }: CsvFile, column: number, count = 3): string[] {
  return rows
    .slice(0, SAMPLES)
    .map((row) => (row[column] ?? "").trim())
    .filter((value) => value !== "")
    .slice(0, count);
}

const BEYOND_ASCII = /[^\p{ASCII}]/u;

/** The first values that would read otherwise if the guess of their letters were wrong. */
export function guessedValues({ header, rows }: CsvFile, count = 3): string[] {
  const values = new Set<string>();
  for (const row of [header, ...rows])
    for (const value of row) {
      if (BEYOND_ASCII.test(value)) values.add(value.trim());
      if (values.size === count) return [...values];
    }
  return [...values];
}

/** What makes the API find the same fault behind the first cell of a row. */
const WRITTEN_FAULTS: Partial<Record<RowFaultCode, string>> = {
  "row.quoteFollowed": ',"":',
  "row.long": `,${"x".repeat(LIMITS.importRowBytes.value)}`,
  "row.manyCells": ",".repeat(MAX_CELLS),
};
/** Quotes and commas would be read. */
const READ_AS_SIGNS = /[",]/g;
/** What the number of the first contact is where nothing stands before the header. */
const HEADER_AND_FIRST = 2;
/** An address that is missing, of a row that would say nothing without the columns that are left out. */
const NO_ADDRESS = '" "';

/**
 * The file as the import takes it: the address in the first column, what is ignored left out. Every row keeps its number, empty ones and
 * faulty ones too, so that the API reports each by the number that it has in the file.
 */
export function writeCsv(file: CsvFile, mapping: Mapping, types: readonly ColumnType[]): File {
  const kept = mapping
    .map((field, column) => ({ field, column, type: isOwn(field) ? (types[column] ?? null) : null }))
    .filter((one): one is { field: string; column: number; type: ColumnType } => one.field !== null)
    .toSorted((one, other) => Number(other.field === "email") - Number(one.field === "email"));
  const faults = new Map(file.faults.map((faulty) => [faulty.at, faulty]));
  const lineOf = (row: string[], at: number) => {
    const faulty = faults.get(at);
    const tail = faulty === undefined ? undefined : WRITTEN_FAULTS[faulty.fault.code];
    if (faulty !== undefined && tail !== undefined)
      return faulty.firstCell.replace(READ_AS_SIGNS, " ") + tail;
    if (isEmptyRow(row)) return "";
    const cells = kept.map(({ column, type }) => writeAs(row[column] ?? "", type));
    const all = [...cells, ...row.slice(file.header.length)];
    return isEmptyRow(all) ? NO_ADDRESS : all.map(quoteCell).join(",");
  };
  const lines = [
    ...Array<string>(file.firstRow - HEADER_AND_FIRST).fill(""),
    kept.map(({ field }) => quoteCell(field)).join(","),
    ...file.rows.map(lineOf),
  ];
  return new File([lines.join("\n")], file.name, { type: "text/csv" });
}
