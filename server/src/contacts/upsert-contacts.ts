// The one way contacts come into being or change by address, with an event for each real flip (spec §2.2, §3.1).
import { CONTACT_SUBSCRIBED, CONTACT_UNSUBSCRIBED } from "@postloft/contract/event-names.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { newId } from "../platform/ids.ts";
import { recordUnsubscribed, type UsedLink } from "../emails/results/email-counts.ts";
import { recordEvents } from "../events/events.ts";
import { pairUp } from "../platform/pair-up.ts";
import type { ConsentSource, ChangeSource } from "./consent.ts";
import { endDefaults, flipSubscriptions } from "./queries.ts";
import type { DataPatch } from "./rules.ts";
import { byAddress, fieldsOf, rowOf, upsertParts, wishOf } from "./upsert-parts.ts";
import { insertFields } from "./field-insert-queries.ts";
import {
  contactUpsertWithEvents,
  isLeftOut,
  upsertContactRows,
  type PatchRecorder,
} from "./upsert-queries.ts";
import { intoRounds, type ContactChange } from "./upsert-rounds.ts";

export type { ContactChange } from "./upsert-rounds.ts";

export interface ContactOutcome {
  contactId: string;
  isNew: boolean;
  /** Whether the contact is new or its data changed. Subscription flips are reported by their event. */
  isChanged: boolean;
  /** Whether the contact stays unsubscribed because the change does not resubscribe. */
  isKeptUnsubscribed?: boolean;
}

/**
 * Applies the changes in order, in a few set-based statements, and records an event for each flip of `subscribed`. Returns one outcome per
 * change. Changes of one contact are combined if the effect is the same.
 */
export async function upsertContacts(
  tx: Tx,
  changes: readonly ContactChange[],
  recorder?: ChangeRecorder,
): Promise<ContactOutcome[]> {
  const outcomes = new Map<ContactChange, ContactOutcome>();
  for (const round of intoRounds(changes)) {
    const applied = await applyRound(
      tx,
      round.map((group) => group.change),
      recorder,
    );
    for (const [group, outcome] of pairUp(round, applied))
      group.members.forEach((member, place) =>
        outcomes.set(member, place === 0 ? outcome : { ...outcome, isNew: false }),
      );
  }
  return changes.map((change) => outcomes.get(change) ?? { contactId: "", isNew: false, isChanged: false });
}

/** Records what changes do to contacts that exist, in their transaction. */
export interface ChangeRecorder {
  recordPatches: PatchRecorder;
  recordFlips(tx: Tx, flipped: readonly RecordedFlip[]): Promise<void>;
}

/** Something that happened to a contact, with what it changes; it says nothing about `subscribed`. */
export interface ContactEventChange {
  change: Omit<ContactChange, "subscribed">;
  event: string;
  data: Record<string, unknown> | null;
}

/**
 * Applies the changes and records their events in order as one statement, which saves three round trips compared to a transaction. Meant
 * for a batch of requests, not for files. Returns one event per item.
 */
export async function upsertContactsWithEvents(
  database: Database,
  happenings: readonly ContactEventChange[],
): Promise<Array<{ contactId: string; id: string; createdAt: Date }>> {
  const createdAt = now();
  const events = happenings.map(({ change: { projectId, email, via }, event, data }) => ({
    projectId,
    email,
    id: newId(),
    name: event,
    data: data === null ? null : JSON.stringify(data),
    fromPublicKey: via.fromPublicKey === true ? (true as const) : null,
    createdAt,
  }));
  const changes = intoRounds(happenings.map(({ change }) => change))
    .flat()
    .map((group) => group.change);
  const isOnce = isSame(happenings[0], events);
  const statement = contactUpsertWithEvents(
    changes.map((change) => rowOf(change, { setJson: isOnce ? events[0]?.data : null })),
    fieldsOf(changes),
    isOnce ? events.map((event) => ({ ...event, hasAdded: true })) : events,
  );
  const rows = await upsertContactRows(database, statement).catch((error: unknown) => {
    if (isLeftOut(error)) return [];
    throw error;
  });
  if (rows.length === 0) return recordInTransaction(database, happenings);
  notify(database, "workflows");
  const contacts = byAddress(rows);
  return events.map(({ projectId, email, id }) => {
    const contact = contacts.get(projectId)?.get(email);
    if (contact === undefined) throw new Error("An upserted contact has no row.");
    return { contactId: contact.id, id, createdAt };
  });
}

/**
 * Falls back to a transaction that begins before the event ids are made, because the statement reached the database too late or another
 * transaction inserted one of the contacts meanwhile.
 */
async function recordInTransaction(database: Database, happenings: readonly ContactEventChange[]) {
  return transaction(database, async (tx) => {
    const contacts = await upsertContacts(
      tx,
      happenings.map(({ change }) => change),
    );
    return recordEvents(
      tx,
      pairUp(happenings, contacts).map(([{ change, event, data }, { contactId }]) => ({
        projectId: change.projectId,
        contactId,
        name: event,
        data,
        fromPublicKey: change.via.fromPublicKey,
      })),
    );
  });
}

