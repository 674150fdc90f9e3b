// Joins the rejected rows of several imports into one CSV file.
import { quoteCell } from "@postloft/contract/cell.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";

interface ReadTable {
  header: string[];
  rows: string[][];
}

function read(text: string): ReadTable {
  const reader = createCsvReader(text, ",", true);
  const rows: string[][] = [];
  for (let row = reader.next(); row !== null; row = reader.next())
    if (row.kind === "row") rows.push(row.cells);
  const [header = [], ...below] = rows;
  return { header, rows: below };
}

/** Tells repeated names apart: the second `Name` of a header joins the second `Name` of another. */
function keysOf(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return `${times} ${name}`;
  });
}

const write = (cells: readonly string[]): string => cells.map(quoteCell).join(",");

/** Returns one CSV with the rows of all given CSVs, which the server wrote. Columns of the same name are joined. */
export function mergeTables(texts: readonly string[]): string {
  const tables = texts.map(read);
  const names = new Map(
    tables.flatMap(({ header }) => keysOf(header).map((key, at) => [key, header[at] ?? ""])),
  );
  const lines = tables.flatMap(({ header, rows }) => {
    const keys = keysOf(header);
    const places = [...names.keys()].map((key) => keys.indexOf(key));
    return rows.map((cells) => write(places.map((at) => cells[at] ?? "")));
  });
  return [write([...names.values()]), ...lines, ""].join("\r\n");
}
