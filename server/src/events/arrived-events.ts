// Events that waiting executions need, and the data of events behind outbox events.
import type { Database } from "../platform/database/database.ts";
import type { Reaction } from "../reactions/reactions.ts";
import {
  findEmailsFromPublicKey,
  findReactedEvents,
  listEventsOfWaits,
  type EventPlace,
  type EventWait,
} from "./arrived-queries.ts";

export { EVENTS_OF_A_WAIT, type EventPlace, type EventWait } from "./arrived-queries.ts";

export interface Arrived {
  waitId: string;
  id: string;
  at: Date;
  place: EventPlace;
  data: Readonly<Record<string, unknown>>;
  /** Whether a call with a public key caused it. */
  fromPublicKey: boolean;
}

/** Returns the first hundred events per wait since its start, or after its `behind` place, oldest first. */
export async function listArrivedEvents(
  database: Database,
  projectId: string,
  waits: readonly EventWait[],
): Promise<Arrived[]> {
  const rows = await listEventsOfWaits(database, projectId, waits);
  return rows.map((row) => ({
    waitId: row.waitId,
    id: row.id,
    at: row.createdAt,
    place: { us: row.us, id: row.id },
    data: (row.data ?? {}) as Arrived["data"],
    fromPublicKey: row.fromPublicKey,
  }));
}

/** Returns data and time of the events behind outbox events, by event id, or by email id for `email.sent`. Deleted events are missing. */
export async function readReactedEvents(
  database: Database,
  projectId: string,
  reactions: ReadonlyArray<{ eventId: string | null; emailId: string | null }>,
): Promise<Map<string, Pick<Arrived, "at" | "data">>> {
  const eventIds = reactions.flatMap(({ eventId }) => eventId ?? []);
  const emailIds = reactions.flatMap(({ eventId, emailId }) => (eventId === null ? (emailId ?? []) : []));
  const rows = await findReactedEvents(database, projectId, { eventIds, emailIds });
  return new Map(
    rows.map((row) => [row.id, { at: row.createdAt, data: (row.data ?? {}) as Arrived["data"] }]),
  );
}

/** Returns reactions with the mark of their email where they are about one that was sent: its event has no row of its own. */
export async function markOfEmails<Of extends Reaction>(
  database: Database,
  projectId: string,
  reactions: readonly Of[],
): Promise<Of[]> {
  const emailIds = reactions.flatMap(({ eventId, emailId }) => (eventId === null ? (emailId ?? []) : []));
  if (emailIds.length === 0) return [...reactions];
  const marked = new Set(await findEmailsFromPublicKey(database, projectId, emailIds));
  return reactions.map((one) => (marked.has(one.emailId ?? "") ? { ...one, fromPublicKey: true } : one));
}
