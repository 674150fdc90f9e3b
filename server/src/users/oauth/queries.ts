// Statements on `identities`.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Person } from "./providers.ts";

/** Returns the account connected with a person of another service. */
export async function findIdentityUser(database: Database, { issuer, subject }: Person) {
  return database
    .selectFrom("identities as i")
    .innerJoin("users as u", "u.id", "i.userId")
    .select(["u.id", "u.email"])
    .where("i.issuer", "=", issuer)
    .where("i.subject", "=", subject)
    .executeTakeFirst();
}

/** Returns false if the identity is already connected with an account. */
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

/** Returns the issuer of the deleted identity, or undefined if there is none. */
export async function deleteIdentity(tx: Tx, userId: string, id: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("identities")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .returning("issuer")
    .executeTakeFirst();
  return row?.issuer;
}
