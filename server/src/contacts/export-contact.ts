// Exports all data about one contact as streamed JSON, because the events of a contact may not fit in memory.
import type { Database } from "../platform/database/database.ts";
import { readEmailHistory } from "../emails/reading/email-history.ts";
import { listEvents, listEventsOfEmail, type EventView } from "../events/events.ts";
import { readPage } from "../platform/http/page.ts";
import { listConsentChanges, type CampaignNames } from "./consent.ts";
import { getContact } from "./contacts.ts";

const EVENTS_A_PAGE = 500;

/** Segments of a contact, provided by segments/ through api.ts. */
export interface ContactSegments {
  /** Returns the static segments of a contact and its tracked dynamic segments. */
  segmentsOfContact: (
    database: Database,
    projectId: string,
    contactId: string,
  ) => Promise<Array<{ id: string; name: string; createdAt: Date }>>;
}

/** Executions of a contact, provided by workflows/ through api.ts. */
export interface ContactExecutions {
  executionsOfContact: (database: Database, projectId: string, contactId: string) => AsyncIterable<unknown>;
}

/** Received emails of a contact, provided by received/ through api.ts. */
export interface ContactReceived {
  receivedOfContact: (database: Database, projectId: string, contactId: string) => AsyncIterable<unknown>;
}

/**
 * Yields the chunks of one JSON object.
 * @throws AppError CONTACT_NOT_FOUND, before the first chunk.
 */
export async function openContactExport(
  database: Database,
  projectId: string,
  id: string,
  {
    segmentsOfContact,
    executionsOfContact,
    receivedOfContact,
    campaignNames,
  }: ContactSegments & ContactExecutions & ContactReceived & CampaignNames,
): Promise<AsyncGenerator<string>> {
  const contact = await getContact(database, projectId, id);
  const consent = await listConsentChanges(database, projectId, id, { campaignNames });
  const segments = (await segmentsOfContact(database, projectId, id)).map((row) => ({
    id: row.id,
    name: row.name,
    since: row.createdAt.toISOString(),
  }));
  const start = JSON.stringify({ contact, consent, segments }).slice(0, -1);
  return writeExport(start, {
    executions: executionsOfContact(database, projectId, id),
    events: readEvents(database, projectId, id),
    emails: readEmailHistory(database, projectId, id, listEventsOfEmail),
    receivedEmails: receivedOfContact(database, projectId, id),
  });
}

async function* writeExport(
  start: string,
  lists: Readonly<Record<string, AsyncIterable<unknown>>>,
): AsyncGenerator<string> {
  yield start;
  for (const [name, items] of Object.entries(lists)) {
    yield `,${JSON.stringify(name)}:[`;
    let separator = "";
    for await (const item of items) {
      yield separator + JSON.stringify(item);
      separator = ",";
    }
    yield "]";
  }
  yield "}";
}

/** Newest first. */
async function* readEvents(
  database: Database,
  projectId: string,
  contactId: string,
): AsyncGenerator<EventView> {
  for (let cursor: string | undefined; ;) {
    const request = readPage("events", { limit: EVENTS_A_PAGE, cursor });
    const page = await listEvents(database, projectId, { contactId }, request);
    yield* page.data;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}
