// Queries on sender leases in `senders`, and on the emails of dead senders.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";

/**
 * CTE `living` with the sender's row, locked until the claim commits. A sender that is declared dead in the meantime claims nothing,
 * because no one would look for emails under its id again.
 */
export const livingSender = (senderId: string): RawBuilder<unknown> => sql`
  living as materialized (select id from senders where id = ${senderId} for key share)`;

/** Registers a sender, or registers it again after it found a different database. */
export async function upsertSender(
  database: Database,
  senderId: string,
  leaseSeconds: number,
): Promise<void> {
  await sql`
    insert into senders (id, lease_until, incarnation)
    select ${senderId}::uuid, now() + make_interval(secs => ${leaseSeconds}), incarnation from installation
    on conflict (id) do update set lease_until = excluded.lease_until, incarnation = excluded.incarnation, in_doubt = '{}'`.execute(
    database,
  );
}

/** Renews the lease and stores the sender's known outages. Returns false if the sender was declared dead. */
export async function renewLease(
  database: Database,
  senderId: string,
  leaseSeconds: number,
  outages: readonly string[],
): Promise<boolean> {
  const result = await sql`
    update senders set lease_until = now() + make_interval(secs => ${leaseSeconds}), outages = ${outages}
    where id = ${senderId}`.execute(database);
  return result.numAffectedRows === 1n;
}

/** Removes a sender that ended cleanly, unless it still holds emails. */
export async function deleteSender(database: Database, senderId: string): Promise<void> {
  await sql`delete from senders where id = ${senderId}
    and not exists (select 1 from emails where sender_id = ${senderId} and status = 'CLAIMED')`.execute(
    database,
  );
}

/** Lists all registered senders, including this one. An expired sender may still renew its lease. */
export async function listSenders(
  database: Database,
): Promise<Array<{ id: string; leaseUntil: Date; isExpired: boolean }>> {
  return database
    .selectFrom("senders")
    .select(["id", "leaseUntil", sql<boolean>`lease_until < now()`.as("isExpired")])
    .execute();
}

/**
 * Declares a sender dead if its lease has expired, after which it can submit nothing. Returns its emails in submission, or null if the
 * sender is alive.
 */
export async function deleteExpiredSender(
  tx: Tx,
  expired: { id: string; leaseUntil: Date },
): Promise<string[] | null> {
  const { rows } = await sql<{ inDoubt: string[] }>`
    delete from senders where id = ${expired.id} and lease_until < now() returning in_doubt`.execute(tx);
  return rows[0]?.inDoubt ?? null;
}

/** Requeues the emails that a sender has claimed except for `inDoubt`. Returns how many. */
export async function requeueClaimed(
  database: Database,
  senderId: string,
  inDoubt: readonly string[],
): Promise<number> {
  const result = await sql`
    update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status = 'CLAIMED' and not (id = any(${inDoubt}::uuid[]))`.execute(
    database,
  );
  return Number(result.numAffectedRows ?? 0);
}

export async function listClaimedOf(tx: Tx, senderId: string) {
  return tx
    .selectFrom("emails")
    .select(["projectId", "id", "priority", "attempts"])
    .where("senderId", "=", senderId)
    .where("status", "=", "CLAIMED")
    .execute();
}

/** Replaces the emails that are in doubt if the sender dies. */
export async function updateInDoubt(
  database: Database,
  senderId: string,
  inDoubt: readonly string[],
): Promise<void> {
  await sql`update senders set in_doubt = ${inDoubt}::uuid[] where id = ${senderId}`.execute(database);
}

/**
 * Returns whether every live sender knows of the new database. Others may still remember submissions that the database lost. Senders that
 * have not appeared after `graceSeconds` are considered dead.
 */
export async function haveAllSendersRegistered(database: Database, graceSeconds: number): Promise<boolean> {
  const { rows } = await sql<{ allCame: boolean }>`
    select i.incarnation_since < now() - make_interval(secs => ${graceSeconds})
      or not exists (select 1 from senders s where s.incarnation < i.incarnation) as all_came
    from installation i`.execute(database);
  return rows[0]?.allCame ?? true;
}
