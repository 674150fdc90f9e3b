// Records the contact changes of an import step in its transaction, so that the import can be undone
// (docs/decisions/0103-undo-an-import.md).
import type { Tx } from "../../platform/database/database.ts";
import type { JobKey } from "../../platform/background/jobs.ts";
import { upsertContacts, type ContactChange, type ContactOutcome } from "../upsert-contacts.ts";
import {
  insertCreated,
  insertDataChanges,
  insertJoined,
  insertSubscriptionChanges,
} from "./change-queries.ts";

/** How many contacts a row lists: an undo takes one row in a step. `upsertContacts` patches no more in a statement. */
const CONTACTS_A_ROW = 1_000;

/** Applies the changes of one project as `upsertContacts` does, and records what they did as part of an import. */
export async function upsertRecorded(
  tx: Tx,
  job: JobKey,
  changes: readonly ContactChange[],
): Promise<ContactOutcome[]> {
  const outcomes = await upsertContacts(tx, changes, {
    recordPatches: (patched) => insertDataChanges(job, patched),
    async recordFlips(own, flipped) {
      for (const some of slices(flipped)) await insertSubscriptionChanges(own, job, some);
    },
  });
  const created = outcomes.flatMap(({ contactId, isNew }) => (isNew ? [contactId] : []));
  for (const ids of slices(created)) await insertCreated(tx, job, ids);
  return outcomes;
}

/** Records the contacts that an import added to a static segment. */
export async function recordJoined(
  tx: Tx,
  job: JobKey,
  segmentId: string,
  contactIds: readonly string[],
): Promise<void> {
  for (const ids of slices(contactIds)) await insertJoined(tx, job, segmentId, ids);
}

/** Parts that fit a row each. */
function* slices<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += CONTACTS_A_ROW) yield items.slice(at, at + CONTACTS_A_ROW);
}
