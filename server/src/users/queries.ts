// Statements on `users` and `sessions`.
import { sql } from "kysely";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import type { MailLanguage } from "../emails/system-mail/mail-language.ts";

/** Accounts of an address: the one that proved it, if one did, and then the oldest first (docs/decisions/0098). */
const accountsOf = (database: Database, email: string) =>
  database
    .selectFrom("users")
    .where("email", "=", email)
    .orderBy(sql`verified_at is null`)
    .orderBy("id");

export async function findUserByEmail(database: Database, email: string) {
  return accountsOf(database, email).select(["id", "email", "verifiedAt"]).limit(1).executeTakeFirst();
}

/** More sign-ups than an address can have before the oldest are swept. */
const MAX_ACCOUNTS = 1_000;

/** Those of an address that have a password. */
export async function listPasswordRows(database: Database, email: string) {
  return accountsOf(database, email)
    .select(["id", "email", "passwordHash", "hasOldSalt"])
    .where("passwordHash", "is not", null)
    .$narrowType<{ passwordHash: string }>()
    .limit(MAX_ACCOUNTS)
    .execute();
}

/** Whether any account has a hash that was not made with the salt of its address. */
export async function hasOldSaltedHashes(database: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from users where has_old_salt limit 1`.execute(database);
  return rows.length === 1;
}

/** The same password with the salt of its address, unless another one was set meanwhile. */
export async function renewHash(
  database: Database,
  { id, email, passwordHash }: { id: string; email: string; passwordHash: string },
  hash: string,
): Promise<void> {
  await database
    .updateTable("users")
    .set({ passwordHash: hash, hasOldSalt: false })
    .where("id", "=", id)
    .where("email", "=", email)
    .where("passwordHash", "=", passwordHash)
    .execute();
}

export async function findUserByHash(database: Database, email: string, passwordHash: string) {
  return accountsOf(database, email)
    .select(["id", "email"])
    .where("passwordHash", "=", passwordHash)
    .limit(1)
    .executeTakeFirst();
}

/** Of several that sign up with an address, or prove it, at once: one after the other. Held until the transaction ends. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`address ${email}`}))`.execute(tx);
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

/** Ids follow time. */
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

export async function insertUser(
  tx: Tx,
  user: {
    id: string;
    email: string;
    passwordHash: string | null;
    verifiedAt: Date | null;
    language: MailLanguage;
  },
): Promise<void> {
  await tx.insertInto("users").values(user).execute();
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

export async function findLiveSession(database: Database, id: string) {
  return database
    .selectFrom("sessions")
    .select(["id", "userId", "lastUsedAt"])
    .where("id", "=", id)
    .where("expiresAt", ">", now())
    .executeTakeFirst();
}

/** Of several requests at once one writes. */
export async function noteSessionUse(database: Database, id: string, everySeconds: number): Promise<void> {
  await sql`
    update sessions set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - make_interval(secs => ${everySeconds}))`.execute(
    database,
  );
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("sessions").where("id", "=", id).execute();
}

export async function deleteExpiredSessions(database: Database): Promise<void> {
  await database.deleteFrom("sessions").where("expiresAt", "<", now()).execute();
}
