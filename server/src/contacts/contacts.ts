// Reads, looks up, changes and deletes single contacts.
import { isDeepStrictEqual } from "node:util";
import { parseAddress } from "@postloft/contract/address.ts";
import type * as contract from "@postloft/contract/contacts.ts";
import type { z } from "zod";
import { hashAddress } from "../platform/address-hash.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { keepMailCounts, subtractContacts } from "../events/counts.ts";
import { enqueueContactEvents } from "../reactions/reactions.ts";
import { detachContacts, redactRecipients } from "../emails/outbox/redact-recipients.ts";
import type { ChangeSource } from "./consent.ts";
import { tooManyKeys } from "./constraint-errors.ts";
import { deleteOptOut, keepOptOuts } from "./opt-out-queries.ts";
import { CONTACT_CHECKS } from "./recipients.ts";
import {
  deleteContactRows,
  findAddresses,
  findContact,
  findContactForUpdate,
  findContactRowByEmail,
  findContactsById,
  findEmails,
  lockContacts,
  updateContactRow,
  type ContactChanges,
  type ContactRow,
} from "./queries.ts";
import { redactChangesOf } from "./deletion-queries.ts";
import { readDataPatch, type DataPatch } from "./rules.ts";
import { flipAndRecord, registerFields } from "./upsert-contacts.ts";

export { lockContacts } from "./queries.ts";
export { listKeysBeingDeleted, shownData, withShownData } from "./shown-data-queries.ts";

export type ContactView = z.output<typeof contract.contact>;

