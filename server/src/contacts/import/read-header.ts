// The first row of a CSV file: what separates the cells, and what each column is. Pure.
// Before it: decode-file.ts. After it: imports.ts keeps the columns with the job, rules.ts reads rows by them.
import { LIMITS } from "@postloft/contract/limits.ts";
import { findHostileValues } from "../../platform/http-body.ts";
import { readTextCell } from "@postloft/contract/cell.ts";
import { readFirstRow } from "@postloft/contract/read-csv.ts";
import { RESERVED_KEYS } from "../rules.ts";

/** What the cells of one column are; the first column is the address and not among these. */
export type Column =
  | { kind: "subscribed" }
  | { kind: "data"; key: string }
  | { kind: "ignored"; name: string };

export interface Header {
  separator: string;
  /** From the second column on. */
  columns: Column[];
  /** Rows up to and with the header: empty ones before it count. */
  rows: number;
  /** Where the first row of contacts begins, in characters. */
  end: number;
}

export type ReadHeader = { ok: true; header: Header } | { ok: false; problem: string };

const SEPARATORS = [",", ";", "\t"];
const PREFIX = "data.";
/** Fields of a contact that are neither data nor changed by a file; an export has them. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["createdAt", "updatedAt"]);
const SHOWN_CHARS = 60;

/** Takes the separator with which the first column is `email`. */
export function readHeader(text: string): ReadHeader {
  for (const separator of SEPARATORS) {
    const first = readNames(text, separator);
    if (firstNameOf(first).toLowerCase() !== "email") continue;
    const columns = readColumns(first.cells.slice(1));
    if (typeof columns === "string") return { ok: false, problem: columns };
    return { ok: true, header: { separator, columns, rows: first.rows, end: first.end } };
  }
  const first = readNames(text, ",");
  if (first.fault !== null) return { ok: false, problem: `The first row cannot be read: ${first.fault}` };
  const name = firstNameOf(first).slice(0, SHOWN_CHARS);
  return {
    ok: false,
    problem: `The first column must be named email, and it is ${JSON.stringify(name)}. Put the column with the addresses first, and a row with the names of the columns at the top.`,
  };
}

interface Names {
  cells: string[];
  fault: string | null;
  rows: number;
  end: number;
}

function readNames(text: string, separator: string): Names {
  const { row, rows, end } = readFirstRow(text, separator);
  if (row === null) return { cells: [], fault: "It names no columns.", rows, end };
  if (row.kind === "fault") return { cells: [], fault: row.fault.text, rows, end };
  return { cells: row.cells, fault: null, rows, end };
}

function firstNameOf({ cells }: Names): string {
  return (cells[0] ?? "").trim();
}

/** A sentence instead where the names will not do. */
function readColumns(names: readonly string[]): Column[] | string {
  if (names.length + 1 > LIMITS.importColumns.value)
    return `There are ${names.length + 1} columns; at most ${LIMITS.importColumns.value} are taken. Delete those that are not needed.`;
  const columns: Column[] = [];
  const seen = new Set(["email"]);
  for (const [at, name] of names.entries()) {
    const column = readColumn(readTextCell(name));
    const place = `Column ${at + 2}`;
    if (column === null) return `${place} has no name. Name it in the first row, or delete the column.`;
    const own = nameOf(column);
    if (seen.has(own))
      return `${place} has the same name as another one: ${JSON.stringify(name.slice(0, SHOWN_CHARS))}. Rename or delete one of them.`;
    seen.add(own);
    const problem = column.kind === "data" ? keyProblem(column.key) : null;
    if (problem !== null) return `${place} cannot be a key of data: ${problem}`;
    columns.push(column);
  }
  return columns;
}

/** What may stand once. */
function nameOf(column: Column): string {
  if (column.kind === "data") return `${PREFIX}${column.key}`;
  return column.kind === "ignored" ? column.name : column.kind;
}

function readColumn(name: string): Column | null {
  if (name === "") return null;
  if (name.trim().toLowerCase() === "subscribed") return { kind: "subscribed" };
  if (name.trim().toLowerCase() === "email") return { kind: "ignored", name: "email" };
  if (OWN_FIELDS.has(name)) return { kind: "ignored", name };
  const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  if (key === "") return null;
  return RESERVED_KEYS.has(key) ? { kind: "ignored", name } : { kind: "data", key };
}

function keyProblem(key: string): string | null {
  if (key.length > LIMITS.dataKeyLength.value)
    return `it has more than ${LIMITS.dataKeyLength.value} characters.`;
  return findHostileValues(Object.fromEntries([[key, 0]])).problems[0]?.message ?? null;
}
