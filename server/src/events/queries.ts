// Statements on `events`, the append-only record of what happened to contacts.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import type { NewEvent } from "./events.ts";

/** Whether a tracked segment of the project waits for this event; events of the service change nothing else of a contact. */
const isAwaited = sql`exists (
  select 1 from segments s
  where s.project_id = e.project_id and s.track_membership and s.type = 'DYNAMIC'
    and s.causes && array[e.name, case when e.name ~ '^(email|segment)\\.' then e.name else '*' end])`;

/** Inserts events, and a note for those that tracked segments must look at, in one statement: it is on the way of every tracked event. */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const source = sql`
    select * from unnest(
      ${events.map((event) => event.projectId)}::uuid[],
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.contactId)}::uuid[],
      ${events.map((event) => event.name)}::text[],
      ${events.map((event) => (event.data === null ? null : JSON.stringify(event.data)))}::jsonb[],
      ${events.map((event) => event.emailId)}::uuid[],
      ${events.map((event) => event.createdAt.toISOString())}::timestamptz[])`;
  await sql`with ${insertEventsFrom(source)} select`.execute(tx);
}

/**
 * As CTEs of a larger statement: the events that `source` is a query of (project, id, contact, name, data, mail, time), and
 * a note for those that tracked segments must look at.
 */
export function insertEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    recorded as (
      insert into events (project_id, id, contact_id, name, data, email_id, created_at) ${source}
      returning project_id, id, contact_id, name
    ), noted as (
      insert into contact_changes (project_id, id, contact_id, cause)
      select project_id, id, contact_id, name from recorded e where ${isAwaited}
    )`;
}

/**
 * As part of a larger statement: one event of this name and data for each contact of `source` (a query of `contact_id`),
 * noted for the tracked segments that wait for it.
 */
export function insertEventsOf(
  event: { projectId: string; name: string; data: Readonly<Record<string, unknown>> },
  source: RawBuilder<unknown>,
) {
  return sql`
    insert into events (project_id, id, contact_id, name, data)
    select ${event.projectId}::uuid, new_id(), contact_id, ${event.name}, ${JSON.stringify(event.data)}::jsonb
    from (${source}) members`;
}

/** Notes contacts that changed without an event, in the projects that track a segment. */
export async function insertContactChanges(
  tx: Tx,
  changes: ReadonlyArray<{ projectId: string; id: string; contactId: string }>,
): Promise<void> {
  await sql`
    insert into contact_changes (project_id, id, contact_id)
    select i.project_id, i.id, i.contact_id from unnest(
      ${changes.map((change) => change.projectId)}::uuid[],
      ${changes.map((change) => change.id)}::uuid[],
      ${changes.map((change) => change.contactId)}::uuid[]
    ) as i (project_id, id, contact_id)
    where exists (select 1 from segments s where s.project_id = i.project_id and s.track_membership and s.type = 'DYNAMIC')`.execute(
    tx,
  );
}

/** Which of these projects track a segment. */
export async function listTrackingProjects(tx: Tx, projectIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ project_id: string }>`
    select distinct project_id from segments
    where project_id = any(${projectIds}::uuid[]) and track_membership and type = 'DYNAMIC'`.execute(tx);
  return new Set(rows.map((row) => row.project_id));
}

export async function listChangedProjects(database: Database): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`select distinct project_id from contact_changes`.execute(
    database,
  );
  return rows.map((row) => row.project_id);
}

/** Takes the oldest notes of a project: they are gone when the transaction commits. */
export async function deleteContactChanges(tx: Tx, projectId: string, limit: number) {
  const { rows } = await sql<{ contact_id: string; cause: string | null }>`
    with oldest as materialized (
      select id from contact_changes where project_id = ${projectId} order by id limit ${limit} for update skip locked
    )
    delete from contact_changes c using oldest where c.project_id = ${projectId} and c.id = oldest.id
    returning c.contact_id, c.cause`.execute(tx);
  return rows;
}

export interface EventRow {
  id: string;
  name: string;
  contact_id: string;
  data: unknown;
  email_id: string | null;
  created_at: Date;
}

const COLUMNS = ["id", "name", "contact_id", "data", "email_id", "created_at"] as const;

export interface EventFilter {
  name?: string | undefined;
  contactId?: string | undefined;
  since?: Date | undefined;
}

export async function listEventRows(
  database: Database,
  projectId: string,
  filter: EventFilter,
  page: { limit: number; before: string | null },
): Promise<EventRow[]> {
  let query = database.selectFrom("events").select(COLUMNS).where("project_id", "=", projectId);
  if (filter.name !== undefined) query = query.where("name", "=", filter.name);
  if (filter.contactId !== undefined) query = query.where("contact_id", "=", filter.contactId);
  if (filter.since !== undefined) query = query.where("created_at", ">=", filter.since);
  if (page.before !== null) query = query.where("id", "<", page.before);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export async function listEventRowsByEmail(
  database: Database,
  projectId: string,
  emailId: string,
  limit: number,
): Promise<EventRow[]> {
  return database
    .selectFrom("events")
    .select(COLUMNS)
    .where("project_id", "=", projectId)
    .where("email_id", "=", emailId)
    .orderBy("id")
    .limit(limit)
    .execute();
}
