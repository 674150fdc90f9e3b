// Statements on `users` and `sessions`.
import { sql } from "kysely";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { MailLanguage } from "../emails/platform-email/mail-language.ts";

export async function findUserByEmail(database: Database, email: string) {
  return database
    .selectFrom("users")
    .select(["id", "email", "verifiedAt", "passwordHash"])
    .where("email", "=", email)
    .executeTakeFirst();
}

export async function findUserById(database: Database, id: string) {
  return database.selectFrom("users").select(["id", "email"]).where("id", "=", id).executeTakeFirst();
}

export async function findUserLanguage(database: Database, id: string): Promise<string | undefined> {
  const row = await database.selectFrom("users").select("language").where("id", "=", id).executeTakeFirst();
  return row?.language;
}

export async function updateUserLanguage(tx: Tx, id: string, language: MailLanguage): Promise<void> {
  await tx.updateTable("users").set({ language }).where("id", "=", id).execute();
}

/** Ids are ordered by time. */
export async function findOldestUser(database: Database) {
  return database.selectFrom("users").select(["id", "email"]).orderBy("id").limit(1).executeTakeFirst();
}

export async function countUsers(database: Database): Promise<number> {
  const row = await database
    .selectFrom("users")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  return row?.count ?? 0;
}

/** Returns false if the address has an account, including one that another transaction inserts concurrently. */
export async function insertUser(
  tx: Tx,
  user: {
    id: string;
    email: string;
    passwordHash: string | null;
    verifiedAt: Date | null;
    language: MailLanguage;
  },
): Promise<boolean> {
  const result = await tx
    .insertInto("users")
    .values(user)
    .onConflict((conflict) => conflict.column("email").doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Deletes an account with its sessions, tokens, passkeys, identities and second factor. */
export async function deleteUser(tx: Tx, id: string): Promise<boolean> {
  const result = await tx.deleteFrom("users").where("id", "=", id).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Returns the owner of a new session. `isNew`: the account was created in this transaction. */
export async function findSessionOwner(tx: Tx, id: string) {
  const { rows } = await sql<{ email: string; language: string; isNew: boolean }>`
    select email, language, created_at = now() as is_new from users where id = ${id}`.execute(tx);
  return rows[0];
}

export async function insertSession(
  tx: Tx,
  session: {
    id: string;
    userId: string;
    expiresAt: Date;
    address: string | null;
    userAgent: string | null;
  },
): Promise<void> {
  await tx.insertInto("sessions").values(session).execute();
}

/** Sessions `s` that have neither expired nor been idle for too long. */
const isLive = sql<boolean>`
  s.expires_at > now()
  and coalesce(s.last_used_at, s.created_at) > now() - make_interval(days => ${LIMITS.sessionIdleDays.value})`;

export async function findLiveSession(database: Database, id: string) {
  const { rows } = await sql<{ id: string; userId: string; lastUsedAt: Date | null }>`
    select s.id, s.user_id, s.last_used_at from sessions s where s.id = ${id} and ${isLive}`.execute(
    database,
  );
  return rows[0];
}

/** Returns whether a session is live, and locks it until the transaction ends. */
export async function holdsSession(tx: Tx, userId: string, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from sessions s where s.id = ${sessionId} and s.user_id = ${userId} and ${isLive} for share`.execute(
    tx,
  );
  return rows.length === 1;
}

/** Returns the live sessions of an account, newest first, each with its end if it is not used again. */
export async function listSessionRows(database: Database, userId: string) {
  const { rows } = await sql<{
    id: string;
    createdAt: Date;
    expiresAt: Date;
    address: string | null;
    userAgent: string | null;
    lastUsedAt: Date | null;
  }>`
    select s.id, s.created_at, s.address, s.user_agent, s.last_used_at,
      least(s.expires_at, coalesce(s.last_used_at, s.created_at) + make_interval(days => ${LIMITS.sessionIdleDays.value})) as expires_at
    from sessions s where s.user_id = ${userId} and ${isLive} order by s.id desc`.execute(database);
  return rows;
}

/** Records the use of a session. Of several concurrent requests only one writes. */
export async function recordSessionUse(database: Database, id: string, everySeconds: number): Promise<void> {
  await sql`
    update sessions set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - make_interval(secs => ${everySeconds}))`.execute(
    database,
  );
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("sessions").where("id", "=", id).execute();
}

export async function deleteEndedSessions(database: Database): Promise<void> {
  await sql`delete from sessions s where not (${isLive})`.execute(database);
}
