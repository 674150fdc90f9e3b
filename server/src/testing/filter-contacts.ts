// Stores contacts with events and memberships for tests, and returns which of them a filter matches in SQL and in memory.
import { sql } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { restrictionForAll, restrictionOf } from "../segments/filters/compile-filter.ts";
import { evaluatorOf } from "../segments/filters/evaluate-filter.ts";
import { loadFilterContacts } from "../segments/filters/load-contacts.ts";
import { loadSegmentsFor } from "../segments/filters/load-segments.ts";
import type { Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { addProject } from "./add-project.ts";

export interface ContactToStore {
  email?: string;
  subscribed?: boolean;
  data?: Readonly<Record<string, unknown>>;
  /** In PostgreSQL's format, with microseconds if needed. */
  createdAt?: string;
  updatedAt?: string;
  events?: ReadonlyArray<{ name: string; at: string }>;
  /** Ids of segments that have the contact as a stored member. */
  segments?: readonly string[];
}

export interface SegmentToStore {
  id: string;
  filters: Filter | null;
  trackMembership?: boolean;
}

/** Creates a project with segments and contacts and returns its id and the contacts' ids. */
export async function storeContacts(
  database: Database,
  contacts: readonly ContactToStore[],
  segments: readonly SegmentToStore[] = [],
): Promise<{ projectId: string; ids: string[] }> {
  const projectId = newId();
  const ids = contacts.map(() => newId());
  const events = contacts.flatMap(({ events: own = [] }, at) =>
    own.map((event) => ({ ...event, contactId: ids[at] ?? "" })),
  );
  const members = contacts.flatMap(({ segments: own = [] }, at) =>
    own.map((segmentId) => ({ segmentId, contactId: ids[at] ?? "" })),
  );
  await addProject(database, { id: projectId });
  if (segments.length > 0)
    await sql`
    insert into segments (project_id, id, name, type, filters, slug, track_membership)
    select ${projectId}, i.id, i.id::text, case when i.filters is null then 'STATIC' else 'DYNAMIC' end, i.filters,
      i.id::text, i.tracked
    from unnest(${segments.map((one) => one.id)}::uuid[],
      ${segments.map((one) => (one.filters === null ? null : JSON.stringify(one.filters)))}::jsonb[],
      ${segments.map((one) => one.trackMembership ?? false)}::boolean[]) as i (id, filters, tracked)`.execute(
      database,
    );
  await sql`
    insert into contacts (project_id, id, email, subscribed, data, created_at, updated_at)
    select ${projectId}, * from unnest(${ids}::uuid[],
      ${contacts.map((one, at) => one.email ?? `contact${at}@example.com`)}::text[],
      ${contacts.map((one) => one.subscribed ?? true)}::boolean[],
      ${contacts.map((one) => JSON.stringify(one.data ?? {}))}::jsonb[],
      ${contacts.map((one) => one.createdAt ?? "2026-01-01T00:00:00Z")}::timestamptz[],
      ${contacts.map((one) => one.updatedAt ?? "2026-01-01T00:00:00Z")}::timestamptz[])`.execute(database);
  await storeEvents(database, projectId, events);
  if (members.length > 0)
    await sql`
    insert into segment_members (project_id, segment_id, contact_id)
    select ${projectId}, * from unnest(${members.map((one) => one.segmentId)}::uuid[],
      ${members.map((one) => one.contactId)}::uuid[])`.execute(database);
  return { projectId, ids };
}

/** Stores events. Those named `email.sent` are stored as emails. */
async function storeEvents(
  database: Database,
  projectId: string,
  events: ReadonlyArray<{ contactId: string; name: string; at: string }>,
): Promise<void> {
  const rowsOf = (rows: typeof events) => sql`unnest(${rows.map(() => newId())}::uuid[],
    ${rows.map((one) => one.contactId)}::uuid[], ${rows.map((one) => one.name)}::text[],
    ${rows.map((one) => one.at)}::timestamptz[]) as i (id, contact_id, name, at)`;
  const sent = events.filter(({ name }) => name === EMAIL_SENT);
  const recorded = events.filter(({ name }) => name !== EMAIL_SENT);
  await sql`
    with content as (
      insert into email_contents (project_id, id, from_address, subject, html)
      values (${projectId}, ${newId()}, 'news@shop.example', 'News', '') returning id
    ), mailed as (
      insert into emails (project_id, id, contact_id, content_id, priority, status, to_address, sent_at)
      select ${projectId}, i.id, i.contact_id, content.id, 1, 'SENT', '', i.at from ${rowsOf(sent)}, content
    )
    insert into events (project_id, id, contact_id, name, created_at)
    select ${projectId}, i.id, i.contact_id, i.name, i.at from ${rowsOf(recorded)}`.execute(database);
}

export interface Trial {
  projectId: string;
  ids: readonly string[];
  now: Date;
  /** Whether the statement names a few contacts, finds a page of them or scans all. */
  scope?: "few" | "page" | "all";
  trackedAsStored?: boolean;
}

/** Returns for each filter whether SQL matches each contact, in order. A null would be a bug. */
export async function matchesInSql(
  database: Database,
  filters: readonly Filter[],
  { projectId, ids, now, scope = "page", trackedAsStored = false }: Trial,
): Promise<Array<Array<boolean | null>>> {
  const segments = await loadSegmentsFor(database, projectId, filters);
  const options = { projectId, segments, now, fewContacts: scope === "few", trackedAsStored };
  const restrictions = await Promise.all(
    filters.map((one) =>
      scope === "all" ? restrictionForAll(database, one, options) : restrictionOf(database, one, options),
    ),
  );
  const { rows } = await sql<{ matches: Array<boolean | null> }>`
    select array[${sql.join(restrictions)}] as matches
    from unnest(${ids}::uuid[]) with ordinality as i (id, at)
    join contacts c on c.project_id = ${projectId} and c.id = i.id order by i.at`.execute(database);
  return filters.map((_, at) => rows.map(({ matches }) => matches[at] ?? null));
}

/** Returns for each filter whether the evaluator matches each contact as read from the database. */
export async function matchesInMemory(
  database: Database,
  filters: readonly Filter[],
  { projectId, ids, now, trackedAsStored = false }: Trial,
): Promise<boolean[][]> {
  const segments = await loadSegmentsFor(database, projectId, filters);
  const sources = { segments, trackedAsStored };
  const loaded = await loadFilterContacts(database, { projectId, contactIds: ids, filters, ...sources });
  const contacts = ids.map((id) => {
    const contact = loaded.get(id);
    if (contact === undefined) throw new Error("A stored contact was not read.");
    return contact;
  });
  return filters.map((one) => contacts.map(evaluatorOf(one, { ...sources, now })));
}
