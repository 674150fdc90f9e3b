// Reads the rows of a contact file.
import { createPersonReader, type PersonNote } from "@postloft/contract/contact-file/read-person.ts";
import type { ImportStatus } from "@postloft/contract/contact-file/mapping.ts";
import { exceedsBytes } from "@postloft/contract/field.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { faultOfRow } from "@postloft/contract/row-faults.ts";
import { findHostileValues } from "../../platform/http/body.ts";
import { readDataPatch, type DataPatch } from "../rules.ts";
import type { ImportInput } from "./import-input.ts";
import type { RowReader } from "./read-part.ts";

export interface ContactRow {
  /** Canonical. */
  email: string;
  /** If undefined, known contacts keep their state and new contacts are subscribed. */
  status: ImportStatus | undefined;
  patch: DataPatch;
  notes: readonly PersonNote[];
}

/** Below this length the JSON cannot exceed the byte limit, because one character of a cell takes at most six bytes. */
const SURELY_SMALL_CHARS = LIMITS.dataBytes.value / 32;

const problemOf = (value: object) => findHostileValues(value).problems[0]?.message ?? null;

/** Returns a function that reads a row by the columns of the import. */
export function createContactReader({ columns, decimal }: ImportInput): RowReader<ContactRow> {
  const read = createPersonReader(columns, { decimal, problemOf });
  return (cells) => {
    const person = read(cells);
    if ("code" in person) return person;
    const { email, status, data, notes } = person;
    const chars = cells.reduce((sum, cell) => sum + cell.length, 0);
    if (chars > SURELY_SMALL_CHARS && exceedsBytes(JSON.stringify(data), LIMITS.dataBytes.value))
      return faultOfRow("row.dataLong", { most: LIMITS.dataBytes.value });
    return { email, status, patch: readDataPatch(data), notes };
  };
}
