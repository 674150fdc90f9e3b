// Records what a step of an import does to contacts, in its transaction, so that the import can be undone
// (docs/decisions/0103-undo-an-import.md).
import type { Tx } from "../../platform/database/database.ts";
import type { JobKey } from "../../platform/background/jobs.ts";
import { composePatches, type DataPatch } from "../rules.ts";
import { upsertContacts, type ContactChange, type ContactOutcome } from "../upsert-contacts.ts";
import {
  insertCreated,
  insertDataChanges,
  insertJoined,
  insertSubscriptionChanges,
  lockContactsByEmail,
} from "./change-queries.ts";

/** How many contacts a row lists: an undo takes one row in a step. */
const CONTACTS_A_ROW = 1_000;

/** Another transaction created one of the contacts after their lock was taken: the step runs again, and finds it. */
class ContactRace extends Error {
  override name = "ContactRace";
  /** SQLSTATE of a serialization failure, after which `transaction` starts over. */
  readonly code = "40001";
}

/** The changes of one address together. */
interface Wanted {
  patch: DataPatch;
  wishes: Set<boolean>;
}

/** Applies the changes of one project as `upsertContacts` does, and records what they did as part of an import. */
export async function upsertRecorded(
  tx: Tx,
  job: JobKey,
  changes: readonly ContactChange[],
): Promise<ContactOutcome[]> {
  const wanted = byEmail(changes);
  const known = new Map<string, boolean>();
  const mayFlip: Array<{ id: string; subscribed: boolean }> = [];
  for (const emails of slices([...wanted.keys()].toSorted())) {
    const locked = await lockContactsByEmail(tx, job.projectId, emails);
    const planned = locked.flatMap(({ id, email, subscribed }) => {
      known.set(id, subscribed);
      const { patch, wishes } = wanted.get(email) ?? { patch: { set: {}, remove: [] }, wishes: new Set() };
      if (wishes.has(!subscribed)) mayFlip.push({ id, subscribed });
      const isEmpty = patch.remove.length === 0 && Object.keys(patch.set).length === 0;
      return isEmpty ? [] : [{ id, added: patch.set, removed: patch.remove }];
    });
    if (planned.length > 0) await insertDataChanges(tx, job, planned);
  }
  const outcomes = await upsertContacts(tx, changes);
  const created = new Set(outcomes.flatMap(({ contactId, isNew }) => (isNew ? [contactId] : [])));
  if (outcomes.some(({ contactId }) => !known.has(contactId) && !created.has(contactId)))
    throw new ContactRace("A contact was created beside the import.");
  for (const ids of slices([...created])) await insertCreated(tx, job, ids);
  for (const before of slices(mayFlip)) await insertSubscriptionChanges(tx, job, before);
  return outcomes;
}

/** Records which contacts an import added to a static segment. */
export async function recordJoined(
  tx: Tx,
  job: JobKey,
  segmentId: string,
  contactIds: readonly string[],
): Promise<void> {
  for (const ids of slices(contactIds)) await insertJoined(tx, job, segmentId, ids);
}

function byEmail(changes: readonly ContactChange[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { email, patch, subscribed } of changes) {
    const other = wanted.get(email);
    const wishes = other?.wishes ?? new Set();
    if (subscribed !== undefined) wishes.add(subscribed);
    wanted.set(email, { patch: other === undefined ? patch : composePatches(other.patch, patch), wishes });
  }
  return wanted;
}

/** Parts that fit a row each. */
export function* slices<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += CONTACTS_A_ROW) yield items.slice(at, at + CONTACTS_A_ROW);
}
