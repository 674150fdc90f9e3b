// Statements on the registered fields, their fill rates and values, and their removal.
import { sql } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../../platform/database/database.ts";
import type { JobKey } from "../../platform/background/jobs.ts";
import { containing, containsAddressPart } from "../../platform/http/page.ts";
import { DATE, type FieldType } from "../rules.ts";
import { shownData } from "../shown-data-queries.ts";

export interface FieldRow {
  field: string;
  type: FieldType;
}

export async function listFieldRows(database: Database, projectId: string): Promise<FieldRow[]> {
  const { rows } = await sql<FieldRow>`
    select field, type from contact_fields where project_id = ${projectId} order by field`.execute(database);
  return rows;
}

/** Returns the keys that are registered as fields of the project. */
export async function findFieldsAmong(
  database: Database,
  projectId: string,
  keys: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ field: string }>`
    select field from contact_fields where project_id = ${projectId} and field = any(${keys})`.execute(
    database,
  );
  return rows.map((row) => row.field);
}

export async function findField(
  database: Database,
  projectId: string,
  key: string,
): Promise<FieldRow | undefined> {
  const { rows } = await sql<FieldRow>`
    select field, type from contact_fields where project_id = ${projectId} and field = ${key}`.execute(
    database,
  );
  return rows[0];
}

export async function deleteFieldRow(tx: Tx, projectId: string, key: string): Promise<boolean> {
  const { rows } = await sql`
    delete from contact_fields where project_id = ${projectId} and field = ${key} returning 1`.execute(tx);
  return rows.length === 1;
}

export async function updateFieldType(tx: Tx, projectId: string, { field, type }: FieldRow): Promise<void> {
  await sql`update contact_fields set type = ${type}
    where project_id = ${projectId} and field = ${field} and type <> ${type}`.execute(tx);
}

/** The visible data of a project's contacts. */
const shownContacts = (projectId: string) =>
  sql`(select ${shownData(projectId)} as data from contacts c where c.project_id = ${projectId}) shown`;

/** Counts all contacts and the ones with each of a few keys. Scans once, with a cheap test per key. */
export async function countContactsWithKeys(
  database: Database,
  projectId: string,
  keys: readonly string[],
): Promise<{ total: number; counts: number[] }> {
  const tests = keys.map((key) => sql`count(*) filter (where data ? ${key})`);
  const { rows } = await sql<{ total: number; counts: number[] }>`
    ${plannedEachTime} select count(*) as total, array[${sql.join(tests)}]::float8[] as counts
    from ${shownContacts(projectId)}`.execute(database);
  return rows[0] ?? { total: 0, counts: [] };
}

/** Counts all contacts and the ones with each key, in the time it takes to list the keys of every contact. */
export async function countContactsByKey(
  database: Database,
  projectId: string,
): Promise<{ total: number; counts: ReadonlyMap<string, number> }> {
  const { rows } = await sql<{ key: string | null; count: number }>`
    ${plannedEachTime} select null as key, count(*) as count from contacts where project_id = ${projectId}
    union all
    select key, count(*) from ${shownContacts(projectId)}, jsonb_object_keys(data) as key group by key`.execute(
    database,
  );
  const total = rows.find((row) => row.key === null)?.count ?? 0;
  return { total, counts: new Map(rows.map((row) => [row.key ?? "", row.count])) };
}

export async function countContactsWithKey(
  database: Database,
  projectId: string,
  key: string | null,
): Promise<number> {
  const has = key === null ? sql`true` : sql`data ? ${key}`;
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) as count from ${shownContacts(projectId)} where ${has}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Counts the values of a key by type, most frequent first. In a tie, string comes first. */
export async function countTypesOfKey(
  database: Database,
  projectId: string,
  key: string,
): Promise<Array<{ type: FieldType; count: number }>> {
  const { rows } = await sql<{ type: FieldType; count: number }>`
    ${plannedEachTime} select type, count(*) as count from (select case
        when jsonb_typeof(value) in ('number', 'boolean') then jsonb_typeof(value)
        when jsonb_typeof(value) = 'string' and value #>> '{}' ~ ${DATE.source} then 'date'
        else 'string'
      end as type
    from (select data -> ${key} as value from ${shownContacts(projectId)} where data ? ${key}) found) typed
    group by type order by count(*) desc, type = 'string' desc, type`.execute(database);
  return rows;
}

export interface ValuePage {
  search: string;
  limit: number;
}

/**
 * Returns distinct values of a key, most frequent first. `offset 0` makes PostgreSQL deduplicate before it applies the other conditions.
 */
