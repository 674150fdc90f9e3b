// Statements over contacts that match a compiled filter on `contacts c`.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { limitToPageBytes } from "../platform/http/page.ts";
import { DATA_BYTES, type ListedContactRow } from "./list-queries.ts";
import { contactColumns } from "./queries.ts";

export async function countContactsMatching(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) as count from contacts c where c.project_id = ${projectId} and ${matches}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Newest first. */
export async function listContactsMatching(
  database: Database,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  page: { limit: number; offset: number },
): Promise<ListedContactRow[]> {
  const found = sql`
    select ${contactColumns(projectId)} from contacts c
    where c.project_id = ${projectId} and ${matches}
    order by c.id desc limit ${page.limit} offset ${page.offset}`;
  const order = sql`order by id desc`;
  const { rows } = await sql<ListedContactRow>`
    ${plannedEachTime} ${limitToPageBytes(found, { size: DATA_BYTES, order })}`.execute(database);
  return rows;
}

/** Returns the condition that a contact `c` has this id and matches. */
export function alsoIs(contactId: string, matches: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql<SqlBool>`c.id = ${contactId}::uuid and ${matches}`;
}
