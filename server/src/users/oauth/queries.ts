// Statements on `identities`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Person } from "./providers.ts";

/** Whose account somebody of another service has here. */
export async function findIdentityUser(database: Database, { issuer, subject }: Person) {
  return database
    .selectFrom("identities as i")
    .innerJoin("users as u", "u.id", "i.userId")
    .select(["u.id", "u.email"])
    .where("i.issuer", "=", issuer)
    .where("i.subject", "=", subject)
    .executeTakeFirst();
}

/** False where that one is connected with an account already. */
export async function insertIdentity(tx: Tx, id: string, userId: string, person: Person): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into identities (id, issuer, subject, user_id, email)
    values (${id}, ${person.issuer}, ${person.subject}, ${userId}, ${person.email})
    on conflict (issuer, subject) do nothing`.execute(tx);
  return numAffectedRows === 1n;
}

export async function listIdentityRows(database: Database, userId: string) {
  return database
    .selectFrom("identities")
    .select(["id", "issuer", "email", "createdAt"])
    .where("userId", "=", userId)
    .orderBy("id")
    .execute();
}

/** The issuer of what was taken away; undefined where there is no such one. */
export async function deleteIdentity(tx: Tx, userId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("identities")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning("issuer")
    .executeTakeFirst();
  return row?.issuer;
}
