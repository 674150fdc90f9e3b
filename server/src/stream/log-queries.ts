// Statements on `event_streams` and `event_log`.
import { sql } from "kysely";
import { plannedOften, type Database, type Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";
import { limitToPageBytes, type RowOfBytes } from "../platform/http/page.ts";
import { isEmailSent, mailFacts, sentEventId } from "../emails/rows/sent-events.ts";

/** Adds the counter of a project. Returns whether it was added, which it is not for a disabled project. */
export async function insertStream(tx: Tx, projectId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into event_streams (project_id) select id from projects where id = ${projectId} and not disabled
    on conflict (project_id) do nothing returning 1`.execute(tx);
  return rows.length > 0;
}

export async function findStream(database: Database, projectId: string) {
  return database
    .selectFrom("event_streams")
    .select(["firstNumber", "lastNumber"])
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/** Returns the last numbers of projects with a stream. */
export async function findLastNumbers(
  database: Database,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database
    .selectFrom("event_streams")
    .select(["projectId", "lastNumber"])
    .where("projectId", "=", sql<string>`any(${[...projectIds]}::uuid[])`)
    .execute();
  return new Map(rows.map(({ projectId, lastNumber }) => [projectId, lastNumber]));
}

/** Returns the enabled projects with outbox events to number. Reads one index entry per project with a stream. */
export async function listProjectsToNumber(database: Database, subscriber: string): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select s.project_id from event_streams s
    join projects p on p.id = s.project_id and not p.disabled
    where exists (select 1 from event_reactions r where r.project_id = s.project_id and r.subscriber = ${subscriber})`.execute(
    database,
  );
  return rows.map((row) => row.projectId);
}

/** Locks the counter of a project and returns the last number, or undefined if another process is numbering. */
export async function lockStream(tx: Tx, projectId: string): Promise<number | undefined> {
  const { rows } = await sql<{ lastNumber: number }>`
    select last_number from event_streams where project_id = ${projectId} for update skip locked`.execute(tx);
  return rows[0]?.lastNumber;
}

/** An event to number. */
export interface UnnumberedEvent {
  id: string;
  /** Null for most events of the project itself. */
  contactId: string | null;
  eventName: string;
  /** Null for `email.sent`, which is in the row of its email, and for events with `data`. */
  eventId: string | null;
  emailId: string | null;
  /** The data of an event of the project itself, otherwise null. */
  data: unknown;
  at: Date;
}

/**
 * Adds events to the log under the next numbers and moves the counter. Locks the contacts, so that a concurrent deletion either is visible
 * here or finds the new rows. The data of deleted contacts and events is null.
 */
export async function insertNumbered(
  tx: Tx,
  projectId: string,
  lastNumber: number,
  events: readonly UnnumberedEvent[],
): Promise<void> {
  const column = <Name extends keyof UnnumberedEvent>(name: Name) => events.map((event) => event[name]);
  const contactIds = events.flatMap(({ contactId }) => contactId ?? []);
  const emailIds = events.flatMap(({ eventId, emailId }) => (eventId === null ? (emailId ?? []) : []));
  await sql`
    ${plannedOften} with people as materialized (
      select id, email from contacts
      where project_id = ${projectId} and id = any(${contactIds}::uuid[])
      order by id for key share
    ), found as materialized (
      select v.id as key, v.id, v.data, v.email_id, v.created_at from events v
      where v.project_id = ${projectId} and v.id = any(${events.flatMap(({ eventId }) => eventId ?? [])}::uuid[])
      union all
      select e.id, ${sentEventId()}, ${mailFacts()}, e.id, e.sent_at from emails e
      join email_contents c on c.project_id = e.project_id and c.id = e.content_id
      where e.project_id = ${projectId} and e.id = any(${emailIds}::uuid[]) and ${isEmailSent(null)}
    ), numbered as (
      insert into event_log (project_id, number, id, type, contact_id, data, created_at)
      select ${projectId}, ${lastNumber} + i.place, coalesce(f.id, i.id), i.name, i.contact_id,
        case
          when i.contact_id is null then i.data
          when p.id is not null and (f.id is not null or i.data is not null) then
            jsonb_build_object('contact', jsonb_build_object('id', p.id, 'email', p.email)) || coalesce(i.data, jsonb_build_object(
              'emailId', f.email_id, 'properties', f.data))
        end,
        coalesce(f.created_at, i.at)
      from unnest(${column("id")}::uuid[], ${column("contactId")}::uuid[], ${column("eventName")}::text[],
        ${column("eventId")}::uuid[], ${column("emailId")}::uuid[], ${events.map(({ at }) => at.toISOString())}::timestamptz[],
        ${events.map(({ data }) => (data === null ? null : JSON.stringify(data)))}::jsonb[])
        with ordinality as i (id, contact_id, name, event_id, email_id, at, data, place)
      left join found f on f.key = coalesce(i.event_id, i.email_id)
      left join people p on p.id = i.contact_id
    )
    update event_streams set last_number = ${lastNumber + events.length} where project_id = ${projectId}`.execute(
    tx,
  );
  notify(tx, "stream");
}

export type LogRow = Row<"event_log", "number" | "id" | "type" | "data" | "createdAt">;

/** Returns a page of events above a number, which ends early if it would contain too many bytes. */
export async function listLogRows(
  database: Database,
  projectId: string,
  { after, limit }: { after: number; limit: number },
): Promise<Array<LogRow & RowOfBytes>> {
  const page = sql`
    select number, id, type, data, created_at from event_log
    where project_id = ${projectId} and number > ${after} order by number limit ${limit + 1}`;
  const size = sql`coalesce(octet_length(data::text), 0)`;
  const { rows } = await sql<
    LogRow & RowOfBytes
  >`${limitToPageBytes(page, { order: sql`order by number`, size })}`.execute(database);
  return rows;
}

/**
 * Removes the data of deleted contacts, and the responses that could repeat it. The numbers stay. The second statement also sees responses
 * that were recorded while the first one waited.
 */
export async function redactLogOf(tx: Tx, projectId: string, contactIds: readonly string[]): Promise<void> {
  const { rows } = await sql<{ number: number }>`
    update event_log set data = null
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[]) and data is not null
    returning number`.execute(tx);
  await sql`
    update event_deliveries set response_body = null
    where project_id = ${projectId} and number = any(${rows.map(({ number }) => number)}::bigint[])
      and response_body is not null`.execute(tx);
}

/** Returns the projects whose first kept event is older than the retention. */
export async function listProjectsToExpire(database: Database, days: number): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select s.project_id from event_streams s
    where s.first_number <= s.last_number and exists (
      select 1 from event_log l
      where l.project_id = s.project_id and l.recorded_at < now() - make_interval(days => ${days}::integer))`.execute(
    database,
  );
  return rows.map((row) => row.projectId);
}

/** Deletes up to `limit` of the oldest events of a project that are older than the retention. Returns how many. */
export async function deleteExpiredLog(
  tx: Tx,
  projectId: string,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with gone as (
      delete from event_log
      where project_id = ${projectId} and number = any(array(
        select number from event_log
        where project_id = ${projectId} and recorded_at < now() - make_interval(days => ${days}::integer)
        order by recorded_at, number limit ${limit}))
      returning number
    ), moved as (
      update event_streams set first_number = greatest(first_number, (select max(number) + 1 from gone))
      where project_id = ${projectId} and exists (select 1 from gone)
    )
    select count(*)::float8 as deleted from gone`.execute(tx);
  return rows[0]?.deleted ?? 0;
}
