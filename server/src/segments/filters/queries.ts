// Reads the segments that filters use, and the contact data for evaluation in memory.
import { sql } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database } from "../../platform/database/database.ts";
import { isEmailSent } from "../../emails/rows/sent-events.ts";
import { shownData } from "../../contacts/contacts.ts";
import { deletedUntil } from "../../events/event-names.ts";
import type { ConditionContext } from "./asking-queries.ts";
import { FEW_EVENTS, fromEvents, type EventQuestion } from "./related-queries.ts";
import type { SegmentSource } from "./rules.ts";

const SOURCE = sql.raw("id, name, type, filters, track_membership");

export async function listSegmentSources(database: Database, projectId: string): Promise<SegmentSource[]> {
  const { rows } = await sql<SegmentSource>`
    select ${SOURCE} from segments where project_id = ${projectId}`.execute(database);
  return rows;
}

export async function findSegmentSources(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<SegmentSource[]> {
  const { rows } = await sql<SegmentSource>`
    select ${SOURCE} from segments where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    database,
  );
  return rows;
}

export async function findContactsForFilters(
  database: Database,
  projectId: string,
  contactIds: readonly string[],
) {
  const { rows } = await sql<{
    id: string;
    email: string;
    subscribed: boolean;
    dataJson: string;
    createdAt: Date;
    updatedAt: Date;
  }>`
    select id, email, subscribed, ${shownData(projectId)}::text as data_json, created_at, updated_at from contacts c
    where project_id = ${projectId} and id = any(${contactIds}::uuid[])`.execute(database);
  return rows;
}

/** Returns the newest events of these names for each contact, up to the given count per name. */
export async function listNewestEvents(
  database: Database,
  projectId: string,
  contactIds: readonly string[],
  wanted: ReadonlyArray<{ event: string; count: number }>,
) {
  const { rows } = await sql<{ contactId: string; name: string; createdAt: Date }>`
    select i.contact_id, n.name, e.created_at
    from unnest(${contactIds}::uuid[]) as i (contact_id)
    cross join unnest(
      ${wanted.map((one) => one.event)}::text[],
      ${wanted.map((one) => one.count)}::int[]
    ) as n (name, count)
    cross join lateral (
      (select created_at from events e
       where e.project_id = ${projectId} and e.contact_id = i.contact_id and e.name = n.name
         and e.created_at > ${deletedUntil(projectId, sql`n.name`)}
       order by e.created_at desc limit n.count)
      union all
      (select sent_at from emails e
       where n.name = ${EMAIL_SENT} and e.project_id = ${projectId} and e.contact_id = i.contact_id and ${isEmailSent(null)}
       order by e.sent_at desc limit n.count)
    ) e
    order by i.contact_id, n.name, e.created_at desc`.execute(database);
  return rows;
}

export async function listMemberships(
  database: Database,
  projectId: string,
  contactIds: readonly string[],
  segmentIds: readonly string[],
) {
  const { rows } = await sql<{ contactId: string; segmentId: string }>`
    select contact_id, segment_id from segment_members
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[])
      and segment_id = any(${segmentIds}::uuid[])`.execute(database);
  return rows;
}

/** Returns the number of events for a condition, or null if they are too many to hold in memory. */
export async function countFewEvents(
  database: Database,
  question: EventQuestion,
  asking: ConditionContext,
): Promise<number | null> {
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select count(*)::int as count from (
      select ${fromEvents(question, asking)} and e.project_id = ${asking.projectId} limit ${FEW_EVENTS + 1}
    ) f`.execute(database);
  const count = rows[0]?.count ?? 0;
  return count > FEW_EVENTS ? null : count;
}
