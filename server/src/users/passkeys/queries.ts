// Statements on `passkeys` and `passkey_challenges`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";

const SHOWN = ["id", "name", "createdAt", "lastUsedAt"] as const;

/** @param userId null: of whoever signs in */
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

/** Takes a live challenge away, so that it works once; false where there is none for this. */
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

/** Undefined where an account has it already. */
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

/** Notes a use; false where it was removed meanwhile, or used at the same time with the same count: of two one is taken. */
export async function noteUse(tx: Tx, id: string, signCount: number): Promise<boolean> {
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

/** The name of what was taken away; undefined where there is no such one. */
export async function deletePasskey(tx: Tx, userId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("passkeys")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning("name")
    .executeTakeFirst();
  return row?.name;
}
