// Runs import jobs. Each step processes one part of the file and stores the position of the next part in the same transaction.
import { nextTurn } from "../../platform/background/turns.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ImportStatus } from "@postloft/contract/contact-file/mapping.ts";
import type { PersonNote } from "@postloft/contract/contact-file/read-person.ts";
import { createCsvReader, isEmptyRow, type CsvRow } from "@postloft/contract/read-csv.ts";
import { faultOfRow, type RowFault } from "@postloft/contract/row-faults.ts";
import { databaseErrorCode, subtransaction, type Tx } from "../../platform/database/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import {
  insertJobErrors,
  JobFailure,
  listJobErrors,
  readJobFile,
  type JobError,
  type JobKey,
  type JobStep,
} from "../../platform/background/jobs.ts";
import {
  addCounts,
  countStatus,
  keepNotes,
  NO_COUNTS,
  resultOf,
  type ImportCounts,
} from "./import-counts.ts";
import { readInput, type ImportInput } from "./import-input.ts";

/** Position of the next step. */
interface Place {
  offset: number;
  row: number;
}

type Checkpoint = Place & Partial<ImportCounts>;

/** Change of one address, in canonical form. */
export interface AddressChange {
  email: string;
  status?: ImportStatus | undefined;
  notes?: readonly PersonNote[];
}

/** A running import. */
export type ImportingJob = JobKey & { input: ImportInput };

/** Counts of applied rows. */
export type AppliedCounts = Pick<ImportCounts, "created"> &
  Partial<Pick<ImportCounts, "keptUnsubscribed" | "segmentAdded" | "segmentMissed">>;

/** Reads and applies the rows of one kind of file. */
export interface ImportKind<Change extends AddressChange> {
  /** Returns a function that reads a row as a change, or as its first fault. */
  createReader(input: ImportInput): (cells: readonly string[]) => Change | RowFault;
  /** Applies the changes. */
  apply(tx: Tx, job: ImportingJob, changes: readonly Change[]): Promise<AppliedCounts>;
  /** Counts the effects of `apply` without applying them. `known` is the state after the earlier parts of the file. */
  rehearse(
    tx: Tx,
    job: ImportingJob,
    changes: readonly Change[],
    known: Map<string, boolean>,
  ): Promise<AppliedCounts>;
  /** Returns the fault to report for a row that the database rejects, or undefined if the reason is unknown. */
  explain(error: unknown): RowFault | undefined;
}

interface NumberedChange<Change> {
  row: number;
  cells: string[];
  change: Change;
}

/** Changes and errors of one part of the file. */
interface Part<Change> {
  changes: Array<NumberedChange<Change>>;
  errors: JobError[];
  /** Skipped rows and notes. */
  counts: ImportCounts;
  next: Place;
}

/** Bytes read per part. A longer row doubles the size. */
const PART_BYTES = 512 * 1024;
/** A dry run saves nothing by large parts, and memory that is freed soon costs little. */
const DRY_RUN_PART_BYTES = 64 * 1024;
const CHANGES_A_STEP = 8_000;
/** Rows read before requests get a turn, which takes a millisecond or two. */
const ROWS_A_TURN = 100;
const ERRORS_A_STEP = 10_000;
/** SQLSTATE codes of rejected values: data exceptions, check violations and exceeded limits. */
const FAULT_OF_A_ROW = /^(22...|23514|54000)$/;

/** Returns the step function of a kind of import. */
export function stepOfImport<Change extends AddressChange>(kind: ImportKind<Change>): JobStep {
  return async (tx, job) => {
    const input = readInput(job.input);
    const running = { projectId: job.projectId, id: job.id, input };
    const start = { offset: 0, row: input.firstRow };
    const { offset, row, ...counted } = (job.checkpoint ?? start) as Checkpoint;
    const before = { place: { offset, row }, counts: { ...NO_COUNTS, ...counted } };
    const read = kind.createReader(input);
    const after = input.dryRun
      ? await rehearse(kind, read, tx, running, before)
      : await importPart(kind, read, tx, running, before);
    await failpoint("import.step");
    const { place, counts } = after;
    if (place.offset < input.sizeBytes)
      return {
        done: false,
        checkpoint: { ...place, ...counts },
        progress: (100 * place.offset) / input.sizeBytes,
      };
    const errors = await listJobErrors(tx, job, { afterRow: 0, limit: LIMITS.importErrors.value });
    return { done: true, result: resultOf(input, counts, errors) };
  };
}

interface ImportState {
  place: Place;
  counts: ImportCounts;
}

type RowReader<Change> = (cells: readonly string[]) => Change | RowFault;

async function importPart<Change extends AddressChange>(
  kind: ImportKind<Change>,
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  { place, counts }: ImportState,
): Promise<ImportState> {
  const part = await readPart(read, tx, job, place, PART_BYTES);
  const applied = await applyRows(kind, tx, job, part.changes);
  const errors = [...part.errors, ...applied.errors];
  await keepErrors(tx, job, counts, errors);
  const total = addCounts(addCounts(counts, part.counts), { ...applied.counts, failed: errors.length });
  return { place: part.next, counts: total };
}

