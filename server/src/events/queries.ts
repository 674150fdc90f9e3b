// Statements on `events`, the append-only record of what happened to contacts.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import type { NewEvent } from "./events.ts";

export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  await sql`
    insert into events (project_id, id, contact_id, name, data, email_id, created_at)
    select * from unnest(
      ${events.map((event) => event.projectId)}::uuid[],
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.contactId)}::uuid[],
      ${events.map((event) => event.name)}::text[],
      ${events.map((event) => (event.data === null ? null : JSON.stringify(event.data)))}::jsonb[],
      ${events.map((event) => event.emailId)}::uuid[],
      ${events.map((event) => event.createdAt.toISOString())}::timestamptz[]
    )`.execute(tx);
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
