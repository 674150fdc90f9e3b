// Steps of a bulk change: each one takes the next thousand ids, changes the contacts in a few statements, and updates the counts.
import { ERRORS } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Tx } from "../../platform/database/database.ts";
import {
  countJobFileBytes,
  insertJobErrors,
  listJobErrors,
  readJobFile,
  type RunningJob,
  type StepOutcome,
} from "../../platform/background/jobs.ts";
import { applyChange, type BulkContext } from "./apply-change.ts";
import { contactsAStep, type BulkInput } from "./bulk-changes.ts";
import { ID_BYTES, unpackIds } from "./rules.ts";

interface Counts {
  success: number;
  unchanged: number;
  failure: number;
}

/** Counts so far. The next step continues after them. */
interface Checkpoint extends Counts {
  total: number;
}

export async function stepOfBulk(tx: Tx, job: RunningJob, context: BulkContext): Promise<StepOutcome> {
  const input = job.input as BulkInput;
  const before = (job.checkpoint as Checkpoint | null) ?? (await begin(tx, job));
  const done = before.success + before.unchanged + before.failure;
  const part = { offset: done * ID_BYTES, length: contactsAStep(input) * ID_BYTES };
  const ids = unpackIds(await readJobFile(tx, job, part));
  const { changed, present, faults } = await applyChange(tx, job.projectId, input, ids, context);
  const failures = ids.flatMap((id) => {
    const error = present.has(id) ? faults.get(id)?.text : ERRORS.CONTACT_NOT_FOUND.message;
    return error === undefined ? [] : [{ id, error }];
  });
  const after = {
    total: before.total,
    success: before.success + changed,
    unchanged: before.unchanged + ids.length - changed - failures.length,
    failure: before.failure + failures.length,
  };
  await keepErrors(tx, job, before.failure, failures);
  const isLast = done + ids.length >= before.total;
  if (isLast) return { done: true, result: await resultOf(tx, job, input, after) };
  return { done: false, checkpoint: after, progress: (100 * (done + ids.length)) / before.total };
}

async function begin(tx: Tx, job: RunningJob): Promise<Checkpoint> {
  const total = (await countJobFileBytes(tx, job)) / ID_BYTES;
  return { total, success: 0, unchanged: 0, failure: 0 };
}

/** Stores errors up to the limit. All failures are counted. */
async function keepErrors(
  tx: Tx,
  job: RunningJob,
  failuresBefore: number,
  failures: ReadonlyArray<{ id: string; error: string }>,
): Promise<void> {
  const kept = failures.slice(0, Math.max(0, LIMITS.bulkErrors.value - failuresBefore));
  await insertJobErrors(
    tx,
    job,
    kept.map(({ id, error }, at) => ({
      row: failuresBefore + at + 1,
      subject: id,
      error,
      parts: null,
    })),
  );
}

async function resultOf(tx: Tx, job: RunningJob, { operation }: BulkInput, counts: Checkpoint) {
  const errors = await listJobErrors(tx, job, { afterRow: 0, limit: LIMITS.bulkErrors.value });
  return {
    operation,
    totalRequested: counts.total,
    successCount: counts.success,
    unchangedCount: counts.unchanged,
    failureCount: counts.failure,
    // Addresses are added when the result is read, so that none outlives its contact here.
    errors: errors.map(({ subject, error }) => ({ contactId: subject, email: null, error })),
  };
}
