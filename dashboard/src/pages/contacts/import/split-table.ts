// Splits a table that exceeds one request. Each part repeats the rows up to the header.
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import { createYield } from "./take-turns.ts";

/** A part of a table as one request sends it. */
export interface TablePart {
  text: string;
  /** Rows of the file before this part, without the rows up to the header. */
  rowOffset: number;
}

interface SplitTable {
  text: string;
  separator: string;
  /** The position of the first row below the header. */
  start: number;
}

const ENCODER = new TextEncoder();
const bytesOf = (text: string) => ENCODER.encode(text).length;
/** No character takes more bytes in UTF-8. */
const BYTES_A_CHARACTER_MAX = 3;

/**
 * Returns the parts of a table in order, each of at most `mostBytes` in UTF-8. A table that fits is one part.
 * A single row above the limit gets a separate part, which the server rejects.
 */
export async function splitTable(table: SplitTable, mostBytes: number): Promise<TablePart[]> {
  const { text, separator, start } = table;
  const fits = text.length * BYTES_A_CHARACTER_MAX <= mostBytes || bytesOf(text) <= mostBytes;
  if (fits) return [{ text, rowOffset: 0 }];
  const preamble = text.slice(0, start);
  const room = mostBytes - bytesOf(preamble);
  const body = text.slice(start);
  const reader = createCsvReader(body, separator, true);
  const turn = createYield();
  const parts: TablePart[] = [];
  let part = { from: 0, bytes: 0, rowOffset: 0 };
  let rows = 0;
  for (let from = 0; reader.next() !== null; from = reader.end()) {
    const bytes = bytesOf(body.slice(from, reader.end()));
    if (part.bytes > 0 && part.bytes + bytes > room) {
      parts.push({ text: preamble + body.slice(part.from, from), rowOffset: part.rowOffset });
      part = { from, bytes: 0, rowOffset: rows };
    }
    part.bytes += bytes;
    rows++;
    await turn();
  }
  return [...parts, { text: preamble + body.slice(part.from), rowOffset: part.rowOffset }];
}
