// Statements for account changes: email tokens, passwords, addresses and sessions.
import { sql } from "kysely";
import { violatedConstraint, type Database, type Tx } from "../platform/database/database.ts";

export type TokenPurpose = "VERIFY" | "RESET";

/** Stores a token and deletes the previous ones of the same purpose, so that only the newest email works. */
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

/** Stores the token of a sign-up in place of the address's previous one. */
export async function replaceSignUpToken(
  tx: Tx,
  { hash, email, seconds }: { hash: Buffer; email: string; seconds: number },
): Promise<void> {
  await sql`
    insert into account_tokens (hash, purpose, email, expires_at)
    values (${hash}, 'SIGN_UP', ${email}, now() + make_interval(secs => ${seconds}))
    on conflict (email) where purpose = 'SIGN_UP' do update
    set hash = excluded.hash, created_at = excluded.created_at, expires_at = excluded.expires_at`.execute(tx);
}

/** The address a live token was sent to; undefined if there is none. */
export async function findTokenAddress(
  database: Database,
  hash: Buffer,
  purpose: TokenPurpose | "SIGN_UP",
): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    select email from account_tokens where hash = ${hash} and purpose = ${purpose} and expires_at > now()`.execute(
    database,
  );
  return rows[0]?.email;
}

/** Deletes a live token, so that it works once; undefined if there is none. */
export async function takeToken(tx: Tx, hash: Buffer, purpose: TokenPurpose) {
  const { rows } = await sql<{ userId: string; email: string }>`
    delete from account_tokens where hash = ${hash} and purpose = ${purpose} and expires_at > now()
    returning user_id, email`.execute(tx);
  return rows[0];
}

/**
 * Deletes the live token of a sign-up.
 * @returns its address, or undefined if there is none
 */
export async function takeSignUpToken(tx: Tx, hash: Buffer): Promise<string | undefined> {
  const { rows } = await sql<{ email: string }>`
    delete from account_tokens where hash = ${hash} and purpose = 'SIGN_UP' and expires_at > now()
    returning email`.execute(tx);
  return rows[0]?.email;
}

/** Confirms the address of an account. */
export async function markVerified(tx: Tx, userId: string, email: string): Promise<void> {
  await sql`
    update users set verified_at = coalesce(verified_at, now()) where id = ${userId} and email = ${email}`.execute(
    tx,
  );
}

/** Gives an account a confirmed address. Returns false, and breaks the transaction, if another account has it. */
export async function updateAddress(tx: Tx, userId: string, email: string): Promise<boolean> {
  try {
    await sql`
      update users set email = ${email}, verified_at = case when email = ${email} then coalesce(verified_at, now()) else now() end
      where id = ${userId}`.execute(tx);
    return true;
  } catch (error) {
    if (violatedConstraint(error, ["users_email_key"]) === null) throw error;
    return false;
  }
}

export async function findAccount(database: Database, userId: string) {
  return database
    .selectFrom("users")
    .select(["id", "email", "passwordHash", "verifiedAt"])
    .where("id", "=", userId)
    .executeTakeFirst();
}

/** Returns whether the checked password is still current, and locks it until the transaction ends. */
export async function isPasswordCurrent(tx: Tx, userId: string, passwordHash: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from users where id = ${userId} and password_hash = ${passwordHash} for share`.execute(tx);
  return rows.length === 1;
}

/** Deletes the links for a new password and for another address than the current one, because they were requested with the old password. */
export async function deletePending(tx: Tx, userId: string): Promise<void> {
  await sql`
    delete from account_tokens t using users u
    where t.user_id = ${userId} and u.id = t.user_id and (t.purpose = 'RESET' or t.email <> u.email)`.execute(
    tx,
  );
}

export async function updatePassword(tx: Tx, id: string, passwordHash: string): Promise<void> {
  await sql`update users set password_hash = ${passwordHash} where id = ${id}`.execute(tx);
}

/** Returns the start time of a session. */
export async function findSessionStart(database: Database, sessionId: string): Promise<Date | undefined> {
  const row = await database
    .selectFrom("sessions")
    .select("createdAt")
    .where("id", "=", sessionId)
    .executeTakeFirst();
  return row?.createdAt;
}

/** Locks an account until the transaction ends, so that two concurrent removals can't delete its last sign-in method. */
export async function lockUser(tx: Tx, userId: string) {
  return tx
    .selectFrom("users")
    .select(["id", "email", "passwordHash"])
    .where("id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
}

/** Returns whether an account still has a sign-in method: a password, another service or a passkey. */
export async function hasWayIn(tx: Tx, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from users u where u.id = ${userId} and (
      u.password_hash is not null
      or exists (select 1 from identities i where i.user_id = u.id)
      or exists (select 1 from passkeys p where p.user_id = u.id))`.execute(tx);
  return rows.length === 1;
}

/**
 * Ends one session of an account, or all but one.
 * @returns how many ended
 */
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

/** Deletes passkey challenges that have expired. */
export async function deleteOldChallenges(database: Database): Promise<void> {
  await sql`delete from passkey_challenges where expires_at < now()`.execute(database);
}
