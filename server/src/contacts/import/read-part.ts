// Reads the rows of one part of an import file. It needs no database, so it also runs on a thread (address-reader.ts).
import type { ImportStatus } from "@postloft/contract/contact-file/mapping.ts";
import type { PersonNote } from "@postloft/contract/contact-file/read-person.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createCsvReader, isEmptyRow, type CsvRow } from "@postloft/contract/read-csv.ts";
import type { RowFault } from "@postloft/contract/row-faults.ts";
import type { JobError } from "../../platform/background/jobs.ts";
import { keepNotes, NO_COUNTS, type ImportCounts } from "./import-counts.ts";
import type { ImportInput } from "./import-input.ts";

/** A position in the file: an offset in bytes, and the number of the row that begins there. */
export interface Place {
  offset: number;
  row: number;
}

/** Change of one address, in canonical form. */
export interface AddressChange {
  email: string;
  status?: ImportStatus | undefined;
  notes?: readonly PersonNote[];
}

/** Reads a row as a change, or as its first fault. */
export type RowReader<Change> = (cells: readonly string[]) => Change | RowFault;
export type CreateReader<Change> = (input: ImportInput) => RowReader<Change>;

export interface NumberedChange<Change> {
  row: number;
  cells: readonly string[];
  change: Change;
}

/** Changes and errors of one part of the file. */
export interface Part<Change> {
  changes: Change[];
  errors: JobError[];
  /** Skipped rows and notes. */
  counts: ImportCounts;
  next: Place;
}

export type AddressPart = Part<AddressChange>;

/** For threads, which have nothing else to do. */
export const noPause = () => Promise.resolve();

export interface PartTask {
  input: ImportInput;
  /** The bytes from `place` on. */
  bytes: Uint8Array;
  place: Place;
}

const CHANGES_A_PART = 8_000;
const ERRORS_A_PART = 10_000;
/** Rows between two pauses, which take a millisecond. */
const ROWS_A_TURN = 100;

/**
 * Reads whole rows, at least one if any is left. Returns null if the bytes end before the first row does.
 * @param pause lets requests run
 */
export async function readPart<Change extends AddressChange>(
  createReader: CreateReader<Change>,
  { input, bytes, place: { offset, row } }: PartTask,
  pause: () => Promise<void>,
): Promise<Part<NumberedChange<Change>> | null> {
  const read = createReader(input);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const isEnd = offset + bytes.length >= input.sizeBytes;
  const reader = createCsvReader(text, input.separator, isEnd);
  const part: Part<NumberedChange<Change>> = {
    changes: [],
    errors: [],
    counts: { ...NO_COUNTS, notes: [], tallies: [] },
    next: { offset, row },
  };
  for (let taken = 1; part.changes.length < CHANGES_A_PART && part.errors.length < ERRORS_A_PART; taken++) {
    const csvRow = reader.next();
    if (csvRow === null) break;
    take(read, part, csvRow, input);
    if (taken % ROWS_A_TURN === 0) await pause();
  }
  part.next.offset += Buffer.byteLength(text.slice(0, reader.end()));
  return part.next.row > row || isEnd ? part : null;
}

/** Returns the part with only the addresses and statuses of its changes, which are enough for a dry run. */
export function addressesOf(part: Part<NumberedChange<AddressChange>> | null): AddressPart | null {
  if (part === null) return null;
  return { ...part, changes: part.changes.map(({ change: { email, status } }) => ({ email, status })) };
}

/** Empty rows count as rows but are neither changes nor errors. */
function take<Change extends AddressChange>(
  read: RowReader<Change>,
  { changes, errors, counts, next }: Part<NumberedChange<Change>>,
  csvRow: CsvRow,
  input: ImportInput,
): void {
  const row = next.row++;
  if (csvRow.kind === "fault") {
    errors.push(errorOf(row, csvRow.firstCell, csvRow.fault, csvRow.line.split(input.separator)));
    return;
  }
  const { cells } = csvRow;
  if (isEmptyRow(cells)) return;
  const change = read(cells);
  if ("code" in change) errors.push(errorOf(row, addressOf(cells, input), change, cells));
  else {
    if (change.notes !== undefined) keepNotes(counts, input, row, change.notes);
    if (change.status === "skip") counts.skipped++;
    else changes.push({ row, cells, change });
  }
}

/** Returns the unchanged cell of the address. */
function addressOf(cells: readonly string[], { columns }: ImportInput): string {
  const at = columns.findIndex(({ target }) => target === "email");
  return cells[at] ?? "";
}

export function errorOf(row: number, subject: string, fault: RowFault, cells: readonly string[]): JobError {
  return {
    row,
    subject: subject.slice(0, LIMITS.addressLength.value),
    error: fault.text,
    parts: [fault],
    cells,
  };
}
