// Reads event names with their counts and last times.
import { sql, type RawBuilder } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { NO_ID } from "../platform/ids.ts";
import { positionOf } from "./count-queries.ts";
import { deletedUntil, shownEvents } from "./deletion-queries.ts";
import { isEmailSent, mailFacts, sentEventId } from "../emails/rows/sent-events.ts";

export interface NamedEventsRow {
  name: string;
  count: number;
  lastSeenAt: Date;
}

/**
 * Returns names in order with their counts. Adds the counted events and the uncounted rows after the position
 * (docs/decisions/0090-event-name-counts.md). Sent emails are events without rows in `events`.
 */
export async function listNamedEvents(
  database: Database,
  projectId: string,
  limit: number,
): Promise<NamedEventsRow[]> {
  const before = await sql<{ position: string }>`select ${positionOf(projectId)} as position`.execute(
    database,
  );
  // The position read just before helps the planner. The position in the statement's snapshot decides.
  const isFresh = (id: RawBuilder<unknown>) =>
    sql`${id} >= ${before.rows[0]?.position ?? NO_ID}::uuid and ${id} >= ${positionOf(projectId)}`;
  const first = sql`order by name limit ${limit}`;
  const { rows } = await sql<NamedEventsRow>`
    ${plannedEachTime} with named as (
      select name, sum(count)::bigint as count from (
        (select name, sum(count) as count from event_name_counts where project_id = ${projectId}
         group by name having sum(count) > 0 ${first})
        union all
        (select v.name, count(*) from ${shownEvents(projectId)}
         where v.project_id = ${projectId} and ${isFresh(sql`v.id`)} group by v.name ${first})
        union all
        select ${EMAIL_SENT}, count(*) from emails e
        where e.project_id = ${projectId} and ${isEmailSent(null)} and ${isFresh(sentEventId())} having count(*) > 0
      ) each group by name ${first}
    )
    select n.name, n.count, l.last_seen_at from named n cross join lateral (
      select coalesce(
        (select e.created_at from events e where e.project_id = ${projectId} and e.name = n.name
         order by e.created_at desc limit 1),
        (select e.sent_at from emails e where e.project_id = ${projectId} and n.name = ${EMAIL_SENT} and ${isEmailSent(null)}
         order by ${sentEventId()} desc limit 1)) as last_seen_at
    ) l where l.last_seen_at is not null order by n.name`.execute(database);
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
  // Grouped, because `count(distinct …)` sorts all rows.
  const { rows } = await sql<{ count: number; contacts: number }>`
    ${plannedEachTime} select coalesce(sum(count), 0)::bigint as count, count(*) as contacts
    from (select count(*) as count ${ofName} group by e.contact_id) each`.execute(database);
  return rows[0] ?? { count: 0, contacts: 0 };
}

/** Maximum stored bytes of a sample. */
const SAMPLE_BYTES = 1_000_000;

/** Returns the data of the newest events of a name, newest first. Returns fewer if they are large. */
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
