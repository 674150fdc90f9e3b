// Who waits for what happens to contacts, and what happened that they wait for: segments and workflows subscribe to names of events, and
// each subscriber gets a row for each event it waits for, in the transaction of the event. Nobody else costs anything.
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import {
  deleteReactions,
  deleteSubscriptionsExcept,
  insertContactReactions,
  insertReactionsFrom,
  insertSentReactions,
  insertSentReactionsFrom,
  insertSubscriptions,
  listProjectsFollowingContacts,
  listReactingProjects,
  lockSubscriptions,
} from "./queries.ts";

/** A folder that reacts to events. */
export type Subscriber = "segments" | "workflows";

/** Instead of the name of an event: any change of a contact itself. */
export const ANY_CHANGE = "*";

/** With so many contacts it is asked first whether anybody wants to know of them. */
const MANY_CONTACTS = 100;

/**
 * Makes the events that a subscriber waits for in a project those that `readNames` reads from its own tables: after the change
 * in this transaction, and one change at a time, so that no name is lost between two of them.
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

/** Notes that contacts came into being or changed, in the transaction of the change. Costs nothing where nobody follows them. */
export async function noteContacts(
  tx: Tx,
  contacts: ReadonlyArray<{ projectId: string; contactId: string; fromPublicKey?: boolean | undefined }>,
): Promise<void> {
  if (contacts.length === 0) return;
  let noted = contacts;
  if (contacts.length >= MANY_CONTACTS) {
    const projectIds = [...new Set(contacts.map(({ projectId }) => projectId))];
    const following = await listProjectsFollowingContacts(tx, projectIds);
    noted = contacts.filter(({ projectId }) => following.has(projectId));
    if (noted.length === 0) return;
  }
  await insertContactReactions(
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
 * Notes that mails were sent to contacts, in the transaction in which their rows say so: these rows are the events
 * `email.sent`, so nothing else records them.
 */
export async function noteSentMails(
  tx: Tx,
  mails: ReadonlyArray<{ projectId: string; contactId: string | null; emailId: string }>,
): Promise<void> {
  const contacts = mails.flatMap(({ projectId, contactId, emailId }) =>
    contactId === null ? [] : [{ projectId, contactId, emailId }],
  );
  if (contacts.length > 0) await insertSentReactions(tx, contacts);
}

/**
 * As part of a larger statement: the reactions to events, which `source` is a query of (project, id, contact, name, event, mail,
 * whether because of a public key).
 */
export function reactToEventsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertReactionsFrom(source);
}

/** The same for mails that were sent: `source` is a query of project, contact and mail. */
export function noteSentMailsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertSentReactionsFrom(source);
}

/** Projects in which something happened that this subscriber waits for. */
export async function listProjectsWithReactions(
  database: Database,
  subscriber: Subscriber,
): Promise<string[]> {
  return listReactingProjects(database, subscriber);
}

export interface Reaction {
  id: string;
  contactId: string;
  /** The name of the event; null when the contact itself changed. */
  eventName: string | null;
  /** The event; null for `email.sent`, whose mail stands beside it, and without an event. */
  eventId: string | null;
  emailId: string | null;
  /** Whether a call with a public key caused it. False for `email.sent`, because the row of the email has that mark. */
  fromPublicKey: boolean;
}

/** Takes up to `limit` reactions of a project, oldest first; whoever takes them does what follows in the same transaction. */
export async function takeReactions(
  tx: Tx,
  { projectId, subscriber, limit }: { projectId: string; subscriber: Subscriber; limit: number },
): Promise<Reaction[]> {
  return deleteReactions(tx, projectId, subscriber, limit);
}
