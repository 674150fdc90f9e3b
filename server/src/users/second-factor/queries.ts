// Statements on `second_factors` and `recovery_codes`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";

export async function readFactor(database: Database, userId: string) {
  const { rows } = await sql<{ confirmedAt: Date; codesLeft: number }>`
    select confirmed_at, (select count(*)::int from recovery_codes where user_id = ${userId}) as codes_left
    from second_factors where user_id = ${userId} and confirmed_at is not null`.execute(database);
  return rows[0];
}

/** Stores an unconfirmed secret in place of a previous one. Returns false if the current one is confirmed. */
export async function storeSecret(tx: Tx, userId: string, sealed: Buffer): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into second_factors as f (user_id, sealed_secret) values (${userId}, ${sealed})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = 0, created_at = excluded.created_at
    where f.confirmed_at is null`.execute(tx);
  return numAffectedRows === 1n;
}

/** Locks an account's secret until the transaction ends, so that a code is accepted only once. */
export async function lockFactor(tx: Tx, userId: string) {
  const { rows } = await sql<{ sealedSecret: Buffer; confirmedAt: Date | null; lastStep: number }>`
    select sealed_secret, confirmed_at, last_step::float8 as last_step from second_factors
    where user_id = ${userId} for update`.execute(tx);
  return rows[0];
}

/** Records the time step of an accepted code and confirms the secret. */
export async function recordStep(tx: Tx, userId: string, step: number): Promise<void> {
  await sql`
    update second_factors set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now())
    where user_id = ${userId}`.execute(tx);
}

export async function deleteFactor(tx: Tx, userId: string): Promise<boolean> {
  await sql`delete from recovery_codes where user_id = ${userId}`.execute(tx);
  const { numAffectedRows } = await sql`
    delete from second_factors where user_id = ${userId} and confirmed_at is not null`.execute(tx);
  return numAffectedRows === 1n;
}

/** Replaces all recovery codes. */
export async function replaceRecoveryCodes(tx: Tx, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await sql`delete from recovery_codes where user_id = ${userId}`.execute(tx);
  await sql`
    insert into recovery_codes (user_id, hash) select ${userId}, hash from unnest(${hashes}::bytea[]) hash`.execute(
    tx,
  );
}

/** Deletes a recovery code, so that it works once. Returns false if there is none. */
export async function takeRecoveryCode(tx: Tx, userId: string, hash: Buffer): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from recovery_codes where user_id = ${userId} and hash = ${hash}`.execute(tx);
  return numAffectedRows === 1n;
}
