// Statements on `event_subscriptions` and `event_reactions`.
import { sql, type RawBuilder } from "kysely";
import { EMAIL_SENT, type ProjectEventType } from "@postloft/contract/event-names.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";

/** The subscription to every event. No event has this name, because names have at least one character. */
export const EVERY_EVENT = "";

/**
 * Returns a statement part that adds one outbox event per subscriber and event of the query `source` (project, id, contact, name, event,
 * email). Events other than the ones of emails and segments may also have changed their contact.
 */
export function insertOutboxEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into event_reactions (project_id, subscriber, id, contact_id, event_name, event_id, email_id, from_public_key)
    select distinct e.project_id, s.subscriber, e.id, e.contact_id, e.name, e.event_id, e.email_id, e.from_public_key
    from (${source}) as e (project_id, id, contact_id, name, event_id, email_id, from_public_key)
    join event_subscriptions s on s.project_id = e.project_id
      and s.event_name = any(array[e.name, ${EVERY_EVENT}, case when e.name ~ '^(email|segment)\\.' then e.name else '*' end])`;
}

/** Does the same for sent emails. `source` is a query of project, contact and email. */
export function insertSentOutboxEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertOutboxEventsFrom(sql`
    select project_id, new_id(), contact_id, ${EMAIL_SENT}::text, null::uuid, email_id, null::boolean
    from (${source}) as sent (project_id, contact_id, email_id)`);
}

export async function insertSentOutboxEvents(
  tx: Tx,
  mails: ReadonlyArray<{ projectId: string; contactId: string; emailId: string }>,
): Promise<void> {
  const source = sql`
    select * from unnest(
      ${mails.map(({ projectId }) => projectId)}::uuid[],
      ${mails.map(({ contactId }) => contactId)}::uuid[],
      ${mails.map(({ emailId }) => emailId)}::uuid[])`;
  await insertSentOutboxEventsFrom(source).execute(tx);
}

/**
 * Adds outbox events for contacts that changed without an event, in projects with a subscriber to contact changes, and wakes the workflows if
 * they are one.
 */
export async function insertContactOutboxEvents(
  tx: Tx,
  changes: ReadonlyArray<{ projectId: string; id: string; contactId: string; fromPublicKey: true | null }>,
): Promise<void> {
  const { rows } = await sql<{ subscriber: string }>`
    with added as (
      insert into event_reactions (project_id, subscriber, id, contact_id, from_public_key)
      select i.project_id, s.subscriber, i.id, i.contact_id, i.from_public_key from unnest(
        ${changes.map((change) => change.projectId)}::uuid[],
        ${changes.map((change) => change.id)}::uuid[],
        ${changes.map((change) => change.contactId)}::uuid[],
        ${changes.map((change) => change.fromPublicKey)}::boolean[]
      ) as i (project_id, id, contact_id, from_public_key)
      join event_subscriptions s on s.project_id = i.project_id and s.event_name = '*'
      returning subscriber
    )
    select distinct subscriber from added`.execute(tx);
  if (rows.some(({ subscriber }) => subscriber === "workflows")) notify(tx, "workflows");
}

export interface ProjectEvent {
  projectId: string;
  type: ProjectEventType;
  /** The contact that the event is about, if there is one. Deleting the contact also deletes the data. */
  contactId?: string;
  data: Readonly<Record<string, unknown>>;
}

/** Adds outbox events with their own data for the subscribers to every event. */
export async function insertProjectOutboxEvents(
  tx: Tx,
  events: ReadonlyArray<ProjectEvent & { id: string }>,
): Promise<void> {
  await sql`
    insert into event_reactions (project_id, subscriber, id, contact_id, event_name, data)
    select i.project_id, s.subscriber, i.id, i.contact_id, i.type, i.data
    from unnest(${events.map(({ projectId }) => projectId)}::uuid[], ${events.map(({ id }) => id)}::uuid[],
      ${events.map(({ contactId }) => contactId ?? null)}::uuid[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ data }) => JSON.stringify(data))}::jsonb[]) as i (project_id, id, contact_id, type, data)
    join event_subscriptions s on s.project_id = i.project_id and s.event_name = ${EVERY_EVENT}`.execute(tx);
}

/** Returns the projects with a subscriber to contact changes. */
export async function listProjectsSubscribedToContacts(
  tx: Tx,
  projectIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ projectId: string }>`
    select distinct project_id from event_subscriptions
    where project_id = any(${projectIds}::uuid[]) and event_name = '*'`.execute(tx);
  return new Set(rows.map((row) => row.projectId));
}

export async function listProjectsWithOutboxEvents(
  database: Database,
  subscriber: string,
): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select distinct project_id from event_reactions where subscriber = ${subscriber}`.execute(database);
  return rows.map((row) => row.projectId);
}

/** Takes the oldest outbox events of a project. They are deleted when the transaction commits. */
export async function takeOutboxEvents(tx: Tx, projectId: string, subscriber: string, limit: number) {
  const { rows } = await sql<{
    id: string;
    contactId: string | null;
    eventName: string | null;
    eventId: string | null;
    emailId: string | null;
    fromPublicKey: boolean;
    data: unknown;
  }>`
    delete from event_reactions r
    -- An array, because in a recently grown table a join would read all rows for each id.
    where r.project_id = ${projectId} and r.subscriber = ${subscriber} and r.id = any(array(
      select id from event_reactions where project_id = ${projectId} and subscriber = ${subscriber}
      order by id limit ${limit} for update skip locked))
    returning r.id, r.contact_id, r.event_name, r.event_id, r.email_id, r.from_public_key is true as from_public_key, r.data`.execute(
    tx,
  );
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Allows one change of a subscriber's event names per project at a time, until the transaction ends. */
export async function lockSubscriptions(tx: Tx, projectId: string, subscriber: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions ${subscriber} ${projectId}`}, 0))`.execute(
    tx,
  );
}

export async function deleteSubscriptionsExcept(
  tx: Tx,
  projectId: string,
  subscriber: string,
  names: readonly string[],
): Promise<void> {
  await sql`
    delete from event_subscriptions
    where project_id = ${projectId} and subscriber = ${subscriber} and event_name <> all(${names}::text[])`.execute(
    tx,
  );
}

export async function insertSubscriptions(
  tx: Tx,
  projectId: string,
  subscriber: string,
  names: readonly string[],
): Promise<void> {
  await sql`
    insert into event_subscriptions (project_id, event_name, subscriber)
    select distinct ${projectId}::uuid, name, ${subscriber}::text from unnest(${names}::text[]) as name
    on conflict do nothing`.execute(tx);
}
