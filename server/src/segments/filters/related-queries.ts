// Compiles conditions on the events and segments of a contact.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { isEmailSent } from "../../emails/rows/sent-events.ts";
import { instantBefore, type ConditionContext, type Fragment } from "./asking-queries.ts";
import type { Question } from "./plan-filter.ts";

export type EventQuestion = Extract<Question, { about: "event" }>;

/**
 * Maximum number of events that PostgreSQL plans to hold in memory. It estimates 40 bytes per event, within the default 8 MB for a table.
 * Above that, PostgreSQL would scan all events for each contact.
 */
const MAX_EVENTS_IN_MEMORY = 200_000;
/** Lower limit, with room for events added before the statement begins. */
export const FEW_EVENTS = 150_000;

/** Returns the FROM clause for events `e` of one name, of all time or recent ones. The statement must also restrict `e.project_id`. */
export function fromEvents({ event, since }: EventQuestion, asking: ConditionContext): RawBuilder<unknown> {
  const instant = since === null ? null : instantBefore(since, asking);
  if (event === EMAIL_SENT) return sql`from emails e where ${isEmailSent(instant)}`;
  const end = asking.eventsBeingDeleted.get(event);
  return sql`from events e where e.name = ${event}${end === undefined ? sql`` : sql` and e.created_at > ${end}::timestamptz`}${instant === null ? sql`` : sql` and e.created_at >= ${instant}`}`;
}

/** `isApart` prevents a join. The membership is then looked up per contact, or in a table in memory if PostgreSQL expects it to fit. */
export function membersFragment(
  segmentId: string,
  { projectId }: ConditionContext,
  isApart: boolean,
): Fragment {
  const isMember = sql<SqlBool>`exists (select from segment_members m where m.project_id = ${projectId}
    and m.segment_id = ${segmentId} and m.contact_id = c.id)`;
  return isApart ? sql<SqlBool>`(${isMember} is true)` : isMember;
}

/**
 * Returns whether an event happened often enough. For many contacts, PostgreSQL scans all events of the name if it can join them or hold
 * them in memory. Otherwise the events of each contact are looked up.
 */
export function eventFragment(
  question: EventQuestion,
  asking: ConditionContext,
  isConjunct: boolean,
): Fragment {
  const { atLeast } = question;
  const way = asking.ways.get(question);
  const isFew = way === "table";
  const from = fromEvents(question, asking);
  if (isFew || (atLeast > 1 && isConjunct && !asking.fewContacts && way === undefined)) {
    const bounded = isFew ? sql` limit ${sql.lit(MAX_EVENTS_IN_MEMORY)}` : sql``;
    const found = sql`select e.contact_id ${from} and e.project_id = ${asking.projectId}`;
    // The offset prevents reading the events in contact order, which takes longer than counting them.
    const counted = sql`select contact_id from (${found} offset 0) e group by 1 having count(*) >= ${atLeast}::int`;
    const isIn = sql<SqlBool>`c.id in (${atLeast > 1 ? counted : found}${bounded})`;
    // `is true` keeps PostgreSQL from turning the condition into a join.
    return isFew ? sql<SqlBool>`((${isIn}) is true)` : sql<SqlBool>`(${isIn})`;
  }
  // Joining on both columns keeps the planner from grouping the events by contact first, which takes half as long again.
  return sql<SqlBool>`exists (select ${from} and e.project_id = c.project_id and e.contact_id = c.id${atLeast > 1 || way === "lookup" ? sql` offset ${atLeast - 1}::int` : sql``})`;
}
