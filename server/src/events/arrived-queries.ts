// Reads events for waits from `events`, and `email.sent` from `emails`.
import { sql, type RawBuilder } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import type { Database } from "../platform/database/database.ts";
import { isEmailSent, mailFacts } from "../emails/rows/sent-events.ts";

type Expression = RawBuilder<unknown>;

export interface EventWait {
  waitId: string;
  contactId: string;
  eventName: string;
  since: Date;
  /** The event to continue after, because several events can have the same time. */
  behind?: EventPlace | undefined;
}

/** The place of an event among the events of its name: its time in µs since 1970, as precise as stored, and its id. */
export interface EventPlace {
  us: number;
  id: string;
}

/** Events read per wait. The wait's filter may skip some of them. */
export const EVENTS_OF_A_WAIT = 100;

const instantOf = (us: Expression) => sql`(timestamptz 'epoch' + ${us} * interval '1 microsecond')`;
const usOf = (instant: Expression) => sql`(extract(epoch from ${instant}) * 1000000)::bigint`;

/** Returns whether an event comes after the place of wait `w`, or after its start. */
const isBehind = (instant: Expression, id: Expression) => sql`
  ${instant} >= greatest(w.since, ${instantOf(sql`w.behind_us`)})
  and (w.behind_id is null or (${instant}, ${id}) > (${instantOf(sql`w.behind_us`)}, w.behind_id))`;

export async function listEventsOfWaits(database: Database, projectId: string, waits: readonly EventWait[]) {
  const { rows } = await sql<{
    waitId: string;
    id: string;
    data: unknown;
    createdAt: Date;
    fromPublicKey: boolean;
    us: number;
  }>`
    select w.wait_id, happened.*, ${usOf(sql`happened.created_at`)} as us
    from unnest(
      ${waits.map(({ waitId }) => waitId)}::uuid[],
      ${waits.map(({ contactId }) => contactId)}::uuid[],
      ${waits.map(({ eventName }) => eventName)}::text[],
      ${waits.map(({ since }) => since.toISOString())}::timestamptz[],
      ${waits.map(({ behind }) => behind?.us ?? null)}::bigint[],
      ${waits.map(({ behind }) => behind?.id ?? null)}::uuid[]
    ) as w (wait_id, contact_id, event_name, since, behind_us, behind_id)
    cross join lateral (
      (select v.id, v.data, v.created_at, v.from_public_key is true as from_public_key from events v
       where v.project_id = ${projectId} and v.contact_id = w.contact_id and v.name = w.event_name
         and ${isBehind(sql`v.created_at`, sql`v.id`)}
       order by v.created_at, v.id limit ${EVENTS_OF_A_WAIT})
      union all
      (select e.id, ${mailFacts()}, e.sent_at, e.from_public_key is not null from emails e
       join email_contents c on c.project_id = e.project_id and c.id = e.content_id
       where w.event_name = ${EMAIL_SENT} and e.project_id = ${projectId} and e.contact_id = w.contact_id
         and ${isEmailSent(null)} and ${isBehind(sql`e.sent_at`, sql`e.id`)}
       order by e.sent_at, e.id limit ${EVENTS_OF_A_WAIT})
    ) happened
    order by w.wait_id, happened.created_at, happened.id`.execute(database);
  return rows;
}

export async function findReactedEvents(
  database: Database,
  projectId: string,
  { eventIds, emailIds }: { eventIds: readonly string[]; emailIds: readonly string[] },
) {
  const { rows } = await sql<{ id: string; data: unknown; createdAt: Date }>`
    select v.id, v.data, v.created_at from events v where v.project_id = ${projectId} and v.id = any(${eventIds}::uuid[])
    union all
    select e.id, ${mailFacts()}, e.sent_at from emails e
    join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = any(${emailIds}::uuid[])`.execute(database);
  return rows;
}

/** Which of these emails workflows sent because of a public key. */
export async function findEmailsFromPublicKey(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from emails
    where project_id = ${projectId} and id = any(${ids}::uuid[]) and from_public_key is not null`.execute(
    database,
  );
  return rows.map((row) => row.id);
}
