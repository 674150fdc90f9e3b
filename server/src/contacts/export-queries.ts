// Reads contacts for exports in keyset batches, so that no export is held in memory as a whole.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { contactColumns, type ContactRow } from "./queries.ts";
import { shownData } from "./shown-data-queries.ts";

/** Conditions on `contacts c`, joined with AND. */
export type Conditions = ReadonlyArray<RawBuilder<SqlBool>>;

interface Batch {
  after: string | null;
  limit: number;
}

function isIn(projectId: string, conditions: Conditions, after: string | null) {
  const isBehind = after === null ? [] : [sql<SqlBool>`c.id > ${after}`];
  return sql.join([sql<SqlBool>`c.project_id = ${projectId}`, ...isBehind, ...conditions], sql` and `);
}

/** Returns the next contacts, oldest first. */
export async function listContactsAfter(
  database: Database,
  projectId: string,
  conditions: Conditions,
  { after, limit }: Batch,
): Promise<ContactRow[]> {
  const { rows } = await sql<ContactRow>`
    select ${contactColumns(projectId)} from contacts c
    where ${isIn(projectId, conditions, after)} order by c.id limit ${limit}`.execute(database);
  return rows;
}

/** Returns the keys in the data of the next contacts, the id of the last contact, and the number of contacts. */
export async function listDataKeysAfter(
  database: Database,
  projectId: string,
  conditions: Conditions,
  { after, limit }: Batch,
): Promise<{ keys: string[]; last: string | null; count: number }> {
  const { rows } = await sql<{ keys: string[]; last: string | null; count: number }>`
    with batch as materialized (
      select c.id, ${shownData(projectId)} as data from contacts c where ${isIn(projectId, conditions, after)} order by c.id limit ${limit}
    )
    select array(select distinct key from batch, jsonb_object_keys(batch.data) as key) as keys,
      (select id from batch order by id desc limit 1) as last,
      (select count(*) from batch) as count`.execute(database);
  return rows[0] ?? { keys: [], last: null, count: 0 };
}

/** Returns the registered keys in the order of first use. */
export async function listFieldKeys(database: Database, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("contact_fields")
    .select("field")
    .where("projectId", "=", projectId)
    .orderBy("createdAt")
    .orderBy("field")
    .execute();
  return rows.map((row) => row.field);
}