export async function listValuesOfKey(
  database: Database,
  projectId: string,
  key: string,
  page: ValuePage & { maxLength: number },
): Promise<unknown[]> {
  const isSought = page.search === "" ? sql`true` : sql`value #>> '{}' ilike ${containing(page.search)}`;
  const { rows } = await sql<{ value: unknown }>`
    ${plannedEachTime} select value from (
      select data -> ${key} as value, count(*) as count from ${shownContacts(projectId)}
      where data ? ${key} group by 1 offset 0
    ) found
    where length(value::text) <= ${page.maxLength} and ${isSought}
    order by count desc, value limit ${page.limit}`.execute(database);
  return rows.map((row) => row.value);
}

/** Returns the values of a key among the newest contacts, newest first. */
export async function listNewestValues(
  database: Database,
  projectId: string,
  key: string,
  contacts: number,
): Promise<unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    ${plannedEachTime} select newest.data -> ${key} as value from (
      select c.id, ${shownData(projectId)} as data from contacts c where c.project_id = ${projectId}
      order by c.id desc limit ${contacts}
    ) newest where newest.data ? ${key} order by newest.id desc`.execute(database);
  return rows.map((row) => row.value);
}

export async function listStates(database: Database, projectId: string): Promise<boolean[]> {
  const { rows } = await sql<{ value: boolean }>`
    ${plannedEachTime} select subscribed as value from contacts where project_id = ${projectId} group by 1 order by count(*) desc, 1`.execute(
    database,
  );
  return rows.map((row) => row.value);
}

/** Returns addresses in alphabetical order, because all of them are equally frequent. */
export async function listAddresses(
  database: Database,
  projectId: string,
  page: ValuePage,
): Promise<string[]> {
  const isSought = page.search === "" ? sql`true` : containsAddressPart("email", page.search);
  const { rows } = await sql<{ email: string }>`
    ${plannedEachTime} select email from contacts where project_id = ${projectId} and ${isSought}
    order by email limit ${page.limit}`.execute(database);
  return rows.map((row) => row.email);
}

/** Returns distinct times, newest first. */
export async function listInstants(
  database: Database,
  projectId: string,
  field: "createdAt" | "updatedAt",
  page: ValuePage,
): Promise<string[]> {
  const text = sql`to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const isSought = page.search === "" ? sql`true` : sql`${text} ilike ${containing(page.search)}`;
  const { rows } = await sql<{ value: string }>`
    ${plannedEachTime} select ${text} as value from (
      select date_trunc('milliseconds', ${sql.ref(field)}) as value from contacts
      where project_id = ${projectId} group by 1
    ) found
    where ${isSought} order by found.value desc limit ${page.limit}`.execute(database);
  return rows.map((row) => row.value);
}

export interface NamedRow {
  id: string;
  name: string;
}

/** Returns the last id of the next page of contacts, and the number of contacts on it. */
export async function findEndOfPage(
  tx: Tx,
  projectId: string,
  page: { after: string | null; limit: number },
): Promise<{ last: string | null; count: number }> {
  const isBehind = page.after === null ? sql`true` : sql`id > ${page.after}`;
  const { rows } = await sql<{ last: string | null; count: number }>`
    select (array_agg(id order by id desc))[1] as last, count(*) as count from (
      select id from contacts where project_id = ${projectId} and ${isBehind} order by id limit ${page.limit}
    ) page`.execute(tx);
  return rows[0] ?? { last: null, count: 0 };
}

/** Locks the contacts of a page that have the key, in the lock order of upserts, and returns their ids. */
export async function lockContactsWithKey(
  tx: Tx,
  projectId: string,
  key: string,
  page: { after: string | null; last: string },
): Promise<string[]> {
  const isBehind = page.after === null ? sql`true` : sql`id > ${page.after}`;
  const { rows } = await sql<{ id: string }>`
    select id from contacts
    where project_id = ${projectId} and ${isBehind} and id <= ${page.last} and data ? ${key}
    order by email for no key update`.execute(tx);
  return rows.map((row) => row.id);
}

/**
 * Removes a key from locked contacts and returns the changed ids. A registered field was written again, so only contacts without changes
 * since the job was added lose the key. `updated_at` stays the same, because no caller changed these contacts.
 */
export async function removeKey(
  tx: Tx,
  { projectId, id: jobId }: JobKey,
  key: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update contacts c set data = c.data - ${key}::text
    where c.project_id = ${projectId} and c.id = any(${ids}::uuid[])
      and (not exists (select 1 from contact_fields f where f.project_id = ${projectId} and f.field = ${key})
           or c.updated_at < (select j.created_at from jobs j where j.project_id = ${projectId} and j.id = ${jobId}))
    returning c.id`.execute(tx);
  return rows.map((row) => row.id);
}
