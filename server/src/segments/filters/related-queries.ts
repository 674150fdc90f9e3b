// Questions about what stands beside a contact: its events, and the segments that it is in.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { isEmailSent } from "../../emails/rows/sent-events.ts";
import { instantBefore, type Asking, type Fragment } from "./asking-queries.ts";
import type { Question } from "./plan-filter.ts";

export type EventQuestion = Extract<Question, { about: "event" }>;

/**
 * So many events PostgreSQL holds in memory: 40 bytes each by its reckoning, which is within the 8 MB that it may use for a
 * table unless it was told otherwise. Would it doubt that they fit, it would go through all of them for each contact.
 */
const MAX_EVENTS_IN_MEMORY = 200_000;
/** Few enough, with room for those that happen before the statement begins. */
export const FEW_EVENTS = 150_000;

/** Where the events `e` of one name stand, lately or ever; in a statement that also restricts `e.project_id`. */
export function fromEvents({ event, since }: EventQuestion, asking: Asking): RawBuilder<unknown> {
  const instant = since === null ? null : instantBefore(since, asking);
  if (event === EMAIL_SENT) return sql`from emails e where ${isEmailSent(instant)}`;
  const end = asking.eventsBeingDeleted.get(event);
  return sql`from events e where e.name = ${event}${end === undefined ? sql`` : sql` and e.created_at > ${end}::timestamptz`}${instant === null ? sql`` : sql` and e.created_at >= ${instant}`}`;
}

/** `isApart`: never joined, but looked up for each contact, or in a table in memory where PostgreSQL thinks that it fits. */
export function membersFragment(segmentId: string, { projectId }: Asking, isApart: boolean): Fragment {
  const isMember = sql<SqlBool>`exists (select from segment_members m where m.project_id = ${projectId}
    and m.segment_id = ${segmentId} and m.contact_id = c.id)`;
  return isApart ? sql<SqlBool>`(${isMember} is true)` : isMember;
}

/**
 * Whether an event happened often enough. Where contacts are many, the events of that name are gone through at once if
 * PostgreSQL can join them to the contacts, or hold them in memory; else those of each contact are looked up.
 */
export function eventFragment(question: EventQuestion, asking: Asking, isConjunct: boolean): Fragment {
  const { atLeast } = question;
  const way = asking.ways.get(question);
  const isFew = way === "table";
  const from = fromEvents(question, asking);
  if (isFew || (atLeast > 1 && isConjunct && !asking.fewContacts && way === undefined)) {
    const bounded = isFew ? sql` limit ${sql.lit(MAX_EVENTS_IN_MEMORY)}` : sql``;
    const found = sql`select e.contact_id ${from} and e.project_id = ${asking.projectId}`;
    // The offset keeps them from being read in the order of their contacts, which takes longer than counting them.
    const counted = sql`select contact_id from (${found} offset 0) e group by 1 having count(*) >= ${atLeast}::int`;
    const isIn = sql<SqlBool>`c.id in (${atLeast > 1 ? counted : found}${bounded})`;
    // As a test of its truth it stays what it is, and is not turned into a join.
    return isFew ? sql<SqlBool>`((${isIn}) is true)` : sql<SqlBool>`(${isIn})`;
  }
  // Joined by both columns the planner does not group the events by contact first, which takes half as long again.
  return sql<SqlBool>`exists (select ${from} and e.project_id = c.project_id and e.contact_id = c.id${atLeast > 1 || way === "lookup" ? sql` offset ${atLeast - 1}::int` : sql``})`;
}
