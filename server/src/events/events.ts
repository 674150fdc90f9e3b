// What happened to a contact: append-only, recorded in the transaction of what caused it.
import type { RawBuilder } from "kysely";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { fittingLimit, toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import {
  insertEvents,
  insertEventsFrom,
  eventsOf,
  listEventRows,
  listEventRowsByEmail,
  type EventFilter,
  type EventRow,
  type NewEvent,
  type SameEvent,
} from "./queries.ts";

export type { NewEvent, SameEvent } from "./queries.ts";

/** An event as its caller knows it; id and time are made here unless given. */
export interface EventToRecord {
  projectId: string;
  contactId: string;
  name: string;
  data?: Record<string, unknown> | null;
  emailId?: string | null;
  /** Whether a call with a public key caused it. Events of an email have the mark of the email. */
  fromPublicKey?: boolean | undefined;
}

/**
 * Records events in the order given, in one statement; returns id and time of each.
 * The contact must exist in the same project: the database refuses anything else.
 */
export async function recordEvents(tx: Tx, events: readonly EventToRecord[]): Promise<NewEvent[]> {
  const createdAt = now();
  const recorded = events.map((event) => ({
    projectId: event.projectId,
    id: newId(),
    contactId: event.contactId,
    name: event.name,
    data: event.data ?? null,
    emailId: event.emailId ?? null,
    fromPublicKey: event.fromPublicKey === true ? (true as const) : null,
    createdAt,
  }));
  if (recorded.length > 0) await insertEvents(tx, recorded);
  return recorded;
}

/**
 * As a query for `recordEventsFrom`: one event of this name and data for each contact of `source`, a query of `contact_id`. For
 * changes of so many contacts that they must not pass through this process.
 */
export function sameEventFor(event: SameEvent, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return eventsOf(event, source);
}

/**
 * As CTEs of a larger statement: records the events that `source` is a query of, with these columns in this order:
 * project, id, contact, name, data, mail, time, whether because of a public key. For the doors through which every mail passes.
 */
export function recordEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertEventsFrom(source);
}

export interface EventView {
  id: string;
  name: string;
  contactId: string;
  data: Record<string, unknown> | null;
  emailId: string | null;
  createdAt: string;
}

const LIST = "events";

/** Events of a project, newest first. */
export async function listEvents(
  database: Database,
  projectId: string,
  filter: EventFilter,
  request: PageRequest,
): Promise<Page<EventView>> {
  const rows = await listEventRows(database, projectId, filter, request);
  return toPage(LIST, { ...request, limit: fittingLimit(request.limit, rows) }, rows, present);
}

/** The most events of one mail that a timeline shows. */
const MAX_TIMELINE_EVENTS = 200;

/** What happened with one mail, oldest first. */
export async function listEventsOfEmail(
  database: Database,
  projectId: string,
  emailId: string,
): Promise<EventView[]> {
  return (await listEventRowsByEmail(database, projectId, emailId, MAX_TIMELINE_EVENTS)).map(present);
}

function present(row: EventRow): EventView {
  return {
    id: row.id,
    name: row.name,
    contactId: row.contactId,
    data: (row.data ?? null) as EventView["data"],
    emailId: row.emailId,
    createdAt: row.createdAt.toISOString(),
  };
}
