// Events by their names: which there are, how many, when the last came. From the index on names alone.
// Before it: event-names.ts. After it: nothing.
import { sql } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database } from "../platform/database.ts";
import { deletedUntil } from "./deletion-queries.ts";
import { isEmailSent, mailFacts } from "../emails/reading/sent-events.ts";

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
  const ofName = sql`from events e where e.project_id = ${projectId} and e.name = n.name`;
  const { rows } = await sql<NamedEventsRow>`
    ${plannedEachTime} with recursive names as (
      (select e.name from events e where e.project_id = ${projectId} order by e.name limit 1)
      union all
      select (select e.name from events e where e.project_id = ${projectId} and e.name > n.name order by e.name limit 1)
      from names n where n.name is not null
    ), shown as (
      select name, deleted_until from (
        select name, ${deletedUntil(projectId, sql`names.name`)} as deleted_until from names where name is not null offset 0
      ) n
      where exists (select 1 ${ofName} and e.created_at > n.deleted_until)
      limit ${limit}
    )
    select n.name,
      (select count(*) ${ofName} and e.created_at > n.deleted_until) as count,
      (select e.created_at ${ofName} order by e.created_at desc limit 1) as last_seen_at
    from shown n
    union all
    select ${EMAIL_SENT}, count(*), max(e.sent_at) from emails e
    where e.project_id = ${projectId} and ${isEmailSent(null)} having count(*) > 0
    order by 1`.execute(database);
  return rows;
}

export async function countEventsOfName(
  database: Database,
  projectId: string,
  name: string,
): Promise<{ count: number; contacts: number }> {
  const ofName =
    name === EMAIL_SENT
      ? sql`from emails e where e.project_id = ${projectId} and ${isEmailSent(null)}`
      : sql`from events e where e.project_id = ${projectId} and e.name = ${name}
          and e.created_at > ${deletedUntil(projectId, sql`${name}`)}`;
  // Grouped, because `count(distinct …)` sorts all of them.
  const { rows } = await sql<{ count: number; contacts: number }>`
    ${plannedEachTime} select coalesce(sum(count), 0)::bigint as count, count(*) as contacts
    from (select count(*) as count ${ofName} group by e.contact_id) each`.execute(database);
  return rows[0] ?? { count: 0, contacts: 0 };
}

/** What a sample may hold in bytes as it is stored. */
const SAMPLE_BYTES = 1_000_000;

/** The data of the newest events of a name, newest first; fewer when they are large. */
export async function listNewestData(
  database: Database,
  projectId: string,
  name: string,
  limit: number,
): Promise<unknown[]> {
  const newest =
    name === EMAIL_SENT
      ? sql`
          select ${mailFacts()} as data, e.sent_at as at from emails e
          join email_contents c on c.project_id = e.project_id and c.id = e.content_id
          where e.project_id = ${projectId} and ${isEmailSent(null)}
          order by sent_event_id(e.id, e.sent_at) desc limit ${limit}`
      : sql`
          select e.data, e.created_at as at from events e
          where e.project_id = ${projectId} and e.name = ${name}
            and e.created_at > ${deletedUntil(projectId, sql`${name}`)}
          order by e.created_at desc limit ${limit}`;
  const { rows } = await sql<{ data: unknown }>`
    ${plannedEachTime} select data from (
      select data, at, coalesce(sum(pg_column_size(data)) over (order by at desc rows unbounded preceding), 0) as bytes,
        row_number() over (order by at desc) as place
      from (${newest}) newest
    ) sized
    where place = 1 or bytes <= ${SAMPLE_BYTES} order by place`.execute(database);
  return rows.map((row) => row.data);
}
