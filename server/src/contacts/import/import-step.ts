// Jobs that go through an imported file: a part of it in each step, in one transaction with where the next one begins.
// Before it: imports.ts queued the file. After it: import-contacts.ts, suppressions/import-suppressions.ts do what the rows say.
import { LIMITS } from "@postloft/contract/limits.ts";
import { createCsvReader, isEmptyRow, type CsvRow } from "@postloft/contract/read-csv.ts";
import { faultOfRow, type RowFault } from "@postloft/contract/row-faults.ts";
import { databaseErrorCode, subtransaction, type Tx } from "../../platform/database.ts";
import { failpoint } from "../../platform/failpoints.ts";
import {
  insertJobErrors,
  JobFailure,
  listJobErrors,
  readJobFile,
  type JobError,
  type JobKey,
  type JobStep,
} from "../../platform/jobs.ts";
import type { Column } from "./read-header.ts";

/** What the job is told; the file below the header is stored beside it, as UTF-8. */
export interface ImportInput {
  dryRun: boolean;
  /** Whether what it does is recorded, so that it can be undone. */
  isRecorded?: boolean;
  /** The id of a user, or `key`. */
  actor: string;
  separator: string;
  columns: Column[];
  /** The number of the first row of the file. */
  firstRow: number;
  sizeBytes: number;
}

interface Counts {
  created: number;
  updated: number;
  failed: number;
}

/** Where the next step begins. */
interface Checkpoint extends Counts {
  offset: number;
  row: number;
}

/** What a row says of one address, in its canonical form. */
interface AddressChange {
  email: string;
}

/** An import under way. `actor`: the id of a user, or `key`. */
export type ImportingJob = JobKey & { actor: string };

/** What the rows of a kind of file mean. */
export interface ImportKind<Change extends AddressChange> {
  /** A row below the header as a change, or its first fault. */
  readRow(columns: readonly Column[], cells: readonly string[]): Change | RowFault;
  /** Does what rows say; returns how many of the addresses are new. */
  apply(tx: Tx, job: ImportingJob, changes: readonly Change[]): Promise<number>;
  /** Those of the addresses that are there. */
  findKnown(tx: Tx, projectId: string, emails: readonly string[]): Promise<ReadonlySet<string>>;
  /** What a person is told of a row that the database refuses; undefined: nothing is known of it. */
  explain(error: unknown): RowFault | undefined;
}

interface NumberedChange<Change> {
  row: number;
  change: Change;
}

/** What a part of the file says. */
interface Part<Change> {
  changes: Array<NumberedChange<Change>>;
  errors: JobError[];
  next: { offset: number; row: number };
}

/** Read at once; a row that is longer is read in larger parts. */
const PART_BYTES = 512 * 1024;
const CHANGES_A_STEP = 8_000;
const ERRORS_A_STEP = 10_000;
/** SQLSTATE of what the database says of a value: it does not fit, it breaks a check, it is too large. */
const FAULT_OF_A_ROW = /^(22...|23514|54000)$/;

/** The step of a kind of import. */
export function stepOfImport<Change extends AddressChange>(kind: ImportKind<Change>): JobStep {
  return async (tx, job) => {
    const input = job.input as ImportInput;
    const start = { offset: 0, row: input.firstRow, created: 0, updated: 0, failed: 0 };
    const before = (job.checkpoint ?? start) as Checkpoint;
    const after = input.dryRun
      ? await rehearse(kind, tx, job, input, before)
      : await importPart(kind, tx, job, input, before);
    await failpoint("import.step");
    if (after.offset < input.sizeBytes)
      return { done: false, checkpoint: after, progress: (100 * after.offset) / input.sizeBytes };
    return { done: true, result: await resultOf(tx, job, input, after) };
  };
}

async function importPart<Change extends AddressChange>(
  kind: ImportKind<Change>,
  tx: Tx,
  job: JobKey,
  input: ImportInput,
  before: Checkpoint,
): Promise<Checkpoint> {
  const part = await readPart(kind, tx, job, input, before);
  const applied = await applyRows(kind, tx, { ...job, actor: input.actor }, part.changes);
  const errors = [...part.errors, ...applied.errors];
  await keepErrors(tx, job, before, errors);
  return add(before, { ...applied, failed: errors.length }, part.next);
}

/** The whole file, in one step because nothing remembers in between which addresses would be there by then. It only reads. */
async function rehearse<Change extends AddressChange>(
  kind: ImportKind<Change>,
  tx: Tx,
  job: JobKey,
  input: ImportInput,
  before: Checkpoint,
): Promise<Checkpoint> {
  const seen = new Set<string>();
  let at = before;
  while (at.offset < input.sizeBytes) {
    const part = await readPart(kind, tx, job, input, at);
    const emails = new Set(part.changes.map(({ change }) => change.email));
    const known = await kind.findKnown(tx, job.projectId, [...emails.difference(seen)]);
    let created = 0;
    for (const { change } of part.changes) {
      if (!seen.has(change.email) && !known.has(change.email)) created++;
      seen.add(change.email);
    }
    await keepErrors(tx, job, at, part.errors);
    const counts = { created, updated: part.changes.length - created, failed: part.errors.length };
    at = add(at, counts, part.next);
  }
  return at;
}

