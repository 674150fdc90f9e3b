// Applies a bulk change to the contacts of one step.
import type { RowFault } from "@postloft/contract/row-faults.ts";
import { subtransaction, type Tx } from "../../platform/database/database.ts";
import { JobFailure } from "../../platform/background/jobs.ts";
import { changeContacts } from "../change-known-contacts.ts";
import { contactFault } from "../constraint-errors.ts";
import { deleteContacts, type Dependents } from "../contacts.ts";
import { lockContacts } from "../queries.ts";
import type { ChangeSource, DataPatch } from "../rules.ts";
import { flipAndRecord } from "../upsert-contacts.ts";
import type { BulkInput } from "./bulk-changes.ts";

/** Adds contacts to static segments, provided by a later folder. */
export interface TargetSegments {
  /** Locks a static segment before contacts are locked. Returns false if the segment was deleted. */
  lockSegment(tx: Tx, projectId: string, segmentId: string): Promise<boolean>;
  /** Adds contacts to a locked segment and returns the ids of the new members. */
  addToSegment(tx: Tx, projectId: string, segmentId: string, emails: readonly string[]): Promise<string[]>;
}

export interface BulkContext {
  dependents: readonly Dependents[];
  segments: TargetSegments;
}

/** The effect on some contacts. */
export interface Effect {
  changed: number;
  /** The ids that exist. */
  present: ReadonlySet<string>;
  /** Existing contacts that the database refused to change, with the reason. */
  faults: ReadonlyMap<string, RowFault>;
}

const NO_FAULTS: ReadonlyMap<string, RowFault> = new Map();

/** @throws JobFailure if no contact can change */
export async function applyChange(
  tx: Tx,
  projectId: string,
  input: BulkInput,
  ids: readonly string[],
  { dependents, segments }: BulkContext,
): Promise<Effect> {
  const via = { source: "bulk" as const, actor: input.actor, ip: null };
  switch (input.operation) {
    case "delete": {
      const deleted = new Set(await deleteContacts(tx, projectId, ids, dependents));
      return { changed: deleted.size, present: deleted, faults: NO_FAULTS };
    }
    case "update":
      return setFields(tx, projectId, ids, { patch: input.patch, via });
    case "addToSegment":
      return addToSegment(tx, projectId, ids, { segmentId: input.segmentId, segments });
    case "subscribe":
    case "unsubscribe":
      return setSubscribed(tx, projectId, ids, { subscribed: input.operation === "subscribe", via });
  }
}

/** While the contacts are locked no other transaction can flip them, so the contacts that differ now are the ones that will flip. */
async function setSubscribed(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  { subscribed, via }: { subscribed: boolean; via: ChangeSource },
): Promise<Effect> {
  const locked = await lockContacts(tx, projectId, ids, "changing");
  await flipAndRecord(
    tx,
    locked.map(({ id }) => ({ projectId, id, subscribed, via })),
  );
  const changed = locked.filter((contact) => contact.subscribed !== subscribed).length;
  return { changed, present: idsOf(locked), faults: NO_FAULTS };
}

interface FieldChange {
  patch: DataPatch;
  via: ChangeSource;
}

async function setFields(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  change: FieldChange,
): Promise<Effect> {
  const present = idsOf(await lockContacts(tx, projectId, ids, "changing"));
  const faults = new Map<string, RowFault>();
  const changed = await setFieldsOf(tx, projectId, [...present], change, faults);
  return { changed, present, faults };
}

/**
 * Halves the contacts until it finds those whose data would be too large, so that all others change. Returns the number of changed contacts.
 */
async function setFieldsOf(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  change: FieldChange,
  faults: Map<string, RowFault>,
): Promise<number> {
  const [first] = ids;
  if (first === undefined) return 0;
  const changes = ids.map((contactId) => ({ contactId, ...change }));
  try {
    return (await subtransaction(tx, () => changeContacts(tx, projectId, changes))).size;
  } catch (error) {
    const fault = contactFault(error);
    if (fault === null) throw error;
    // The project has too many fields, so each contact would fail.
    if (fault.code === "contact.manyFields") throw new JobFailure(fault.text);
    if (ids.length === 1) {
      faults.set(first, fault);
      return 0;
    }
  }
  const middle = Math.ceil(ids.length / 2);
  const one = await setFieldsOf(tx, projectId, ids.slice(0, middle), change, faults);
  return one + (await setFieldsOf(tx, projectId, ids.slice(middle), change, faults));
}

async function addToSegment(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  { segmentId, segments }: { segmentId: string; segments: TargetSegments },
): Promise<Effect> {
  // Locks the segment before the contacts, in the order of all changes of members.
  if (!(await segments.lockSegment(tx, projectId, segmentId)))
    throw new JobFailure("The segment was deleted before all contacts were added.");
  const locked = await lockContacts(tx, projectId, ids, "changing");
  const emails = locked.map(({ email }) => email);
  const added = await segments.addToSegment(tx, projectId, segmentId, emails);
  return { changed: added.length, present: idsOf(locked), faults: NO_FAULTS };
}

function idsOf(rows: ReadonlyArray<{ id: string }>): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id));
}
