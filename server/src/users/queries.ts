// Statements on `users` and `sessions`.
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";

export async function findUserByEmail(database: Database, email: string) {
  return database
    .selectFrom("users")
    .select(["id", "email", "password_hash"])
    .where("email", "=", email)
    .executeTakeFirst();
}

export async function findUserById(database: Database, id: string) {
  return database.selectFrom("users").select(["id", "email"]).where("id", "=", id).executeTakeFirst();
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

/** Whether the row is new; false when the address has an account. */
export async function insertUser(
  tx: Tx,
  user: { id: string; email: string; password_hash: string | null; verified_at: Date | null },
): Promise<boolean> {
  const result = await tx
    .insertInto("users")
    .values(user)
    .onConflict((conflict) => conflict.column("email").doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** People in the order of their accounts, with the number of their projects. */
export async function listUserRows(database: Database, after: string | null, limit: number) {
  let query = database
    .selectFrom("users as u")
    .select(["u.id", "u.email", "u.created_at"])
    .select((select) =>
      select
        .selectFrom("memberships as m")
        .whereRef("m.user_id", "=", "u.id")
        .select((count) => count.fn.countAll<number>().as("count"))
        .as("projects"),
    );
  if (after !== null) query = query.where("u.id", ">", after);
  return query.orderBy("u.id").limit(limit).execute();
}

export async function insertSession(
  tx: Tx,
  session: {
    id: string;
    user_id: string;
    expires_at: Date;
    address: string | null;
    user_agent: string | null;
  },
): Promise<void> {
  await tx.insertInto("sessions").values(session).execute();
}

export async function findLiveSession(database: Database, id: string) {
  return database
    .selectFrom("sessions")
    .select(["id", "user_id"])
    .where("id", "=", id)
    .where("expires_at", ">", now())
    .executeTakeFirst();
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("sessions").where("id", "=", id).execute();
}

export async function deleteExpiredSessions(database: Database): Promise<void> {
  await database.deleteFrom("sessions").where("expires_at", "<", now()).execute();
}
