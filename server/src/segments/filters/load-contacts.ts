// Contacts as evaluate-filter.ts looks at them: with the events and memberships that the filters ask for, and no others.
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { FilterContact } from "./evaluate-filter.ts";
import type { SegmentSources } from "./load-segments.ts";
import { planFilter, questionsOf } from "./plan-filter.ts";
import { findContactsForFilters, listMemberships, listNewestEvents } from "./queries.ts";

export interface ContactsToLoad extends SegmentSources {
  projectId: string;
  contactIds: readonly string[];
  /** What they will be evaluated against. */
  filters: readonly Filter[];
  /** Events of each name to read at least, where an explanation shows how many there are; otherwise as many as are counted. */
  leastEvents?: number;
}

/** A contact whose data is still text: it goes to another thread at no cost, and is read there. */
export type StoredContact = Omit<FilterContact, "data"> & { dataJson: string };

export function readStored({ dataJson, ...contact }: StoredContact): FilterContact {
  return { ...contact, data: JSON.parse(dataJson) };
}

/** Reads contacts by id, at most three statements however many; those that are not in the project are missing. */
export async function loadFilterContacts(
  database: Database,
  contacts: ContactsToLoad,
): Promise<Map<string, FilterContact>> {
  const stored = await loadStoredContacts(database, contacts);
  return new Map([...stored].map(([id, contact]) => [id, readStored(contact)]));
}

/** The same with their data unread. */
export async function loadStoredContacts(
  database: Database,
  { projectId, contactIds, filters, leastEvents = 1, ...sources }: ContactsToLoad,
): Promise<Map<string, StoredContact>> {
  const counts = new Map<string, number>();
  const segmentIds = new Set<string>();
  for (const question of filters.flatMap((one) => questionsOf(planFilter(one, sources)))) {
    if (question.about === "members") segmentIds.add(question.segmentId);
    if (question.about === "event")
      counts.set(question.event, Math.max(leastEvents, question.atLeast, counts.get(question.event) ?? 0));
  }
  const wanted = [...counts].map(([event, count]) => ({ event, count }));
  const rows = await findContactsForFilters(database, projectId, contactIds);
  const ids = rows.map((row) => row.id);
  const events = wanted.length === 0 ? [] : await listNewestEvents(database, projectId, ids, wanted);
  const memberships =
    segmentIds.size === 0 ? [] : await listMemberships(database, projectId, ids, [...segmentIds]);
  const contacts = new Map(
    rows.map((row) => [
      row.id,
      {
        email: row.email,
        subscribed: row.subscribed,
        dataJson: row.dataJson,
        createdAt: row.createdAt,
        updatedAt: row.updatedAt,
        events: new Map<string, Date[]>(),
        segments: new Set<string>(),
      },
    ]),
  );
  for (const { contactId, name, createdAt } of events) {
    const own = contacts.get(contactId)?.events;
    const times = own?.get(name);
    if (times === undefined) own?.set(name, [createdAt]);
    else times.push(createdAt);
  }
  for (const { contactId, segmentId } of memberships) contacts.get(contactId)?.segments.add(segmentId);
  return contacts;
}
