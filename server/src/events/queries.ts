// Statements on `events`, the append-only record of contact events. Sent emails are stored only in `emails` and are read as events from
// there (docs/decisions/0025).
import { sql, type RawBuilder } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";
import { listEventsBeingDeleted, notBeingDeleted } from "./deletion-queries.ts";
import { firstEventIdAt, isEmailSent, mailFacts, sentEventId } from "../emails/rows/sent-events.ts";
import { reactToEventsFrom } from "../reactions/reactions.ts";
import { limitToPageBytes, type RowOfBytes } from "../platform/http/page.ts";

export interface NewEvent extends Row<
  "events",
  "projectId" | "id" | "contactId" | "name" | "emailId" | "createdAt"
> {
  data: Record<string, unknown> | null;
  /** Whether a call with a public key caused it, the one of its email included. */
  fromPublicKey: true | null;
}

/** Inserts events and the outbox events for their subscribers in one statement, because every tracked event runs it. */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const ofEmails = events.filter(({ emailId }) => emailId !== null);
  const source = sql`
    select i.project_id, i.id, i.contact_id, i.name, i.data, i.email_id, i.created_at, coalesce(i.from_public_key,
      case when (i.project_id, i.email_id) in (select project_id, id from public_emails) then true end)
    from unnest(
      ${events.map((event) => event.projectId)}::uuid[],
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.contactId)}::uuid[],
      ${events.map((event) => event.name)}::text[],
      ${events.map((event) => (event.data === null ? null : JSON.stringify(event.data)))}::jsonb[],
      ${events.map((event) => event.emailId)}::uuid[],
      ${events.map((event) => event.createdAt.toISOString())}::timestamptz[],
      ${events.map((event) => event.fromPublicKey)}::boolean[]
    ) as i (project_id, id, contact_id, name, data, email_id, created_at, from_public_key)`;
  await sql`
    with public_emails as materialized (
      select e.project_id, e.id
      from unnest(
        ${ofEmails.map(({ projectId }) => projectId)}::uuid[], ${ofEmails.map(({ emailId }) => emailId)}::uuid[]
      ) as i (project_id, id)
      join emails e on e.project_id = i.project_id and e.id = i.id
      where e.from_public_key is not null
    ), ${insertEventsFrom(source)} select`.execute(tx);
  notify(tx, "workflows");
}

/**
 * Returns CTEs for a larger statement. They insert the events of the query `source` (project, id, contact, name, data, email, time) and the
 * outbox events for their subscribers.
 */
export function insertEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    recorded as (
      insert into events (project_id, id, contact_id, name, data, email_id, created_at, from_public_key) ${source}
      returning project_id, id, contact_id, name, email_id, from_public_key
    ), reacted as (
      ${reactToEventsFrom(sql`select project_id, id, contact_id, name, id, email_id, from_public_key from recorded`)}
    )`;
}

export interface SameEvent {
  projectId: string;
  name: string;
  data: Readonly<Record<string, unknown>>;
  /** The contacts for whom a call with a public key caused it. */
  contactsFromPublicKey: readonly string[];
}

/** As a query for `insertEventsFrom`: one event of this name and data for each contact of `source` (a query of `contact_id`). */
export function eventsOf(event: SameEvent, source: RawBuilder<unknown>): RawBuilder<unknown> {
  const marked = event.contactsFromPublicKey;
  const isMarked =
    marked.length === 0
      ? sql`null::boolean`
      : sql`case when contact_id = any(${marked}::uuid[]) then true end`;
  return sql`
    select ${event.projectId}::uuid, new_id(), contact_id, ${event.name}::text, ${JSON.stringify(event.data)}::jsonb,
      null::uuid, now(), ${isMarked}
    from (${source}) members`;
}

export type EventRow = Row<"events", "id" | "name" | "contactId" | "data" | "emailId" | "createdAt">;

export interface EventFilter {
  name?: string | undefined;
  contactId?: string | undefined;
  since?: Date | undefined;
}

const allOf = (conditions: ReadonlyArray<RawBuilder<unknown>>) => sql.join(conditions, sql` and `);

/** Returns a page of recorded events `v`. */
function recordedEvents(conditions: ReadonlyArray<RawBuilder<unknown>>, page: RawBuilder<unknown>) {
  return sql`(
    select v.id, v.name, v.contact_id, v.data, v.email_id, v.created_at from events v
    where ${allOf(conditions)} order by v.id ${page})`;
}

/** Returns a page of sent emails `e` as events. */
function sentEvents(conditions: ReadonlyArray<RawBuilder<unknown>>, page: RawBuilder<unknown>) {
  return sql`(
    select ${sentEventId()} as id, ${EMAIL_SENT}::text as name, e.contact_id, ${mailFacts()} as data, e.id as email_id,
      e.sent_at as created_at
    from emails e join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where ${allOf(conditions)}
    order by ${sentEventId()} ${page})`;
}

/** Reads each kind through its index only up to the page size, then merges the two. */
export async function listEventRows(
  database: Database,
  projectId: string,
  { name, contactId, since }: EventFilter,
  { limit, before }: { limit: number; before: string | null },
): Promise<Array<EventRow & RowOfBytes>> {
  const page = sql`desc limit ${limit + 1}`;
  const recorded = [sql`v.project_id = ${projectId}`];
  const from = since === undefined ? null : sql`${since.toISOString()}::timestamptz`;
  const sent: RawBuilder<unknown>[] = [sql`e.project_id = ${projectId}`, isEmailSent(from)];
  const isShown = notBeingDeleted(await listEventsBeingDeleted(database, projectId));
  if (isShown !== null) recorded.push(isShown);
  // Without the second condition, an unknown name would cause a scan of all events.
  if (name !== undefined)
    recorded.push(sql`v.name = ${name}
      and exists (select 1 from events f where f.project_id = ${projectId} and f.name = ${name})`);
  if (contactId !== undefined) {
    recorded.push(sql`v.contact_id = ${contactId}`);
    sent.push(sql`e.contact_id = ${contactId}`);
  }
  // An id is never older than its event.
  if (from !== null) recorded.push(sql`v.id >= ${firstEventIdAt(from)} and v.created_at >= ${from}`);
  if (before !== null) {
    recorded.push(sql`v.id < ${before}`);
    sent.push(sql`${sentEventId()} < ${before}`);
  }
  const kinds = [
    ...(name === EMAIL_SENT ? [] : [recordedEvents(recorded, page)]),
    ...(name === undefined || name === EMAIL_SENT ? [sentEvents(sent, page)] : []),
  ];
  const found = sql`select * from (${sql.join(kinds, sql` union all `)}) told order by id ${page}`;
  const fitting = { order: sql`order by id desc`, size: sql`coalesce(octet_length(data::text), 0)` };
  const { rows } = await sql<EventRow & RowOfBytes>`${limitToPageBytes(found, fitting)}`.execute(database);
  return rows;
}

export async function listEventRowsByEmail(
  database: Database,
  projectId: string,
  emailId: string,
  limit: number,
): Promise<EventRow[]> {
  const page = sql`limit ${limit}`;
  const recorded = recordedEvents([sql`v.project_id = ${projectId} and v.email_id = ${emailId}`], page);
  const sent = sentEvents([sql`e.project_id = ${projectId} and e.id = ${emailId}`, isEmailSent(null)], page);
  const { rows } = await sql<EventRow>`
    select * from (${recorded} union all ${sent}) told order by id ${page}`.execute(database);
  return rows;
}
