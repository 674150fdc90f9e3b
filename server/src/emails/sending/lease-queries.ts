// Statements of the lease: a sender's row in `senders`, and what a dead sender left behind.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";

/**
 * CTE `living`: the sender's row, held until the claim commits. Whoever is declared dead meanwhile claims nothing: nobody would look
 * for mails under its name again.
 */
export const livingSender = (senderId: string): RawBuilder<unknown> => sql`
  living as materialized (select id from senders where id = ${senderId} for key share)`;

/** A sender that is there already lives again: it found the database changed, and knows it as it is now. */
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

/** Whether the lease could be renewed; false when the sender was declared dead. Also keeps what it knows of its transports. */
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

/** Removes a sender that ended in order: it holds nothing any more. */
export async function deleteSender(database: Database, senderId: string): Promise<void> {
  await sql`delete from senders where id = ${senderId}
    and not exists (select 1 from emails where sender_id = ${senderId} and status = 'CLAIMED')`.execute(
    database,
  );
}

/** All that are registered, this one included; one that is expired may yet renew its lease. */
export async function listSenders(
  database: Database,
): Promise<Array<{ id: string; leaseUntil: Date; isExpired: boolean }>> {
  return database
    .selectFrom("senders")
    .select(["id", "leaseUntil", sql<boolean>`lease_until < now()`.as("isExpired")])
    .execute();
}

/**
 * Declares a sender dead if its lease is still the one that ran out; from here on it can hand over nothing. Returns which mails it
 * had committed to hand over, or null if it lives.
 */
export async function deleteExpiredSender(
  tx: Tx,
  expired: { id: string; leaseUntil: Date },
): Promise<string[] | null> {
  const { rows } = await sql<{ inDoubt: string[] }>`
    delete from senders where id = ${expired.id} and lease_until < now() returning in_doubt`.execute(tx);
  return rows[0]?.inDoubt ?? null;
}

/** What a sender has merely claimed goes back as if nothing had been; `inDoubt` is left. Returns how many. */
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

/** From here on these are the mails of a sender that are in doubt when it dies. */
export async function updateInDoubt(tx: Tx, senderId: string, inDoubt: readonly string[]): Promise<void> {
  await sql`update senders set in_doubt = ${inDoubt}::uuid[] where id = ${senderId}`.execute(tx);
}
