// Converts a row of an imported file to a person with address, status and fields, or returns why the row cannot be imported.
import { faultOfSurplus } from "../read-csv.ts";
import { faultOfRow, type RowFault } from "../row-faults.ts";
import { cleanAddress } from "./clean-address.ts";
import { EVERY_OTHER, IMPORT_STATUSES, type ImportStatus, type MappedColumn } from "./mapping.ts";
import { readValue, type DecimalSign } from "./read-value.ts";
import { plainWord, usualStatus } from "./status-columns.ts";

export interface PersonNote {
  /**
   * `address.cleaned`: the cell contained more than the address. `status.contradiction`: the stricter column was used. `value.other`: a
   * value does not have the type of its column and stays text.
   */
  code: "address.cleaned" | "status.contradiction" | "value.other";
  /** The position of the column, counted from 1. */
  position: number;
  /** The unchanged cell of the file. */
  cell: string;
}

export interface Person {
  /** Canonical. */
  email: string;
  /** Undefined if the row has no status. Existing contacts keep their status, and new ones are subscribed. */
  status: ImportStatus | undefined;
  data: Record<string, unknown>;
  notes: readonly PersonNote[];
}

export interface PersonOptions {
  decimal: DecimalSign;
  /** Returns the reason why an object may not be stored, or null. */
  problemOf?: (value: object) => string | null;
}

/** Reads rows with one mapping. */
export type PersonReader = (cells: readonly string[]) => Person | RowFault;

const SHOWN_CHARS = 60;
/** Shared by the rows without notes, because many rows are kept at a time. */
const NO_NOTES: readonly PersonNote[] = [];
const STRICTNESS: ReadonlyMap<ImportStatus, number> = new Map(
  IMPORT_STATUSES.map((status, rank) => [status, rank]),
);

/** Prepares for reading many rows. */
export function createPersonReader(columns: readonly MappedColumn[], options: PersonOptions): PersonReader {
  const emailAt = columns.findIndex(({ target }) => target === "email");
  const fields = columns.filter(({ target, field }) => target === "field" && field !== null);
  const statuses = columns.filter(({ target }) => target === "status").map(prepareStatus);
  return (cells) => {
    const address = cleanAddress(cells[emailAt] ?? "");
    if ("code" in address) return address;
    const surplus = faultOfSurplus(cells, columns.length);
    if (surplus !== null) return surplus;
    const notes: PersonNote[] = [];
    if (address.isCleaned)
      notes.push({ code: "address.cleaned", position: emailAt + 1, cell: cells[emailAt] ?? "" });
    const status = readStatus(statuses, cells, notes);
    if (typeof status === "object") return status;
    const data: Record<string, unknown> = {};
    for (const column of fields) {
      const cell = cells[column.position - 1] ?? "";
      if (cell === "") continue;
      const read = readValue(cell, column, options.decimal);
      if (read === undefined) continue;
      if (read.isOther) notes.push({ code: "value.other", position: column.position, cell });
      const { value } = read;
      const problem = typeof value === "object" && value !== null ? options.problemOf?.(value) : null;
      if (problem != null) return faultOfRow("row.value", { key: column.field ?? "", why: problem });
      data[column.field ?? ""] = value;
    }
    return { email: address.email, status, data, notes: notes.length === 0 ? NO_NOTES : notes };
  };
}

export function readPerson(
  columns: readonly MappedColumn[],
  cells: readonly string[],
  options: PersonOptions = { decimal: "point" },
): Person | RowFault {
  return createPersonReader(columns, options)(cells);
}

/** Maximum number of cached words, because a column of times has as many words as rows. */
const MOST_WORDS_KEPT = 1_000;

interface StatusColumn {
  position: number;
  name: string;
  meaning: (word: string) => ImportStatus | undefined;
}

function prepareStatus({ position, name, values }: MappedColumn): StatusColumn {
  const input = new Map(
    Object.entries(values ?? {}).map(([text, status]) => [
      text === EVERY_OTHER ? text : plainWord(text),
      status,
    ]),
  );
  const known = new Map<string, ImportStatus | undefined>();
  const find = (word: string) => {
    if (input.has(word)) return input.get(word);
    return word === "" ? undefined : (usualStatus(name, word) ?? input.get(EVERY_OTHER));
  };
  return {
    position,
    name,
    meaning(word) {
      if (!known.has(word)) {
        if (known.size >= MOST_WORDS_KEPT) return find(word);
        known.set(word, find(word));
      }
      return known.get(word);
    },
  };
}

/** Returns the strictest status among the columns of the row. */
function readStatus(
  columns: readonly StatusColumn[],
  cells: readonly string[],
  notes: PersonNote[],
): ImportStatus | undefined | RowFault {
  let strictest: ImportStatus | undefined;
  let isContradicted = false;
  let at = 0;
  for (const { position, name, meaning } of columns) {
    const cell = cells[position - 1] ?? "";
    const word = plainWord(cell);
    const status = meaning(word);
    if (status === undefined && word !== "")
      return faultOfRow("row.subscribed", {
        column: name,
        value: JSON.stringify(cell.slice(0, SHOWN_CHARS)),
      });
    if (status === undefined) continue;
    if (strictest !== undefined && (status === "subscribed") !== (strictest === "subscribed"))
      isContradicted = true;
    if (strictest === undefined || rankOf(status) > rankOf(strictest)) {
      strictest = status;
      at = position;
    }
  }
  if (isContradicted) notes.push({ code: "status.contradiction", position: at, cell: cells[at - 1] ?? "" });
  return strictest;
}

function rankOf(status: ImportStatus): number {
  return STRICTNESS.get(status) ?? 0;
}
