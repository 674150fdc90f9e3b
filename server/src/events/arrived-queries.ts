// Events that somebody waits for, read from `events`, and from `emails` for those that were sent.
// Before it: arrived-events.ts. After it: nothing.
import { sql } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import type { Database } from "../platform/database.ts";
import { isEmailSent, mailFacts } from "../emails/reading/sent-events.ts";

export interface EventWait {
  waitId: string;
  contactId: string;
  eventName: string;
  since: Date;
}

/** Of one wait at most; a filter may pass over some. */
const EVENTS_OF_A_WAIT = 100;

export async function listEventsOfWaits(database: Database, projectId: string, waits: readonly EventWait[]) {
  const { rows } = await sql<{ waitId: string; id: string; data: unknown; createdAt: Date }>`
    select w.wait_id, happened.*
    from unnest(
      ${waits.map(({ waitId }) => waitId)}::uuid[],
      ${waits.map(({ contactId }) => contactId)}::uuid[],
      ${waits.map(({ eventName }) => eventName)}::text[],
      ${waits.map(({ since }) => since.toISOString())}::timestamptz[]
    ) as w (wait_id, contact_id, event_name, since)
    cross join lateral (
      (select v.id, v.data, v.created_at from events v
       where v.project_id = ${projectId} and v.contact_id = w.contact_id and v.name = w.event_name and v.created_at >= w.since
       order by v.created_at limit ${EVENTS_OF_A_WAIT})
      union all
      (select e.id, ${mailFacts()}, e.sent_at from emails e
       join email_contents c on c.project_id = e.project_id and c.id = e.content_id
       where w.event_name = ${EMAIL_SENT} and e.project_id = ${projectId} and e.contact_id = w.contact_id
         and ${isEmailSent(null)} and e.sent_at >= w.since
       order by e.sent_at limit ${EVENTS_OF_A_WAIT})
    ) happened
    order by w.wait_id, happened.created_at`.execute(database);
  return rows;
}

export async function findReactedEvents(
  database: Database,
  projectId: string,
  { eventIds, emailIds }: { eventIds: readonly string[]; emailIds: readonly string[] },
) {
  const { rows } = await sql<{ id: string; data: unknown }>`
    select v.id, v.data from events v where v.project_id = ${projectId} and v.id = any(${eventIds}::uuid[])
    union all
    select e.id, ${mailFacts()} from emails e
    join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = any(${emailIds}::uuid[])`.execute(database);
  return rows;
}
