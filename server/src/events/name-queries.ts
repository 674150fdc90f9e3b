// Events by their names: which there are, how many, when the last came. From the index on names alone.
// Before it: event-names.ts. After it: nothing.
import { sql } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database.ts";
import { isSentEvent } from "./queries.ts";

export interface NamedEventsRow {
  name: string;
  count: number;
  last_seen_at: Date;
}

/** Names in their order, from one to the next through the index; mails that were sent are events without rows here. */
export async function listNamedEvents(
  database: Database,
  projectId: string,
  limit: number,
): Promise<NamedEventsRow[]> {
  const { rows } = await sql<NamedEventsRow>`
    ${plannedEachTime} with recursive names as (
      (select e.name from events e where e.project_id = ${projectId} order by e.name limit 1)
      union all
      select (select e.name from events e where e.project_id = ${projectId} and e.name > n.name order by e.name limit 1)
      from names n where n.name is not null
    ), listed as (select name from names where name is not null limit ${limit})
    select l.name,
      (select count(*) from events e where e.project_id = ${projectId} and e.name = l.name) as count,
      (select e.created_at from events e where e.project_id = ${projectId} and e.name = l.name
       order by e.created_at desc limit 1) as last_seen_at
    from listed l
    union all
    select ${EMAIL_SENT}, count(*), max(e.sent_at) from emails e
    where e.project_id = ${projectId} and ${isSentEvent(null)} having count(*) > 0
    order by 1`.execute(database);
  return rows;
}

export async function countEventsOfName(
  database: Database,
  projectId: string,
  name: string,
): Promise<{ count: number; contacts: number }> {
  const { rows } =
    name === EMAIL_SENT
      ? await sql<{ count: number; contacts: number }>`
          select count(*) as count, count(distinct e.contact_id) as contacts from emails e
          where e.project_id = ${projectId} and ${isSentEvent(null)}`.execute(database)
      : await sql<{ count: number; contacts: number }>`
          ${plannedEachTime} select count(*) as count, count(distinct e.contact_id) as contacts from events e
          where e.project_id = ${projectId} and e.name = ${name}`.execute(database);
  return rows[0] ?? { count: 0, contacts: 0 };
}

/** Deletes up to `limit` events of a name that were there at an instant. @returns how many */
export async function deleteNamedEvents(
  tx: Tx,
  projectId: string,
  { name, until, limit }: { name: string; until: Date; limit: number },
): Promise<number> {
  const result = await sql`
    with batch as materialized (
      select e.id from events e
      where e.project_id = ${projectId} and e.name = ${name} and e.created_at <= ${until.toISOString()}::timestamptz
      order by e.created_at limit ${limit}
    )
    delete from events e using batch where e.project_id = ${projectId} and e.id = batch.id`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}
