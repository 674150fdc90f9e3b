// A CSV file of any origin, made into one that the import takes: which column becomes what, and the address first.
// Before it: import-page.tsx reads a file. After it: the API, which has the last word on each row.
import Papa from "papaparse";

export interface CsvFile {
  name: string;
  header: string[];
  rows: string[][];
}

/** What a column becomes: the name of a field, or null for nothing. */
export type Mapping = Array<string | null>;

/** @throws Error with a sentence for a person, when the file is no table */
export async function readCsv(file: File): Promise<CsvFile> {
  const rows = await new Promise<string[][]>((resolve, reject) => {
    Papa.parse<string[]>(file, {
      skipEmptyLines: "greedy",
      complete: ({ data }) => resolve(data),
      error: reject,
    });
  });
  const [header, ...rest] = rows;
  return { name: file.name, header: (header ?? []).map((name) => name.trim()), rows: rest };
}

const ADDRESS = /^(e-?mail([ _-]?address)?|address|adresse|courriel|correo)$/i;
const SUBSCRIBED = /^(subscribed|opt[ _-]?in|abonniert|abonné|suscrito)$/i;
const LOOKS_LIKE_ADDRESS = /^[^\s@]+@[^\s@]+$/;
const SAMPLES = 20;

/** What each column is by its name, and where none is an address by name, by its values. */
export function guessMapping({ header, rows }: CsvFile): Mapping {
  const named = header.findIndex((name) => ADDRESS.test(name));
  const like = header.findIndex((_name, at) =>
    rows.slice(0, SAMPLES).some((row) => LOOKS_LIKE_ADDRESS.test((row[at] ?? "").trim())),
  );
  const address = named === -1 ? like : named;
  return header.map((name, at) => {
    if (at === address) return "email";
    if (SUBSCRIBED.test(name)) return "subscribed";
    return name === "" ? null : name.replace(/^data\./, "");
  });
}

/** The first values of a column that say anything. */
export function samplesOf({ rows }: CsvFile, column: number, count = 3): string[] {
  return rows
    .slice(0, SAMPLES)
    .map((row) => (row[column] ?? "").trim())
    .filter((value) => value !== "")
    .slice(0, count);
}

/** The file as the import takes it: the address in the first column, what is ignored left out. */
export function writeCsv({ name, rows }: CsvFile, mapping: Mapping): File {
  const kept = mapping
    .map((field, column) => ({ field, column }))
    .filter((one): one is { field: string; column: number } => one.field !== null)
    .toSorted((one, other) => Number(other.field === "email") - Number(one.field === "email"));
  const text = Papa.unparse(
    {
      fields: kept.map(({ field }) => field),
      data: rows.map((row) => kept.map(({ column }) => row[column] ?? "")),
    },
    { newline: "\n" },
  );
  return new File([text], name, { type: "text/csv" });
}
