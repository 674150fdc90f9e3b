// Notes of contacts that something happened to, for the tracked segments that must look at them again.
// Before it: recordEvents notes with each event; verbs that change contacts without an event note here. After it: segments/ takes them.
import type { RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import {
  deleteContactChanges,
  insertContactChanges,
  insertSentNotes,
  insertSentNotesFrom,
  listChangedProjects,
  listTrackingProjects,
} from "./queries.ts";

/** With so many contacts it is asked first whether anybody wants to know of them. */
const MANY_CONTACTS = 100;

/** Notes that contacts came into being or changed, in the transaction of the change. Costs nothing where no segment is tracked. */
export async function noteContacts(
  tx: Tx,
  contacts: ReadonlyArray<{ projectId: string; contactId: string }>,
): Promise<void> {
  if (contacts.length === 0) return;
  let noted = contacts;
  if (contacts.length >= MANY_CONTACTS) {
    const projectIds = [...new Set(contacts.map(({ projectId }) => projectId))];
    const tracking = await listTrackingProjects(tx, projectIds);
    noted = contacts.filter(({ projectId }) => tracking.has(projectId));
    if (noted.length === 0) return;
  }
  await insertContactChanges(
    tx,
    noted.map(({ projectId, contactId }) => ({ projectId, id: newId(), contactId })),
  );
}

/**
 * Notes that mails were sent to contacts, in the transaction in which their rows say so: these rows are the events
 * `email.sent`, so nothing else records them.
 */
export async function noteSentMails(
  tx: Tx,
  mails: ReadonlyArray<{ projectId: string; contactId: string | null }>,
): Promise<void> {
  const contacts = mails.flatMap(({ projectId, contactId }) =>
    contactId === null ? [] : [{ projectId, contactId }],
  );
  if (contacts.length > 0) await insertSentNotes(tx, contacts);
}

/** The same as part of a larger statement: `source` is a query of `project_id` and `contact_id`. */
export function noteSentMailsFrom(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return insertSentNotesFrom(source);
}

/** Projects in which something was noted. */
export async function listProjectsWithChanges(database: Database): Promise<string[]> {
  return listChangedProjects(database);
}

export interface ContactChange {
  contactId: string;
  /** The name of the event; null when the contact itself changed. */
  cause: string | null;
}

/** Takes up to `limit` notes of a project, oldest first; whoever takes them looks at the contacts in the same transaction. */
export async function takeContactChanges(tx: Tx, projectId: string, limit: number): Promise<ContactChange[]> {
  const rows = await deleteContactChanges(tx, projectId, limit);
  return rows.map((row) => ({ contactId: row.contact_id, cause: row.cause }));
}
