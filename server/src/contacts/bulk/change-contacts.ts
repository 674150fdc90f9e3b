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
import { deleteContacts, type Dependents } from "../contacts.ts";
import { lockContacts } from "../queries.ts";
import { flipAndRecord } from "../upsert-contacts.ts";
import { CONTACTS_A_STEP, type BulkInput } from "./bulk-changes.ts";
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

export async function stepOfBulk(
  tx: Tx,
  job: RunningJob,
  dependents: readonly Dependents[],
): Promise<StepOutcome> {
  const input = job.input as BulkInput;
  const before = (job.checkpoint as Checkpoint | null) ?? (await begin(tx, job));
  const done = before.success + before.unchanged + before.failure;
  const part = { offset: done * ID_BYTES, length: CONTACTS_A_STEP * ID_BYTES };
  const ids = unpackIds(await readJobFile(tx, job, part));
  const { changed, present } = await change(tx, job.projectId, input, ids, dependents);
  const missing = ids.filter((id) => !present.has(id));
  const after = {
    total: before.total,
    success: before.success + changed,
    unchanged: before.unchanged + present.size - changed,
    failure: before.failure + missing.length,
  };
  await keepErrors(tx, job, before.failure, missing);
  const isLast = done + ids.length >= before.total;
  if (isLast) return { done: true, result: await resultOf(tx, job, input, after) };
  return { done: false, checkpoint: after, progress: (100 * (done + ids.length)) / before.total };
}

async function begin(tx: Tx, job: RunningJob): Promise<Checkpoint> {
  const total = (await countJobFileBytes(tx, job)) / ID_BYTES;
  return { total, success: 0, unchanged: 0, failure: 0 };
}

/** Returns the number of changed contacts and the ids of all existing ones. */
async function change(
  tx: Tx,
  projectId: string,
  { operation, actor }: BulkInput,
  ids: readonly string[],
  dependents: readonly Dependents[],
): Promise<{ changed: number; present: ReadonlySet<string> }> {
  if (operation === "delete") {
    const deleted = new Set(await deleteContacts(tx, projectId, ids, dependents));
    return { changed: deleted.size, present: deleted };
  }
  const subscribed = operation === "subscribe";
  // While the contacts are locked no other transaction can flip them, so the contacts that differ now are the ones that will flip.
  const locked = await lockContacts(tx, projectId, ids, "changing");
  const via = { source: "bulk" as const, actor, ip: null };
  await flipAndRecord(
    tx,
    locked.map(({ id }) => ({ projectId, id, subscribed, via })),
  );
  const changed = locked.filter((contact) => contact.subscribed !== subscribed).length;
  return { changed, present: new Set(locked.map((contact) => contact.id)) };
}

/** Stores errors up to the limit. All failures are counted. */
async function keepErrors(
  tx: Tx,
  job: RunningJob,
  failuresBefore: number,
  missing: readonly string[],
): Promise<void> {
  const kept = missing.slice(0, Math.max(0, LIMITS.bulkErrors.value - failuresBefore));
  await insertJobErrors(
    tx,
    job,
    kept.map((id, at) => ({
      row: failuresBefore + at + 1,
      subject: id,
      error: ERRORS.CONTACT_NOT_FOUND.message,
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
    errors: errors.map(({ subject, error }) => ({ contactId: subject, email: null, error })),
  };
}
