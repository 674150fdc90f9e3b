// A CSV file of any origin, made into one that the import takes: which column becomes what, and the address first.
// Before it: read-csv.ts reads a file. After it: the API, which has the last word on each row.
import Papa from "papaparse";
import { writeAs, type ColumnType } from "./typed-columns.ts";

export interface CsvFile {
  name: string;
  header: string[];
  rows: string[][];
  /** Whether its letters are a guess, since it is not UTF-8. */
  isGuessed: boolean;
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
export function guessMapping({ header, rows }: CsvFile): Mapping {
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

/** The file as the import takes it: the address in the first column, what is ignored left out. */
export function writeCsv({ name, rows }: CsvFile, mapping: Mapping, types: readonly ColumnType[]): File {
  const kept = mapping
    .map((field, column) => ({ field, column, type: isOwn(field) ? (types[column] ?? null) : null }))
    .filter((one): one is { field: string; column: number; type: ColumnType } => one.field !== null)
    .toSorted((one, other) => Number(other.field === "email") - Number(one.field === "email"));
  const text = Papa.unparse(
    {
      fields: kept.map(({ field }) => field),
      data: rows.map((row) => kept.map(({ column, type }) => writeAs(row[column] ?? "", type))),
    },
    { newline: "\n" },
  );
  return new File([text], name, { type: "text/csv" });
}