/** The first so many; all are counted. */
async function keepErrors(tx: Tx, job: JobKey, before: Counts, errors: readonly JobError[]): Promise<void> {
  const room = Math.max(0, LIMITS.importErrorsKept.value - before.failed);
  await insertJobErrors(tx, job, errors.slice(0, room));
}

function add(before: Checkpoint, counts: Counts, next: Part<AddressChange>["next"]): Checkpoint {
  return {
    ...next,
    created: before.created + counts.created,
    updated: before.updated + counts.updated,
    failed: before.failed + counts.failed,
  };
}

/** Some whole rows from a place on, at least one if there is one. */
async function readPart<Change extends AddressChange>(
  kind: ImportKind<Change>,
  tx: Tx,
  job: JobKey,
  input: ImportInput,
  { offset, row }: { offset: number; row: number },
): Promise<Part<Change>> {
  for (let length = PART_BYTES; ; length *= 2) {
    const bytes = await readJobFile(tx, job, { offset, length });
    if (bytes.length === 0 && offset < input.sizeBytes) throw new JobFailure("The uploaded file is gone.");
    const text = bytes.toString("utf8");
    const isEnd = offset + bytes.length >= input.sizeBytes;
    const reader = createCsvReader(text, input.separator, isEnd);
    const part: Part<Change> = { changes: [], errors: [], next: { offset, row } };
    while (part.changes.length < CHANGES_A_STEP && part.errors.length < ERRORS_A_STEP) {
      const csvRow = reader.next();
      if (csvRow === null) break;
      take(kind, part, csvRow, input.columns);
    }
    part.next.offset += Buffer.byteLength(text.slice(0, reader.end()));
    if (part.next.row > row || isEnd) return part;
  }
}

/** Rows that say nothing count as rows and are neither changes nor errors. */
function take<Change extends AddressChange>(
  { readRow }: ImportKind<Change>,
  { changes, errors, next }: Part<Change>,
  csvRow: CsvRow,
  columns: readonly Column[],
): void {
  const row = next.row++;
  if (csvRow.kind === "fault") {
    errors.push(errorOf(row, csvRow.firstCell, csvRow.fault));
    return;
  }
  if (isEmptyRow(csvRow.cells)) return;
  const change = readRow(columns, csvRow.cells);
  if ("code" in change) errors.push(errorOf(row, shown(csvRow.cells[0] ?? ""), change));
  else changes.push({ row, change });
}

function errorOf(row: number, subject: string, fault: RowFault): JobError {
  return { row, subject, error: fault.text, parts: [fault] };
}

function shown(email: string): string {
  return email.slice(0, LIMITS.addressLength.value);
}

interface Applied {
  created: number;
  updated: number;
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
  if (first === undefined) return { created: 0, updated: 0, errors: [] };
  try {
    const changes = rows.map(({ change }) => change);
    const created = await subtransaction(tx, () => kind.apply(tx, job, changes));
    return { created, updated: rows.length - created, errors: [] };
  } catch (error) {
    if (!FAULT_OF_A_ROW.test(databaseErrorCode(error) ?? "")) throw error;
    if (rows.length === 1) {
      const fault = kind.explain(error) ?? faultOfRow("row.notStored");
      return { created: 0, updated: 0, errors: [errorOf(first.row, shown(first.change.email), fault)] };
    }
  }
  const middle = Math.ceil(rows.length / 2);
  const one = await applyRows(kind, tx, job, rows.slice(0, middle));
  const other = await applyRows(kind, tx, job, rows.slice(middle));
  return {
    created: one.created + other.created,
    updated: one.updated + other.updated,
    errors: [...one.errors, ...other.errors],
  };
}

async function resultOf(tx: Tx, job: JobKey, input: ImportInput, counts: Counts) {
  const { created, updated, failed } = counts;
  const errors = await listJobErrors(tx, job, { afterRow: 0, limit: LIMITS.importErrors.value });
  return {
    totalRows: created + updated + failed,
    successCount: created + updated,
    createdCount: created,
    updatedCount: updated,
    failureCount: failed,
    errors: errors.map(({ row, subject, error, parts }) => ({
      row,
      email: subject,
      error,
      ...(parts === null ? {} : { errorParts: parts }),
    })),
    ignoredColumns: input.columns.flatMap((column) => (column.kind === "ignored" ? [column.name] : [])),
    dryRun: input.dryRun,
  };
}
