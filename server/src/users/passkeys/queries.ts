// Statements on `passkeys` and `passkey_challenges`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";

const SHOWN = ["id", "name", "createdAt", "lastUsedAt"] as const;

/**
 * Stores a challenge.
 * @param userId null for signing in, when the user is not known yet
 */
export async function insertChallenge(
  database: Database,
  hash: Buffer,
  userId: string | null,
  seconds: number,
): Promise<void> {
  await sql`
    insert into passkey_challenges (hash, user_id, expires_at)
    values (${hash}, ${userId}, now() + make_interval(secs => ${seconds}))`.execute(database);
}

/** Deletes a live challenge, so that it works once. Returns false if there is none. */
export async function takeChallenge(
  database: Database,
  hash: Buffer,
  userId: string | null,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from passkey_challenges
    where hash = ${hash} and user_id is not distinct from ${userId} and expires_at > now()`.execute(database);
  return numAffectedRows === 1n;
}

export async function listPasskeyRows(database: Database, userId: string) {
  return database
    .selectFrom("passkeys")
    .select([...SHOWN, "credentialId"])
    .where("userId", "=", userId)
    .orderBy("id")
    .execute();
}

export async function findPasskey(database: Database, credentialId: Buffer) {
  return database
    .selectFrom("passkeys as p")
    .innerJoin("users as u", "u.id", "p.userId")
    .select(["p.id", "p.userId", "p.publicKey", "u.email"])
    .select(sql<number>`p.sign_count::float8`.as("signCount"))
    .where("p.credentialId", "=", credentialId)
    .executeTakeFirst();
}

/** Returns undefined if the passkey already exists. */
export async function insertPasskey(
  tx: Tx,
  passkey: {
    id: string;
    userId: string;
    credentialId: Buffer;
    publicKey: Buffer;
    signCount: number;
    transports: string[];
    name: string;
  },
) {
  return tx
    .insertInto("passkeys")
    .values(passkey)
    .onConflict((conflict) => conflict.column("credentialId").doNothing())
    .returning(SHOWN)
    .executeTakeFirst();
}

/** Records a use. Returns false if the passkey was removed, or a concurrent use had the same counter. */
export async function recordUse(tx: Tx, id: string, signCount: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update passkeys set sign_count = ${signCount}, last_used_at = now()
    where id = ${id} and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))`.execute(tx);
  return numAffectedRows === 1n;
}

export async function updateName(tx: Tx, userId: string, id: string, name: string) {
  return tx
    .updateTable("passkeys")
    .set({ name })
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning(SHOWN)
    .executeTakeFirst();
}

/** Returns the name of the deleted passkey, or undefined if there is none. */
export async function deletePasskey(tx: Tx, userId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("passkeys")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning("name")
    .executeTakeFirst();
  return row?.name;
}
