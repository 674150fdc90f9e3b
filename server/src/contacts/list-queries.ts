// Statements for lists of contacts. Conditions apply to `contacts c`.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { limitToPageBytes, type RowOfBytes } from "../platform/http/page.ts";
import type { ContactPageRequest } from "./list-cursor.ts";
import { contactColumns, type ContactRow } from "./queries.ts";

type Condition = RawBuilder<SqlBool>;

export function isSubscribed(subscribed: boolean): Condition {
  return subscribed ? sql`c.subscribed` : sql`not c.subscribed`;
}

/** A contact on a page. */
export type ListedContactRow = ContactRow & RowOfBytes;

/** The data makes up nearly all of a page's size. */
export const DATA_BYTES = sql`octet_length(data::text)`;

function placeOf({ order, after }: ContactPageRequest) {
  const key = sql.ref(order.sort === "email" ? "c.email" : "c.id");
  const isAscending = order.dir === "asc";
  const behind = isAscending ? sql`${key} > ${after}` : sql`${key} < ${after}`;
  return {
    key,
    isBehind: after === null ? sql`true` : behind,
    ordered: isAscending ? sql`order by ${key}` : sql`order by ${key} desc`,
    fitting: {
      size: DATA_BYTES,
      order: sql`order by ${sql.ref(order.sort === "email" ? "email" : "id")} ${sql.raw(order.dir)}`,
    },
  };
}

const all = (conditions: readonly Condition[]) => sql.join([sql`true`, ...conditions], sql` and `);

/**
 * Returns one row more than the page, to detect a next page. The statement walks an index in list order, which is slow for rare conditions.
 */
export async function listContactRows(
  database: Database,
  projectId: string,
  conditions: readonly Condition[],
  page: ContactPageRequest,
): Promise<ListedContactRow[]> {
  const { isBehind, ordered, fitting } = placeOf(page);
  const found = sql`
    select ${contactColumns(projectId)} from contacts c
    where c.project_id = ${projectId} and ${isBehind} and ${all(conditions)}
    ${ordered} limit ${page.limit + 1}`;
  const { rows } = await sql<ListedContactRow>`${limitToPageBytes(found, fitting)}`.execute(database);
  return rows;
}

/** Returns the matches among the next `look` contacts. */
export async function listContactRowsNearby(
  database: Database,
  projectId: string,
  conditions: readonly Condition[],
  page: ContactPageRequest & { look: number },
): Promise<ListedContactRow[]> {
  const { isBehind, ordered, fitting } = placeOf(page);
  const found = sql`
    select ${contactColumns(projectId)} from (
      select * from contacts c where c.project_id = ${projectId} and ${isBehind} ${ordered} limit ${page.look}
    ) c
    where ${all(conditions)} ${ordered} limit ${page.limit + 1}`;
  const { rows } = await sql<ListedContactRow>`${limitToPageBytes(found, fitting)}`.execute(database);
  return rows;
}

/** Returns the sort key of the last of the next `look` contacts, or undefined if there are fewer. */
export async function findNearbyEnd(
  database: Database,
  projectId: string,
  page: ContactPageRequest & { look: number },
): Promise<string | undefined> {
  const { key, isBehind, ordered } = placeOf(page);
  const { rows } = await sql<{ key: string }>`
    select ${key} as key from contacts c where c.project_id = ${projectId} and ${isBehind} ${ordered}
    offset ${page.look - 1} limit 1`.execute(database);
  return rows[0]?.key;
}

/** Returns the first matches of a rare condition. Finds all matches by the best index, and returns their number. */
export async function listFewContactRows(
  database: Database,
  projectId: string,
  conditions: readonly Condition[],
  page: ContactPageRequest,
): Promise<{ rows: ListedContactRow[]; found: number }> {
  const { isBehind, ordered, fitting } = placeOf(page);
  const firsts = sql`
    select ${contactColumns(projectId)}, (select count(*) from found) as found
    from page join contacts c on c.project_id = ${projectId} and c.id = page.id`;
  const { rows } = await sql<ListedContactRow & { found: number }>`
    ${plannedEachTime} with found as materialized (
      select c.id, c.email from contacts c where c.project_id = ${projectId} and ${isBehind} and ${all(conditions)}
    ), page as (
      select c.id from found c ${ordered} limit ${page.limit + 1}
    ) ${limitToPageBytes(firsts, fitting)}`.execute(database);
  return { rows, found: rows[0]?.found ?? 0 };
}

export async function countContacts(
  database: Database,
  projectId: string,
  conditions: readonly Condition[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*) as count from contacts c where c.project_id = ${projectId} and ${all(conditions)}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Returns whether a project has more contacts than `count`, without counting the rest. */
export async function hasMoreContacts(
  database: Database,
  projectId: string,
  count: number,
): Promise<boolean> {
  const { rows } = await sql`
    ${plannedEachTime} select from contacts where project_id = ${projectId} offset ${count} limit 1`.execute(
    database,
  );
  return rows.length > 0;
}

/** Returns an expression for the ids of all matches as one byte string, 16 bytes per id, in order. */
export function idBytesOf(
  projectId: string,
  conditions: readonly Condition[],
  excludeIds: readonly string[],
) {
  return sql<Buffer>`coalesce((
    select string_agg(uuid_send(found.id), ''::bytea) from (
      select c.id from contacts c
      where c.project_id = ${projectId} and ${all(conditions)}
        and c.id <> all(${excludeIds}::uuid[])
      order by c.id
    ) found), ''::bytea)`;
}
