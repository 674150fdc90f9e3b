// Deletes a custom field. The registration disappears for all readers immediately, and a job removes the values from the contacts in steps
// of a few thousand.
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../../platform/database/database.ts";
import { addJob, type RunningJob, type StepOutcome } from "../../platform/background/jobs.ts";
import { invalidField, AppError } from "../../platform/app-error.ts";
import { enqueueContactEvents } from "../../reactions/reactions.ts";
import { FIELD_KIND } from "../shown-data-queries.ts";
import {
  countContactsWithKey,
  deleteFieldRow,
  findEndOfPage,
  lockContactsWithKey,
  removeKey,
} from "./queries.ts";
import { readFieldName } from "./rules.ts";

interface FieldInput {
  key: string;
}

interface Checkpoint {
  /** The id of the last processed contact. */
  after: string;
}

/** Writers of one of these contacts wait for the step, which takes a tenth of a second. */
const CONTACTS_A_STEP = 2_000;

/**
 * Unregisters the field and queues its removal from the contacts. Returns the number of contacts with the field.
 * @throws AppError FIELD_NOT_FOUND, or VALIDATION_ERROR for a standard field.
 */
export async function deleteField(tx: Tx, projectId: string, text: string): Promise<number> {
  const name = readFieldName(text);
  if ("standard" in name)
    throw invalidField(
      "field",
      "custom",
      withValues("`{field}` is a standard field that every contact has, so it can't be deleted.", {
        field: name.standard,
      }),
    );
  const { key } = name;
  if (key.includes("\0") || !(await deleteFieldRow(tx, projectId, key)))
    throw new AppError("FIELD_NOT_FOUND");
  const count = await countContactsWithKey(tx, projectId, key);
  const input: FieldInput = { key };
  await addJob(tx, { projectId, kind: FIELD_KIND, input });
  return count;
}

/**
 * Removes the key from the next contacts. Every writer of the key registers the field in its own transaction. So for a locked contact,
 * either the field is unregistered and its value is old, or the new registration is visible. In the second case, contacts that changed
 * since the deletion keep their value, because every write since then removed the old one (shownData).
 */
export async function stepOfFieldDeletion(tx: Tx, job: RunningJob): Promise<StepOutcome> {
  const { projectId } = job;
  const { key } = job.input as FieldInput;
  const after = (job.checkpoint as Checkpoint | null)?.after ?? null;
  const { last, count } = await findEndOfPage(tx, projectId, { after, limit: CONTACTS_A_STEP });
  if (last !== null) {
    const locked = await lockContactsWithKey(tx, projectId, key, { after, last });
    const changed = await removeKey(tx, job, key, locked);
    await enqueueContactEvents(
      tx,
      changed.map((contactId) => ({ projectId, contactId })),
    );
  }
  if (last === null || count < CONTACTS_A_STEP) return { done: true, result: {} };
  const checkpoint: Checkpoint = { after: last };
  // No endpoint returns the progress of this job.
  return { done: false, checkpoint, progress: 0 };
}
