// Jobs that go through an imported file: a part of it in each step, in one transaction with where the next one begins.
import { setImmediate as nextTurn } from "node:timers/promises";
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

/** Where the next step begins. */
interface Place {
  offset: number;
  row: number;
}

type Checkpoint = Place & Partial<ImportCounts>;

/** What a row says of one address, in its canonical form. */
export interface AddressChange {
  email: string;
  status?: ImportStatus | undefined;
  notes?: readonly PersonNote[];
}

/** An import under way. */
export type ImportingJob = JobKey & { input: ImportInput };

/** What was done with rows. */
export type AppliedCounts = Pick<ImportCounts, "created"> &
  Partial<Pick<ImportCounts, "keptUnsubscribed" | "segmentAdded" | "segmentMissed">>;

/** What the rows of a kind of file mean. */
export interface ImportKind<Change extends AddressChange> {
  /** Prepares to read rows as changes, or as their first fault. */
  createReader(input: ImportInput): (cells: readonly string[]) => Change | RowFault;
  /** Does what the rows say. */
  apply(tx: Tx, job: ImportingJob, changes: readonly Change[]): Promise<AppliedCounts>;
  /** Counts what `apply` would do, without doing it; `known` is what earlier parts of the file would have left. */
  rehearse(
    tx: Tx,
    job: ImportingJob,
    changes: readonly Change[],
    known: Map<string, boolean>,
  ): Promise<AppliedCounts>;
  /** What a person is told of a row that the database refuses; undefined: nothing is known of it. */
  explain(error: unknown): RowFault | undefined;
}

interface NumberedChange<Change> {
  row: number;
  cells: string[];
  change: Change;
}

/** What a part of the file says. */
interface Part<Change> {
  changes: Array<NumberedChange<Change>>;
  errors: JobError[];
  /** Skipped rows and notes. */
  counts: ImportCounts;
  next: Place;
}

/** Read at once; a row that is longer is read in larger parts. */
const PART_BYTES = 512 * 1024;
const CHANGES_A_STEP = 8_000;
/** A few milliseconds of reading, after which other requests have their turn. */
const ROWS_A_TURN = 500;
const ERRORS_A_STEP = 10_000;
/** SQLSTATE of what the database says of a value: it does not fit, it breaks a check, it is too large. */
const FAULT_OF_A_ROW = /^(22...|23514|54000)$/;

/** The step of a kind of import. */
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

interface Standing {
  place: Place;
  counts: ImportCounts;
}

type RowReader<Change> = (cells: readonly string[]) => Change | RowFault;

async function importPart<Change extends AddressChange>(
  kind: ImportKind<Change>,
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  { place, counts }: Standing,
): Promise<Standing> {
  const part = await readPart(read, tx, job, place);
  const applied = await applyRows(kind, tx, job, part.changes);
  const errors = [...part.errors, ...applied.errors];
  await keepErrors(tx, job, counts, errors);
  const total = addCounts(addCounts(counts, part.counts), { ...applied.counts, failed: errors.length });
  return { place: part.next, counts: total };
}

/** The whole file, in one step because nothing remembers in between which addresses would be there by then. It only reads. */
async function rehearse<Change extends AddressChange>(
  kind: ImportKind<Change>,
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  before: Standing,
): Promise<Standing> {
  const known = new Map<string, boolean>();
  let { place, counts } = before;
  while (place.offset < job.input.sizeBytes) {
    const part = await readPart(read, tx, job, place);
    const changes = part.changes.map(({ change }) => change);
    const applied = countApplied(changes, await kind.rehearse(tx, job, changes, known));
    await keepErrors(tx, job, counts, part.errors);
    counts = addCounts(addCounts(counts, part.counts), { ...applied, failed: part.errors.length });
    place = part.next;
  }
  return { place, counts };
}

/** The first so many; all are counted. */
async function keepErrors(
  tx: Tx,
  job: JobKey,
  before: ImportCounts,
  errors: readonly JobError[],
): Promise<void> {
  const room = Math.max(0, LIMITS.importErrorsKept.value - before.failed);
  await insertJobErrors(tx, job, errors.slice(0, room));
}

/** Some whole rows from a place on, at least one if there is one. */
async function readPart<Change extends AddressChange>(
  read: RowReader<Change>,
  tx: Tx,
  job: ImportingJob,
  { offset, row }: Place,
): Promise<Part<Change>> {
  const { input } = job;
  for (let length = PART_BYTES; ; length *= 2) {
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

/** Rows that say nothing count as rows and are neither changes nor errors. */
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

/** The cell of the address, as it is in the file. */
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

/** Rows that the database refuses are found by halves, so that the others go in. */
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