/** Returns a contact as API callers see it (spec §2.1). */
export function presentContact(row: ContactRow): ContactView {
  return {
    id: row.id,
    email: row.email,
    subscribed: row.subscribed,
    data: row.data as Record<string, unknown>,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** @throws AppError CONTACT_NOT_FOUND, also for a contact of another project. */
export async function getContact(database: Database, projectId: string, id: string): Promise<ContactView> {
  const row = isId(id) ? await findContact(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("CONTACT_NOT_FOUND");
  return presentContact(row);
}

/** Returns the contact with a canonical address, or undefined. */
export async function findContactByEmail(
  database: Database,
  projectId: string,
  email: string,
): Promise<ContactView | undefined> {
  const row = await findContactRowByEmail(database, projectId, email);
  return row === undefined ? undefined : presentContact(row);
}

export async function contactExists(database: Database, projectId: string, id: string): Promise<boolean> {
  return (await findContact(database, projectId, id)) !== undefined;
}

/** Splits the given spellings into addresses of contacts and unknown ones. */
export async function lookUpContacts(database: Database, projectId: string, spellings: readonly string[]) {
  const addressOf = new Map(
    spellings.flatMap((text) => {
      const parsed = parseAddress(text);
      return parsed.ok ? [[text, parsed.address]] : [];
    }),
  );
  const known = await findEmails(database, projectId, [...addressOf.values()]);
  const isKnown = (text: string) => known.has(addressOf.get(text) ?? "");
  return { found: spellings.filter(isKnown), notFound: spellings.filter((text) => !isKnown(text)) };
}

export type ContactEdit = z.output<(typeof contract.updateContact)["body"]>;
type EditedColumns = Omit<ContactEdit, "subscribed" | "data">;

/**
 * Changes only the given fields. Fields without a rule of their own are columns, and are stored if they differ. A contact that gets an
 * opted-out address is unsubscribed, unless the edit subscribes the contact.
 * @throws AppError CONTACT_NOT_FOUND, or an error of `CONTACT_CONSTRAINTS`, such as that the address belongs to another contact
 */
export async function updateContact(
  tx: Tx,
  projectId: string,
  id: string,
  { subscribed, data: dataEdit, ...columns }: ContactEdit,
  via: ChangeSource,
): Promise<ContactView> {
  const row = isId(id) ? await findContactForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("CONTACT_NOT_FOUND");
  const patch = readDataPatch(dataEdit ?? undefined);
  const data = dataEdit === null ? {} : applyPatch(row.data as Record<string, unknown>, patch);
  const keys = Object.keys(data).length;
  if (keys > LIMITS.contactKeys.value && keys > Object.keys(row.data as object).length) throw tooManyKeys();
  const changes: ContactChanges = {
    ...differing(row, columns),
    ...(isDeepStrictEqual(data, row.data) ? {} : { data: JSON.stringify(data) }),
  };
  const optedOut = changes.email !== undefined && (await changeAddress(tx, projectId, row, changes.email));
  if (Object.keys(changes).length > 0) {
    await updateContactRow(tx, projectId, id, changes);
    await registerFields(tx, [{ projectId, patch }]);
    await enqueueContactEvents(tx, [{ projectId, contactId: id }]);
  }
  if (subscribed !== undefined) await flipAndRecord(tx, [{ projectId, id, subscribed, via }]);
  else if (optedOut)
    await flipAndRecord(tx, [{ projectId, id, subscribed: false, via: { ...via, source: "opt-out" } }]);
  return getContact(tx, projectId, id);
}

/** Records the opt-out of the address that the contact gives up and removes the one of the new address. Returns whether there was one. */
async function changeAddress(tx: Tx, projectId: string, row: ContactRow, email: string): Promise<boolean> {
  await keepOptOuts(tx, [{ projectId, id: row.id, addressHash: hashAddress(projectId, row.email) }]);
  return deleteOptOut(tx, { projectId, addressHash: hashAddress(projectId, email) });
}

/** Returns the given columns whose values differ from the row. */
function differing(row: ContactRow, columns: EditedColumns): ContactChanges {
  const names = Object.keys(columns) as Array<keyof EditedColumns>;
  const changed = names.filter((name) => columns[name] !== undefined && columns[name] !== row[name]);
  return Object.fromEntries(changed.map((name) => [name, columns[name]]));
}

function applyPatch(data: Readonly<Record<string, unknown>>, patch: DataPatch): Record<string, unknown> {
  const removed = new Set(patch.remove);
  return { ...Object.fromEntries(Object.entries(data).filter(([key]) => !removed.has(key))), ...patch.set };
}

/** Data that later folders keep about contacts. Injected, because those folders come later in the reading order. */
export interface Dependents {
  /** Locks the dependent rows before the contacts are locked. */
  lock(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void>;
  /** Ends the dependent data of locked contacts. */
  end(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void>;
}

/**
 * Deletes a contact like `deleteContacts`.
 * @throws AppError CONTACT_NOT_FOUND.
 */
export async function deleteContact(
  tx: Tx,
  projectId: string,
  id: string,
  dependents: readonly Dependents[],
): Promise<void> {
  const deleted = isId(id) ? await deleteContacts(tx, projectId, [id], dependents) : [];
  if (deleted.length === 0) throw new AppError("CONTACT_NOT_FOUND");
}

/**
 * Deletes contacts with their events, redacts the recipient in their emails, which still count, and skips waiting emails. An opt-out is
 * kept as a keyed hash of the address. With `isImportUndone`, an opt-out known only from that import is dropped. Returns the ids of the
 * deleted contacts.
 */
export async function deleteContacts(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  dependents: readonly Dependents[],
  isImportUndone = false,
): Promise<string[]> {
  await subtractContacts(tx, projectId, ids);
  const hashed = ({ id, email }: { id: string; email: string }) => ({
    projectId,
    id,
    email,
    addressHash: hashAddress(projectId, email),
  });
  const people = (await findAddresses(tx, projectId, ids)).map(hashed);
  // Emails are locked before contacts, in the sender's order, to avoid deadlocks.
  await redactRecipients(tx, projectId, people, CONTACT_CHECKS.contactsThere);
  // Segments are locked before contacts, as in adding members. Executions follow the order of the engine.
  for (const { lock } of dependents) await lock(tx, projectId, ids);
  const locked = (await lockContacts(tx, projectId, ids, "deleting")).map(hashed);
  const found = locked.map((row) => row.id);
  for (const { end } of dependents) await end(tx, projectId, found);
  // Emails that were being queued concurrently are visible now, and no new ones can be added.
  await redactRecipients(tx, projectId, locked, CONTACT_CHECKS.contactsThere);
  await redactChangesOf(tx, projectId, found);
  await keepOptOuts(tx, locked, isImportUndone);
  await keepMailCounts(tx, projectId, found);
  await detachContacts(tx, projectId, found);
  await deleteContactRows(tx, projectId, found);
  return found;
}

export interface RenderContact {
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
}

/** Returns the contact data that templates can show, by id. Deleted contacts are missing. */
export async function readContactsForRendering(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Map<string, RenderContact>> {
  if (keys.length === 0) return new Map();
  const rows = await findContactsById(database, keys);
  return new Map(
    rows.map((row) => [
      row.id,
      { email: row.email, subscribed: row.subscribed, data: row.data as Record<string, unknown> },
    ]),
  );
}
