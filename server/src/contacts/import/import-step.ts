// Runs import jobs. Each step processes one part of the file and stores the position of the next part in the same transaction.
import { nextTurn, restAfter } from "../../platform/background/turns.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
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
import { addCounts, countStatus, NO_COUNTS, resultOf, type ImportCounts } from "./import-counts.ts";
import { readInput, type ImportInput } from "./import-input.ts";
import {
  errorOf,
  readPart,
  type AddressChange,
  type AddressPart,
  type CreateReader,
  type NumberedChange,
  type Part,
  type PartTask,
  type Place,
} from "./read-part.ts";

type Checkpoint = Place & Partial<ImportCounts>;

/** A running import. */
export type ImportingJob = JobKey & { input: ImportInput };

/** Counts of applied rows. */
export type AppliedCounts = Pick<ImportCounts, "created"> &
  Partial<Pick<ImportCounts, "keptUnsubscribed" | "segmentAdded" | "segmentMissed">>;

/** Reads and applies the rows of one kind of file. */
export interface ImportKind<Change extends AddressChange> {
  createReader: CreateReader<Change>;
  /** Applies the changes. */
  apply(tx: Tx, job: ImportingJob, changes: readonly Change[]): Promise<AppliedCounts>;
  /** For kinds of files that have a dry run. */
  rehearsal: Rehearsal | null;
  /** Returns the fault to report for a row that the database rejects, or undefined if the reason is unknown. */
  explain(error: unknown): RowFault | undefined;
}

export interface Rehearsal {
  readAddresses(projectId: string, task: PartTask): Promise<AddressPart | null>;
  /** Counts the effects of `apply` without applying them. `known` is the state after the earlier parts of the file. */
  rehearse(
    tx: Tx,
    job: ImportingJob,
    changes: readonly AddressChange[],
    known: Map<string, boolean>,
  ): Promise<AppliedCounts>;
}

/** Bytes read per part. A longer row doubles the size. */
const PART_BYTES = 512 * 1024;
/** A dry run saves nothing by large parts, and memory that is freed soon costs little. */
const DRY_RUN_PART_BYTES = 64 * 1024;
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
    const { rehearsal } = kind;
    if (input.dryRun && rehearsal === null) throw new JobFailure("There is no dry run of this file.");
    const after =
      input.dryRun && rehearsal !== null
        ? await rehearse(rehearsal, tx, running, before)
        : await importPart(kind, tx, running, before);
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

async function importPart<Change extends AddressChange>(
  kind: ImportKind<Change>,
  tx: Tx,
  job: ImportingJob,
  { place, counts }: ImportState,
): Promise<ImportState> {
  const read = (task: PartTask) => readPart(kind.createReader, task, nextTurn);
  const part = await nextPart(read, tx, job, place, PART_BYTES);
  const applied = await applyRows(kind, tx, job, part.changes);
  const errors = [...part.errors, ...applied.errors];
  await keepErrors(tx, job, counts, errors);
  const total = addCounts(addCounts(counts, part.counts), { ...applied.counts, failed: errors.length });
  return { place: part.next, counts: total };
}

/**
 * Reads the whole file in one step, because the simulated state of the addresses is not stored between steps. Writes nothing but errors.
 */
async function rehearse(
  { readAddresses, rehearse: rehearsePart }: Rehearsal,
  tx: Tx,
  job: ImportingJob,
  before: ImportState,
): Promise<ImportState> {
  const known = new Map<string, boolean>();
  const read = (task: PartTask) => readAddresses(job.projectId, task);
  let { place, counts } = before;
  while (place.offset < job.input.sizeBytes) {
    const beganAtMs = performance.now();
    const part = await nextPart(read, tx, job, place, DRY_RUN_PART_BYTES);
    const applied = countApplied(part.changes, await rehearsePart(tx, job, part.changes, known));
    await keepErrors(tx, job, counts, part.errors);
    counts = addCounts(addCounts(counts, part.counts), { ...applied, failed: part.errors.length });
    place = part.next;
    await restAfter(performance.now() - beganAtMs);
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
async function nextPart<Change>(
  read: (task: PartTask) => Promise<Part<Change> | null>,
  tx: Tx,
  job: ImportingJob,
  place: Place,
  partBytes: number,
): Promise<Part<Change>> {
  const { input } = job;
  for (let length = partBytes; ; length *= 2) {
    const bytes = await readJobFile(tx, job, { offset: place.offset, length });
    if (bytes.length === 0 && place.offset < input.sizeBytes)
      throw new JobFailure("The uploaded file is gone.");
    const part = await read({ input, bytes, place });
    if (part !== null) return part;
  }
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
