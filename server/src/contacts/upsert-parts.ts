// The statements of a round of changes: made a part at a time while the database works on the part before, and run again for contacts that a
// recorded statement left out.
import { nextTurn } from "../platform/background/turns.ts";
import { hashAddress } from "../platform/address-hash.ts";
import type { Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { inferFieldType, type DataPatch } from "./rules.ts";
import type { ContactField } from "./field-insert-queries.ts";
import {
  contactUpsert,
  hasOptOuts,
  upsertContactRows,
  type ContactUpsert,
  type ContactUpsertStatement,
  type PatchRecorder,
  type UpsertedContact,
} from "./upsert-queries.ts";
import { getOrAdd, type ContactChange } from "./upsert-rounds.ts";

/** With more of them in one statement the planner reads all contacts of all projects to find these. */
const ROWS_A_STATEMENT = 1_000;

interface Part {
  rows: ContactUpsert[];
  fields: ContactField[];
  statement: ContactUpsertStatement;
  /** Where the next part begins. */
  end: number;
}

/** How the statements of a round are made. */
interface PartWays {
  recordPatches: PatchRecorder | undefined;
  /** Whether addresses are hashed, so that opt-outs are found. */
  hashes: boolean;
}

/**
 * Upserts the contacts of changes that name each contact once, and yields the rows of each statement, in the order of the changes, with the
 * contacts stored for them.
 *
 * @throws ContactRace with a recorder, if other transactions change the same contacts again and again
 */
export async function* upsertParts(
  tx: Tx,
  changes: readonly ContactChange[],
  recordPatches: PatchRecorder | undefined,
): AsyncGenerator<{ rows: ContactUpsert[]; contacts: ByAddress }> {
  const ways = { recordPatches, hashes: recordPatches === undefined || (await hasOptOuts(tx, changes)) };
  for (let part: Part | null = makePart(changes, 0, ways); part !== null;) {
    const { rows, end }: Part = part;
    const [contacts, next]: [ByAddress, Part | null] = await Promise.all([
      upsertPart(tx, part, recordPatches),
      makeNextPart(changes, end, ways),
    ]);
    yield { rows, contacts };
    part = next;
  }
}

function makePart(
  changes: readonly ContactChange[],
  start: number,
  { recordPatches, hashes }: PartWays,
): Part | null {
  const own = changes.slice(start, start + ROWS_A_STATEMENT);
  if (own.length === 0) return null;
  const rows = own.map((change) => rowOf(change, { hashes }));
  const fields = fieldsOf(own);
  const statement = contactUpsert(rows, fields, recordPatches);
  return { rows, fields, statement, end: start + own.length };
}

/**
 * Returns a change as a row of the statement.
 *
 * @param setJson what it sets, where that is written out already
 */
export function rowOf(
  change: ContactChange,
  { setJson, hashes = true }: { setJson?: string | null | undefined; hashes?: boolean } = {},
): ContactUpsert {
  const { projectId, email, subscribedIfNew } = change;
  return {
    projectId,
    email,
    newId: newId(),
    addressHash: hashes ? hashAddress(projectId, email) : null,
    subscribed: change.subscribed ?? subscribedIfNew,
    wish: wishOf(change) ?? (change.isAskedIfNew === true ? subscribedIfNew : null),
    added: setJson ?? JSON.stringify(change.patch.set),
    removed: JSON.stringify(change.patch.remove),
    via: change.via,
  };
}

/** Returns what a change does to the subscription of a contact that is there; null leaves it. */
export function wishOf({ subscribed, resubscribes = true }: ContactChange): boolean | null {
  return subscribed === undefined || (subscribed && !resubscribes) ? null : subscribed;
}

/** Makes it while the database works on the part before. */
async function makeNextPart(
  changes: readonly ContactChange[],
  start: number,
  ways: PartWays,
): Promise<Part | null> {
  if (start >= changes.length) return null;
  await nextTurn();
  return makePart(changes, start, ways);
}

/** Other transactions changed the same contacts each time a statement tried to record them. The transaction starts over. */
class ContactRace extends Error {
  override name = "ContactRace";
  /** SQLSTATE of a serialization failure. */
  readonly code = "40001";
}

/** A statement of one try finds what others had committed before it, so a contact is seldom left out twice. */
const MOST_TRIES = 10;

/** Runs the statement of a part, and again for the contacts that it left out. */
async function upsertPart(
  tx: Tx,
  { rows, fields, statement }: Part,
  recordPatches: PatchRecorder | undefined,
): Promise<ByAddress> {
  const stored = await upsertContactRows(tx, statement);
  for (let tries = 1; stored.length < rows.length; tries++) {
    if (tries === MOST_TRIES) throw new ContactRace("Other transactions kept changing a contact.");
    const contacts = byAddress(stored);
    const left = rows
      .filter(({ projectId, email }) => contacts.get(projectId)?.has(email) !== true)
      .map((row) => ({ ...row, addressHash: hashAddress(row.projectId, row.email) }));
    stored.push(...(await upsertContactRows(tx, contactUpsert(left, fields, recordPatches))));
  }
  return byAddress(stored);
}

export type ByAddress = Map<string, Map<string, UpsertedContact>>;

/** By project, then by address. */
export function byAddress(rows: readonly UpsertedContact[]): ByAddress {
  const contacts: ByAddress = new Map();
  for (const row of rows)
    getOrAdd(contacts, row.projectId, () => new Map<string, UpsertedContact>()).set(row.email, row);
  return contacts;
}

/** Each field once, with the type of the first value. */
export function fieldsOf(changes: ReadonlyArray<{ projectId: string; patch: DataPatch }>): ContactField[] {
  const byProject = new Map<string, Map<string, ContactField>>();
  for (const { projectId, patch } of changes) {
    const fields = getOrAdd(byProject, projectId, () => new Map<string, ContactField>());
    for (const field of Object.keys(patch.set))
      if (!fields.has(field)) fields.set(field, { projectId, field, type: inferFieldType(patch.set[field]) });
  }
  return [...byProject.values()].flatMap((fields) => [...fields.values()]);
}
