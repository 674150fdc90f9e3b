// Takes a custom field away: from the register and from every reader at once, from the contacts by a job, a few thousand at a time.
import type { Tx } from "../../platform/database/database.ts";
import { addJob, type RunningJob, type StepOutcome } from "../../platform/background/jobs.ts";
import { invalidField, Refusal } from "../../platform/refusal.ts";
import { noteContacts } from "../../reactions/reactions.ts";
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
  /** The id of the last contact that was looked at. */
  after: string;
}

/** Who writes one of these contacts waits for the step: a tenth of a second. */
const CONTACTS_A_STEP = 2_000;

/**
 * Takes the field from the register and queues its removal from the contacts; returns how many have it.
 * @throws Refusal FIELD_NOT_FOUND; VALIDATION_ERROR for a standard field.
 */
export async function deleteField(tx: Tx, projectId: string, text: string): Promise<number> {
  const name = readFieldName(text);
  if ("standard" in name)
    throw invalidField("field", "custom", `\`${name.standard}\` is a standard field: every contact has it.`);
  const { key } = name;
  if (key.includes("\0") || !(await deleteFieldRow(tx, projectId, key))) throw new Refusal("FIELD_NOT_FOUND");
  const count = await countContactsWithKey(tx, projectId, key);
  const input: FieldInput = { key };
  await addJob(tx, { projectId, kind: FIELD_KIND, input });
  return count;
}

/**
 * Removes the key from the next contacts. A writer of the key registers the field in its own transaction. So under the lock
 * of a contact either the field is not registered, and its value is an old one, or whoever wrote it anew is seen; then
 * contacts that changed since the deletion keep what they have: every change since then took the old value out (shownData).
 */
export async function stepOfFieldDeletion(tx: Tx, job: RunningJob): Promise<StepOutcome> {
  const { projectId } = job;
  const { key } = job.input as FieldInput;
  const after = (job.checkpoint as Checkpoint | null)?.after ?? null;
  const { last, count } = await findEndOfPage(tx, projectId, { after, limit: CONTACTS_A_STEP });
  if (last !== null) {
    const locked = await lockContactsWithKey(tx, projectId, key, { after, last });
    const changed = await removeKey(tx, job, key, locked);
    await noteContacts(
      tx,
      changed.map((contactId) => ({ projectId, contactId })),
    );
  }
  if (last === null || count < CONTACTS_A_STEP) return { done: true, result: {} };
  const checkpoint: Checkpoint = { after: last };
  // Nobody can ask how far it is.
  return { done: false, checkpoint, progress: 0 };
}
