// Loads contacts for evaluate-filter.ts with the events and memberships that the filters need.
import type { Filter } from "@postloft/contract/filters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { FilterContact } from "./evaluate-filter.ts";
import type { SegmentSources } from "./load-segments.ts";
import { planFilter, questionsOf } from "./plan-filter.ts";
import { findContactsForFilters, listMemberships, listNewestEvents } from "./queries.ts";

export interface ContactsToLoad extends SegmentSources {
  projectId: string;
  contactIds: readonly string[];
  /** Filters that will be evaluated for the contacts. */
  filters: readonly Filter[];
  /** Minimum number of events to read per name, for explanations that show a count. Otherwise only as many as the filter counts. */
  leastEvents?: number;
}

/** A contact with its data as text, which is cheap to send to another thread and is parsed there. */
export type StoredContact = Omit<FilterContact, "data"> & { dataJson: string };

export function readStored({ dataJson, ...contact }: StoredContact): FilterContact {
  return { ...contact, data: JSON.parse(dataJson) };
}

/** Returns contacts by id, in at most three statements. Contacts outside the project are missing. */
export async function loadFilterContacts(
  database: Database,
  contacts: ContactsToLoad,
): Promise<Map<string, FilterContact>> {
  const stored = await loadStoredContacts(database, contacts);
  return new Map([...stored].map(([id, contact]) => [id, readStored(contact)]));
}

/** Returns the contacts with unparsed data. */
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
