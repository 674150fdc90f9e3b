// Events of contacts. Append-only, recorded in the transaction of their cause.
import type * as contract from "@postloft/contract/events.ts";
import type { z } from "zod";
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

/** An event to record. Its id and time are set here. */
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
 * Records events in order, in one statement, and returns the id and time of each. The contact must exist in the same project, which a
 * foreign key enforces.
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
 * Returns a query for `recordEventsFrom` with one event of this name and data per contact of `source`, a query of `contact_id`. Meant for
 * changes with too many contacts to load into this process.
 */
export function sameEventFor(event: SameEvent, source: RawBuilder<unknown>): RawBuilder<unknown> {
  return eventsOf(event, source);
}

/**
 * Returns CTEs for a larger statement that record the events of the query `source`. Its columns are project, id, contact, name, data, email
 * and time, in this order. For the endpoints that every email passes.
 */
export function recordEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertEventsFrom(source);
}

export type EventView = z.output<typeof contract.event>;

const LIST = "events";

/** Returns the events of a project, newest first. */
export async function listEvents(
  database: Database,
  projectId: string,
  filter: EventFilter,
  request: PageRequest,
): Promise<Page<EventView>> {
  const rows = await listEventRows(database, projectId, filter, request);
  return toPage(LIST, { ...request, limit: fittingLimit(request.limit, rows) }, rows, present);
}

/** Maximum number of events in the timeline of an email. */
const MAX_TIMELINE_EVENTS = 200;

/** Returns the events of an email, oldest first. */
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
