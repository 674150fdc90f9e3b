// Outbox of contact events. Segments and workflows subscribe to event names, and each event writes one row per subscriber in its own
// transaction. Events without a subscriber cost nothing.
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import {
  takeOutboxEvents,
  deleteSubscriptionsExcept,
  insertContactOutboxEvents,
  insertOutboxEventsFrom,
  insertProjectOutboxEvents,
  insertSentOutboxEvents,
  insertSentOutboxEventsFrom,
  insertSubscriptions,
  listProjectsSubscribedToContacts,
  listProjectsWithOutboxEvents,
  lockSubscriptions,
  type ProjectEvent,
} from "./queries.ts";

/** A folder that subscribes to events. */
export type Subscriber = "segments" | "workflows" | "stream";

export { EVERY_EVENT, type ProjectEvent } from "./queries.ts";

/** Subscribes to any change of a contact instead of an event name. */
export const ANY_CHANGE = "*";

/** From this number of contacts on, the subscribers are checked first. */
const MANY_CONTACTS = 100;

/**
 * Replaces a subscriber's event names in a project with the result of `readNames`. The names are read after the change in this transaction,
 * and changes run one at a time, so that none is lost.
 */
export async function subscribeToEvents(
  tx: Tx,
  { projectId, subscriber }: { projectId: string; subscriber: Subscriber },
  readNames: () => Promise<readonly string[]>,
): Promise<void> {
  await lockSubscriptions(tx, projectId, subscriber);
  const names = await readNames();
  await deleteSubscriptionsExcept(tx, projectId, subscriber, names);
  if (names.length > 0) await insertSubscriptions(tx, projectId, subscriber, names);
}

/** Adds outbox events for created or changed contacts, in the transaction of the change. Does nothing in projects without a subscriber. */
export async function enqueueContactEvents(
  tx: Tx,
  contacts: ReadonlyArray<{ projectId: string; contactId: string; fromPublicKey?: boolean | undefined }>,
): Promise<void> {
  if (contacts.length === 0) return;
  let noted = contacts;
  if (contacts.length >= MANY_CONTACTS) {
    const projectIds = [...new Set(contacts.map(({ projectId }) => projectId))];
    const following = await listProjectsSubscribedToContacts(tx, projectIds);
    noted = contacts.filter(({ projectId }) => following.has(projectId));
    if (noted.length === 0) return;
  }
  await insertContactOutboxEvents(
    tx,
    noted.map(({ projectId, contactId, fromPublicKey }) => ({
      projectId,
      id: newId(),
      contactId,
      fromPublicKey: fromPublicKey === true ? true : null,
    })),
  );
}

/**
 * Adds outbox events for sent emails, in the transaction that marks them as sent. Those rows are the events `email.sent`, so there is no
 * other record of them.
 */
export async function enqueueSentEvents(
  tx: Tx,
  mails: ReadonlyArray<{ projectId: string; contactId: string | null; emailId: string }>,
): Promise<void> {
  const contacts = mails.flatMap(({ projectId, contactId, emailId }) =>
    contactId === null ? [] : [{ projectId, contactId, emailId }],
  );
  if (contacts.length > 0) await insertSentOutboxEvents(tx, contacts);
}

/**
 * Adds outbox events about the project itself, such as `campaign.sent`, in the transaction of the change. They are only for the event stream,
 * and cost nothing in projects without one.
 */
export async function recordProjectEvents(tx: Tx, events: readonly ProjectEvent[]): Promise<void> {
  if (events.length > 0)
    await insertProjectOutboxEvents(
      tx,
      events.map((event) => ({ ...event, id: newId() })),
    );
}

/** Returns a statement part that adds outbox events for the events of the query `source` (project, id, contact, name, event, email). */
export function reactToEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertOutboxEventsFrom(source);
}

/** Does the same for sent emails. `source` is a query of project, contact and email. */
export function enqueueSentEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertSentOutboxEventsFrom(source);
}

/** Returns projects with outbox events for this subscriber. */
export async function listProjectsWithReactions(
  database: Database,
  subscriber: Subscriber,
): Promise<string[]> {
  return listProjectsWithOutboxEvents(database, subscriber);
}

export interface Reaction {
  id: string;
  contactId: string;
  /** The name of the event, or null if the contact itself changed. */
  eventName: string | null;
  /** The event, or null for `email.sent`, which has an `emailId`, and for changes without an event. */
  eventId: string | null;
  emailId: string | null;
  /** Whether a call with a public key caused it. False for `email.sent`, because the row of the email has that mark. */
  fromPublicKey: boolean;
}

interface TakeInput {
  projectId: string;
  subscriber: Subscriber;
  limit: number;
}

/** Takes up to `limit` outbox events of a project, oldest first. The caller must process them in the same transaction. */
export async function takeReactions(
  tx: Tx,
  { projectId, subscriber, limit }: TakeInput,
): Promise<Reaction[]> {
  const taken = await takeOutboxEvents(tx, projectId, subscriber, limit);
  return taken.flatMap((event) =>
    event.contactId === null ? [] : [{ ...event, contactId: event.contactId }],
  );
}

/** Does the same for a subscriber to every event. Its outbox events always have a name, and those of the project have `data`. */
export async function takeEveryEvent(tx: Tx, { projectId, subscriber, limit }: TakeInput) {
  const taken = await takeOutboxEvents(tx, projectId, subscriber, limit);
  return taken.flatMap(({ eventName, ...event }) => (eventName === null ? [] : [{ ...event, eventName }]));
}
