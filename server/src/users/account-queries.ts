// Statements of people on their accounts: tokens of mails, passwords, addresses, sessions.
// Before it: account.ts. After it: nothing.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import { lockAddress } from "./queries.ts";

export type TokenPurpose = "VERIFY" | "RESET";

/** Takes the place of the ones before it: of several mails the last one counts. */
export async function replaceToken(
  tx: Tx,
  token: { hash: Buffer; userId: string; purpose: TokenPurpose; email: string; seconds: number },
): Promise<void> {
  const { hash, userId, purpose, email, seconds } = token;
  await tx.deleteFrom("account_tokens").where("userId", "=", userId).where("purpose", "=", purpose).execute();
  await sql`
    insert into account_tokens (hash, user_id, purpose, email, expires_at)
    values (${hash}, ${userId}, ${purpose}, ${email}, now() + make_interval(secs => ${seconds}))`.execute(tx);
}

/** Where a live token was mailed to; undefined where there is none. */
export async function findTokenAddress(
  database: Database,
  hash: Buffer,
  purpose: TokenPurpose,
): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    select email from account_tokens where hash = ${hash} and purpose = ${purpose} and expires_at > now()`.execute(
    database,
  );
  return rows[0]?.email;
}

/** Takes a token away, so that it works once; undefined where there is no live one. */
export async function takeToken(tx: Tx, hash: Buffer, purpose: TokenPurpose) {
  const { rows } = await sql<{ userId: string; email: string }>`
    delete from account_tokens where hash = ${hash} and purpose = ${purpose} and expires_at > now()
    returning user_id, email`.execute(tx);
  return rows[0];
}

/** Of an account that nobody else has proved that address. */
const isFree = (userId: string, email: string): RawBuilder<SqlBool> => sql`
  not exists (select 1 from users o where o.email = ${email} and o.verified_at is not null and o.id <> ${userId})`;

/** Proves the address of an account; false where it has another one by now, or another account has proved it. */
export async function markVerified(tx: Tx, userId: string, email: string): Promise<boolean> {
  await lockAddress(tx, email);
  const { numAffectedRows } = await sql`
    update users set verified_at = coalesce(verified_at, now())
    where id = ${userId} and email = ${email} and ${isFree(userId, email)}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Takes away every way into an account but its password. */
export async function deleteOtherWays(tx: Tx, userId: string): Promise<void> {
  await sql`
    with keys as (delete from passkeys where user_id = ${userId}),
      others as (delete from identities where user_id = ${userId}),
      codes as (delete from recovery_codes where user_id = ${userId})
    delete from second_factors where user_id = ${userId}`.execute(tx);
}

/** Gives an account a proved address; false where another account has proved it. */
export async function updateAddress(tx: Tx, userId: string, email: string): Promise<boolean> {
  await lockAddress(tx, email);
  const { numAffectedRows } = await sql`
    update users set email = ${email}, verified_at = coalesce(case when email = ${email} then verified_at end, now()),
      has_old_salt = has_old_salt or (email <> ${email} and password_hash is not null)
    where id = ${userId} and ${isFree(userId, email)}`.execute(tx);
  return numAffectedRows === 1n;
}

export async function findAccount(database: Database, userId: string) {
  return database
    .selectFrom("users")
    .select(["id", "email", "passwordHash", "verifiedAt"])
    .where("id", "=", userId)
    .executeTakeFirst();
}

/** Whether the password is still the one that was looked at; it stays so until the transaction ends. */
export async function holdsPassword(tx: Tx, userId: string, passwordHash: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from users where id = ${userId} and password_hash = ${passwordHash} for share`.execute(tx);
  return rows.length === 1;
}

/**
 * Ends what was asked for and not answered: links for a new password, and for another address than the account has. Whoever asked
 * knew the old password.
 */
export async function deletePending(tx: Tx, userId: string): Promise<void> {
  await sql`
    delete from account_tokens t using users u
    where t.user_id = ${userId} and u.id = t.user_id and (t.purpose = 'RESET' or t.email <> u.email)`.execute(
    tx,
  );
}

/** Sets a password that was hashed for this address, which the account may have changed meanwhile. */
export async function updatePassword(
  tx: Tx,
  { id, email }: { id: string; email: string },
  passwordHash: string,
): Promise<void> {
  await sql`
    update users set password_hash = ${passwordHash}, has_old_salt = email <> ${email} where id = ${id}`.execute(
    tx,
  );
}

export async function listSessionRows(database: Database, userId: string) {
  return database
    .selectFrom("sessions")
    .select(["id", "createdAt", "expiresAt", "address", "userAgent", "lastUsedAt"])
    .where("userId", "=", userId)
    .where("expiresAt", ">", sql<Date>`now()`)
    .orderBy("id", "desc")
    .execute();
}

/** When a live session began. */
export async function findSessionStart(database: Database, sessionId: string): Promise<Date | undefined> {
  const row = await database
    .selectFrom("sessions")
    .select("createdAt")
    .where("id", "=", sessionId)
    .executeTakeFirst();
  return row?.createdAt;
}

/** The account, held until the transaction ends: of two last doors that close at once, one stays open. */
export async function lockUser(tx: Tx, userId: string) {
  return tx
    .selectFrom("users")
    .select(["id", "email", "passwordHash"])
    .where("id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
}

/** Whether a session lives; it does so until the transaction ends. */
export async function holdsSession(tx: Tx, userId: string, sessionId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from sessions where id = ${sessionId} and user_id = ${userId} and expires_at > now() for share`.execute(
    tx,
  );
  return rows.length === 1;
}

/** Whether somebody still gets into an account: by a password, another service or a passkey. */
export async function hasWayIn(tx: Tx, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from users u where u.id = ${userId} and (
      u.password_hash is not null
      or exists (select 1 from identities i where i.user_id = u.id)
      or exists (select 1 from passkeys p where p.user_id = u.id))`.execute(tx);
  return rows.length === 1;
}

/** Ends sessions of a person: one, or all but one. @returns how many */
export async function deleteSessions(
  tx: Tx,
  userId: string,
  which: { id: string } | { allBut: string | null },
): Promise<number> {
  const own = tx.deleteFrom("sessions").where("userId", "=", userId);
  const query =
    "id" in which
      ? own.where("id", "=", which.id)
      : which.allBut === null
        ? own
        : own.where("id", "<>", which.allBut);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

export async function deleteOldTokens(database: Database): Promise<void> {
  await sql`delete from account_tokens where expires_at < now()`.execute(database);
}

/** Of a user `u` that nobody proved to be theirs and nobody gets into but by its password. */
const UNPROVEN: RawBuilder<SqlBool> = sql`
  u.verified_at is null
  and not exists (select 1 from sessions s where s.user_id = u.id)
  and not exists (select 1 from identities i where i.user_id = u.id)
  and not exists (select 1 from passkeys p where p.user_id = u.id)`;

/** Accounts nobody proved, made before an id, in the order of their ids; never the first of all. */
export async function listUnproven(
  database: Database,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select u.id from users u
    where u.id > ${after} and u.id < ${before} and ${UNPROVEN} and u.id <> (select o.id from users o order by o.id limit 1)
    order by u.id limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Locks those of the accounts that nobody else holds. */
export async function lockUsers(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from users where id = any(${ids}::uuid[]) order by id for update skip locked`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Deletes those of the accounts that are still nobody's. */
export async function deleteUnproven(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`delete from users u where u.id = any(${ids}::uuid[]) and ${UNPROVEN}`.execute(tx);
}
