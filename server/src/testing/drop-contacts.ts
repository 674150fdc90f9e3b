// Deletes contacts in tests, without the other consequences of a deletion.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";

/** Detaches the emails of contacts and deletes the contacts. */
export async function dropContacts(database: Database, ids: readonly string[]): Promise<void> {
  await sql`update emails set contact_id = null where contact_id = any(${ids}::uuid[])`.execute(database);
  await sql`delete from contacts where id = any(${ids}::uuid[])`.execute(database);
}