/**
 * Reads the whole file in one step, because the simulated state of the addresses is not stored between steps. Writes nothing but errors.
 */
async function rehearse<Change extends AddressChange>(
  kind: ImportKind<Change>,
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  before: ImportState,
): Promise<ImportState> {
  const known = new Map<string, boolean>();
  let { place, counts } = before;
  while (place.offset < job.input.sizeBytes) {
    const part = await readPart(read, tx, job, place, DRY_RUN_PART_BYTES);
    const changes = part.changes.map(({ change }) => change);
    const applied = countApplied(changes, await kind.rehearse(tx, job, changes, known));
    await keepErrors(tx, job, counts, part.errors);
    counts = addCounts(addCounts(counts, part.counts), { ...applied, failed: part.errors.length });
    place = part.next;
    await nextTurn();
  }
  return { place, counts };
}

/** Stores errors up to the limit. All failures are counted. */
async function keepErrors(
  tx: Tx,
  job: JobKey,
  before: ImportCounts,
  errors: readonly JobError[],
): Promise<void> {
  const room = Math.max(0, LIMITS.importErrorsKept.value - before.failed);
  await insertJobErrors(tx, job, errors.slice(0, room));
}

/** Reads some whole rows from a position on, at least one if any is left. */
async function readPart<Change extends AddressChange>(
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  { offset, row }: Place,
  partBytes: number,
): Promise<Part<Change>> {
  const { input } = job;
  for (let length = partBytes; ; length *= 2) {
    const bytes = await readJobFile(tx, job, { offset, length });
    if (bytes.length === 0 && offset < input.sizeBytes) throw new JobFailure("The uploaded file is gone.");
    const text = bytes.toString("utf8");
    const isEnd = offset + bytes.length >= input.sizeBytes;
    const reader = createCsvReader(text, input.separator, isEnd);
    const part: Part<Change> = {
      changes: [],
      errors: [],
      counts: { ...NO_COUNTS, notes: [], tallies: [] },
      next: { offset, row },
    };
    for (let taken = 1; part.changes.length < CHANGES_A_STEP && part.errors.length < ERRORS_A_STEP; taken++) {
      const csvRow = reader.next();
      if (csvRow === null) break;
      take(read, part, csvRow, input);
      if (taken % ROWS_A_TURN === 0) await nextTurn();
    }
    part.next.offset += Buffer.byteLength(text.slice(0, reader.end()));
    if (part.next.row > row || isEnd) return part;
  }
}

/** Empty rows count as rows but are neither changes nor errors. */
function take<Change extends AddressChange>(
  read: RowReader<Change>,
  { changes, errors, counts, next }: Part<Change>,
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

function errorOf(row: number, subject: string, fault: RowFault, cells: readonly string[]): JobError {
  return {
    row,
    subject: subject.slice(0, LIMITS.addressLength.value),
    error: fault.text,
    parts: [fault],
    cells,
  };
}

interface Applied {
  counts: Partial<ImportCounts>;
  errors: JobError[];
}

/** Bisects the rows that the database rejects, so that all other rows are applied. */
async function applyRows<Change extends AddressChange>(
  kind: ImportKind<Change>,
  tx: Tx,
  job: ImportingJob,
  rows: ReadonlyArray<NumberedChange<Change>>,
): Promise<Applied> {
  const [first] = rows;
  if (first === undefined) return { counts: {}, errors: [] };
  try {
    const changes = rows.map(({ change }) => change);
    const applied = await subtransaction(tx, () => kind.apply(tx, job, changes));
    return { counts: countApplied(changes, applied), errors: [] };
  } catch (error) {
    if (!FAULT_OF_A_ROW.test(databaseErrorCode(error) ?? "")) throw error;
    if (rows.length === 1) {
      const fault = kind.explain(error) ?? faultOfRow("row.notStored");
      return { counts: {}, errors: [errorOf(first.row, first.change.email, fault, first.cells)] };
    }
  }
  const middle = Math.ceil(rows.length / 2);
  const one = await applyRows(kind, tx, job, rows.slice(0, middle));
  const other = await applyRows(kind, tx, job, rows.slice(middle));
  return {
    counts: addCounts({ ...NO_COUNTS, ...one.counts }, other.counts),
    errors: [...one.errors, ...other.errors],
  };
}

function countApplied(changes: readonly AddressChange[], applied: AppliedCounts): Partial<ImportCounts> {
  const counts: ImportCounts = { ...NO_COUNTS, ...applied, notes: [], tallies: [] };
  for (const { status } of changes) countStatus(counts, status);
  counts.updated = changes.length - applied.created;
  return counts;
}
