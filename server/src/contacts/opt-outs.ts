// Unsubscribes and subscribes addresses, independent of their current contact, and keeps opt-outs of addresses without a contact
// (docs/decisions/0107-opt-outs-of-addresses.md).
import { hashAddress } from "../platform/address-hash.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { ChangeSource } from "./consent.ts";
import {
  deleteOptOut,
  hasOptOut,
  insertOptOuts,
  keepOptOuts,
  listUnsubscribed,
  lockHolders,
  type HashedAddress,
} from "./opt-out-queries.ts";
import { flipAndRecord } from "./upsert-contacts.ts";

export interface AddressOptOut {
  projectId: string;
  /** Canonical. */
  email: string;
  via: ChangeSource;
}

/** Unsubscribes the contacts with these addresses and records the opt-outs of addresses without a contact. */
export async function optOut(tx: Tx, optOuts: readonly AddressOptOut[]): Promise<void> {
  if (optOuts.length === 0) return;
  const holders = await lockAll(tx, optOuts);
  const held = optOuts.map((one) => ({ ...one, id: holders.get(keyOf(one)) }));
  await flipAndRecord(
    tx,
    held.flatMap(({ projectId, id, via }) =>
      id === undefined ? [] : [{ projectId, id, subscribed: false, via }],
    ),
  );
  await insertOptOuts(
    tx,
    held.map(({ projectId, email, id }) => ({
      projectId,
      addressHash: hashAddress(projectId, email),
      isHeld: id !== undefined,
    })),
  );
}

/** Records opt-outs for which only the hash of the address is known. */
export async function optOutErased(tx: Tx, addresses: readonly HashedAddress[]): Promise<void> {
  if (addresses.length === 0) return;
  await insertOptOuts(
    tx,
    addresses.map((address) => ({ ...address, isHeld: false })),
  );
}

/** Subscribes the contact with this address, or deletes the opt-out of an address without a contact. Creates no contact. */
export async function optIn(tx: Tx, { projectId, email, via }: AddressOptOut): Promise<void> {
  const [id] = (await lockAll(tx, [{ projectId, email }])).values();
  if (id === undefined) await deleteOptOut(tx, { projectId, addressHash: hashAddress(projectId, email) });
  else await flipAndRecord(tx, [{ projectId, id, subscribed: true, via }]);
}

/** Returns whether an address without a contact has opted out. */
export async function isOptedOut(database: Database, projectId: string, email: string): Promise<boolean> {
  return hasOptOut(database, { projectId, addressHash: hashAddress(projectId, email) });
}

/**
 * Keeps the opt-outs of a project before all of its contacts are deleted, one batch of contacts per call.
 * @param after the last contact of the previous call, or null to start
 * @returns the last contact of this call, or null at the end
 */
export async function keepOptOutsOfProject(
  tx: Tx,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<string | null> {
  const rows = await listUnsubscribed(tx, projectId, after, limit);
  await keepOptOuts(
    tx,
    rows.map(({ id, email }) => ({ projectId, id, addressHash: hashAddress(projectId, email) })),
  );
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null);
}

interface Address {
  projectId: string;
  email: string;
}

const keyOf = ({ projectId, email }: Address) => `${projectId} ${email}`;

/** Locks the contacts with these addresses and returns their ids by project and address. */
async function lockAll(tx: Tx, addresses: readonly Address[]): Promise<Map<string, string>> {
  const byProject = Map.groupBy(addresses, ({ projectId }) => projectId);
  const holders = new Map<string, string>();
  for (const projectId of [...byProject.keys()].toSorted()) {
    const emails = byProject.get(projectId)?.map(({ email }) => email) ?? [];
    const rows = await lockHolders(tx, projectId, emails);
    for (const { id, email } of rows) holders.set(keyOf({ projectId, email }), id);
  }
  return holders;
}
