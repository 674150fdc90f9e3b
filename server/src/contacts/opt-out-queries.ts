// Statements on `opt_outs`. A new contact consumes its row in the statement of upsert-queries.ts.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";

export interface HashedAddress {
  projectId: string;
  addressHash: string;
}

/**
 * Returns whether a contact `c` opted out, which means that the unsubscription was a choice and not a default. A contact without a log
 * predates the log and counts as opted out. Inbound emails count as a default, including rows from before `by_default` existed.
 */
const hasOptedOut = (isImportUndone: boolean) => sql`not c.subscribed and coalesce((
  select bool_or(not l.by_default and l.source <> 'inbound' and not (${isImportUndone} and l.id = l.contact_id and l.source = 'import'))
  from consent_changes l where l.project_id = c.project_id and l.contact_id = c.id), true)`;

/**
 * Records the opt-outs of locked contacts that are about to lose their addresses. Contacts that have not opted out are skipped.
 * @param isImportUndone ignores the state set by the import that created the contacts, because that import is being undone
 */
export async function keepOptOuts(
  tx: Tx,
  contacts: ReadonlyArray<HashedAddress & { id: string }>,
  isImportUndone = false,
): Promise<void> {
  await sql`
    insert into opt_outs (project_id, address_hash)
    select i.project_id, i.address_hash
    from unnest(
      ${contacts.map(({ projectId }) => projectId)}::uuid[],
      ${contacts.map(({ id }) => id)}::uuid[],
      ${contacts.map(({ addressHash }) => addressHash)}::uuid[]
    ) as i (project_id, id, address_hash)
    join contacts c on c.project_id = i.project_id and c.id = i.id
    where ${hasOptedOut(isImportUndone)} order by i.project_id, i.address_hash
    on conflict do nothing`.execute(tx);
}

/**
 * Records opt-outs of addresses without a contact. While a project is being reset, opt-outs of contacts are recorded too, because the
 * contacts are about to be deleted. Deleted projects are skipped.
 */
export async function insertOptOuts(
  tx: Tx,
  addresses: ReadonlyArray<HashedAddress & { isHeld: boolean }>,
): Promise<void> {
  await sql`
    insert into opt_outs (project_id, address_hash)
    select distinct i.project_id, i.address_hash
    from unnest(
      ${addresses.map(({ projectId }) => projectId)}::uuid[],
      ${addresses.map(({ addressHash }) => addressHash)}::uuid[],
      ${addresses.map(({ isHeld }) => isHeld)}::boolean[]
    ) as i (project_id, address_hash, is_held)
    join projects p on p.id = i.project_id
    where not i.is_held or p.removal is not null order by 1, 2
    on conflict do nothing`.execute(tx);
}

/** Deletes the opt-out of an address and returns whether there was one. */
export async function deleteOptOut(tx: Tx, { projectId, addressHash }: HashedAddress): Promise<boolean> {
  const { rows } = await sql<{ addressHash: string }>`
    delete from opt_outs where project_id = ${projectId} and address_hash = ${addressHash}
    returning address_hash`.execute(tx);
  return rows.length > 0;
}

export async function hasOptOut(
  database: Database,
  { projectId, addressHash }: HashedAddress,
): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select 1 from opt_outs where project_id = ${projectId} and address_hash = ${addressHash}
    ) as has`.execute(database);
  return rows[0]?.has === true;
}

/** Returns the hashes with an opt-out. */
export async function listOptOuts(
  database: Database,
  projectId: string,
  addressHashes: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ addressHash: string }>`
    select address_hash from opt_outs
    where project_id = ${projectId} and address_hash = any(${addressHashes}::uuid[])`.execute(database);
  return new Set(rows.map((row) => row.addressHash));
}

/**
 * Locks the contacts of a project with these addresses, in the lock order of upserts. Waits for concurrent deletions and renames, after
 * which the contact no longer has the address.
 */
export async function lockHolders(
  tx: Tx,
  projectId: string,
  emails: readonly string[],
): Promise<Array<{ id: string; email: string }>> {
  const { rows } = await sql<{ id: string; email: string }>`
    select id, email from contacts where project_id = ${projectId} and email = any(${emails}::text[])
    order by email for no key update`.execute(tx);
  return rows;
}

/** Returns the next unsubscribed contacts of a project by id. */
export async function listUnsubscribed(
  tx: Tx,
  projectId: string,
  after: string | null,
  limit: number,
): Promise<Array<{ id: string; email: string }>> {
  const { rows } = await sql<{ id: string; email: string }>`
    select id, email from contacts
    where project_id = ${projectId} and not subscribed and id > ${after ?? NO_ID} order by id limit ${limit}`.execute(
    tx,
  );
  return rows;
}