/** Above this length of JSON, a lone event sends its data once, for the event and for the contact. */
const LARGE_LENGTH = 16 * 1024;

/** Returns whether the only event is large and its data equals the contact's new values. */
function isSame(
  happening: ContactEventChange | undefined,
  events: ReadonlyArray<{ data: string | null }>,
): boolean {
  if (events.length !== 1 || (events[0]?.data?.length ?? 0) <= LARGE_LENGTH) return false;
  const data = happening?.data ?? {};
  const set = happening?.change.patch.set ?? {};
  const keys = Object.keys(data);
  return keys.length === Object.keys(set).length && keys.every((key) => data[key] === set[key]);
}

async function applyRound(
  tx: Tx,
  changes: readonly ContactChange[],
  recorder: ChangeRecorder | undefined,
): Promise<ContactOutcome[]> {
  const outcomes: ContactOutcome[] = [];
  const flips: Flip[] = [];
  const unwanted: Array<{ projectId: string; id: string }> = [];
  for await (const { rows, contacts } of upsertParts(tx, changes, recorder?.recordPatches)) {
    for (const { projectId, email, newId: givenId } of rows) {
      const change = changes[outcomes.length];
      const contact = contacts.get(projectId)?.get(email);
      if (change === undefined || contact === undefined) throw new Error("An upserted contact has no row.");
      const subscribed = wishOf(change);
      const { id } = contact;
      const isNew = id === givenId;
      const isRepeated = subscribed === false && !isNew;
      if (
        subscribed !== null &&
        (subscribed !== contact.subscribed || (isRepeated && change.via.source !== "import"))
      )
        flips.push({ projectId, id, subscribed, via: change.via });
      else if (isRepeated) unwanted.push({ projectId, id });
      const isKeptUnsubscribed = change.subscribed === true && subscribed === null && !contact.subscribed;
      outcomes.push({ contactId: id, isNew, isChanged: contact.changed, isKeptUnsubscribed });
    }
  }
  const flipped = await flipAndRecord(tx, flips);
  await recorder?.recordFlips(tx, flipped);
  if (unwanted.length > 0) await endDefaults(tx, unwanted);
  return outcomes;
}

export interface Flip {
  projectId: string;
  id: string;
  subscribed: boolean;
  via: ChangeSource;
}

/** Sources that are not a person's choice. The event contains them as its reason (decisions §10). */
const REASONS: ReadonlySet<string> = new Set(["bounce", "complaint"] satisfies ConsentSource[]);

/** A contact that flipped, with the entry of the consent log that says so. */
export interface RecordedFlip {
  id: string;
  subscribed: boolean;
  changeId: string;
}

/**
 * Sets `subscribed`; one event and one row of the consent log per contact that really flipped. Returns these contacts. A contact that
 * nobody had asked and that was not subscribed has opted out when it is unsubscribed.
 */
export async function flipAndRecord(tx: Tx, flips: readonly Flip[]): Promise<RecordedFlip[]> {
  if (flips.length === 0) return [];
  // Of several flips of one contact the last counts: the log must not hold a change that nobody saw.
  const byContact = new Map(flips.map((flip) => [flip.id, { ...flip, changeId: newId() }]));
  const { flipped, repeated } = await flipSubscriptions(tx, [...byContact.values()]);
  await recordUnsubscribed(
    tx,
    [...flipped.map(({ id }) => id), ...repeated].flatMap((id) => linkOf(byContact.get(id))),
  );
  if (flipped.length < byContact.size)
    await endDefaults(
      tx,
      [...byContact.values()].filter(({ subscribed }) => !subscribed),
    );
  await recordEvents(
    tx,
    flipped.map((row) => {
      const { source = "", fromPublicKey } = byContact.get(row.id)?.via ?? {};
      return {
        projectId: row.projectId,
        contactId: row.id,
        name: row.subscribed ? CONTACT_SUBSCRIBED : CONTACT_UNSUBSCRIBED,
        data: REASONS.has(source) ? { reason: source } : null,
        fromPublicKey,
      };
    }),
  );
  return flipped.map(({ id, subscribed }) => ({
    id,
    subscribed,
    changeId: byContact.get(id)?.changeId ?? "",
  }));
}

/** Returns the link by which a contact unsubscribed, if it was one. */
function linkOf(flip: Flip | undefined): UsedLink[] {
  if (
    flip === undefined ||
    flip.subscribed ||
    (flip.via.source !== "page" && flip.via.source !== "one-click")
  )
    return [];
  return [{ projectId: flip.projectId, contactId: flip.id, emailId: flip.via.emailId ?? null }];
}

/** Registers the types of the keys written by these changes. */
export async function registerFields(
  tx: Tx,
  changes: ReadonlyArray<{ projectId: string; patch: DataPatch }>,
): Promise<void> {
  const fields = fieldsOf(changes);
  if (fields.length > 0) await insertFields(tx, fields);
}
