// Numbers over a period, summed from the counts by quarters of an hour, and from what is not counted yet.
// Before it: analytics.ts. After it: events/counts.ts knows where both stand.
import { sql, type RawBuilder } from "kysely";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { CONTACT_SUBSCRIBED, CONTACT_UNSUBSCRIBED } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database } from "../platform/database.ts";
import { eventCounts, MAIL_COLUMNS, mailCounts, type MailColumn, type Span } from "../events/counts.ts";

export type MailSums = Record<MailColumn, number>;

/** Mails of one dimension: of one value of it, or of all. */
export interface MailFilter {
  dimension: Dimension;
  value: string | null;
}

const SUMS = sql.join(
  MAIL_COLUMNS.map((column) => sql`coalesce(sum(${sql.id(column)}), 0)::float8 as ${sql.id(column)}`),
);

/** The number of the day, from 1 on, by where days begin. */
const dayOf = (bounds: readonly Date[]): RawBuilder<unknown> =>
  sql`width_bucket(quarter, ${bounds.map((bound) => bound.toISOString())}::timestamptz[])`;

export async function sumMailsByDay(
  database: Database,
  projectId: string,
  { dimension, value }: MailFilter,
  { span, bounds }: { span: Span; bounds: readonly Date[] },
) {
  const counted = await mailCounts(database, projectId, span, { dimension, value });
  const { rows } = await sql<MailSums & { day: number }>`
    ${plannedEachTime} select ${dayOf(bounds)} as day, ${SUMS}
    from (${counted}) counts group by 1`.execute(database);
  return rows;
}

export async function sumMailsByQuarter(
  database: Database,
  projectId: string,
  { dimension, value }: MailFilter,
  span: Span,
) {
  const counted = await mailCounts(database, projectId, span, { dimension, value });
  const { rows } = await sql<MailSums & { quarter: Date }>`
    ${plannedEachTime} select quarter, ${SUMS}
    from (${counted}) counts group by 1`.execute(database);
  return rows;
}

export async function sumMailsByValue(
  database: Database,
  projectId: string,
  dimension: Dimension,
  span: Span,
): Promise<Array<MailSums & { value: string }>> {
  const counted = await mailCounts(database, projectId, span, { dimension, value: null });
  const { rows } = await sql<MailSums & { value: string }>`
    ${plannedEachTime} select value, ${SUMS}
    from (${counted}) counts group by 1
    having ${sql.join(
      MAIL_COLUMNS.map((column) => sql`sum(${sql.id(column)}) <> 0`),
      sql` or `,
    )}
    order by sent desc, value`.execute(database);
  return rows;
}

const NAMED_TABLES = {
  campaign: { table: "campaigns", label: "name" },
  template: { table: "templates", label: "name" },
  workflow: { table: "workflows", label: "name" },
} as const;

/** The names of what has these ids. */
export async function readNames(
  database: Database,
  projectId: string,
  dimension: keyof typeof NAMED_TABLES,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { table, label } = NAMED_TABLES[dimension];
  const { rows } = await sql<{ id: string; name: string }>`
    select n.id, n.${sql.id(label)} as name from ${sql.table(table)} n
    where n.project_id = ${projectId} and n.id = any(${ids}::uuid[])`.execute(database);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function readCampaigns(database: Database, projectId: string, ids: readonly string[]) {
  const { rows } = await sql<{ id: string; name: string; subject: string }>`
    select id, name, subject from campaigns where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    database,
  );
  return rows;
}

export async function countCampaigns(database: Database, projectId: string) {
  const { rows } = await sql<{ total: number; active: number; completed: number }>`
    select count(*)::float8 as total,
      count(*) filter (where status in ('SCHEDULED', 'SENDING', 'PAUSED'))::float8 as active,
      count(*) filter (where status = 'SENT')::float8 as completed
    from campaigns where project_id = ${projectId}`.execute(database);
  return rows[0] ?? { total: 0, active: 0, completed: 0 };
}

/** The most frequent names of a period, with how many there were in the one before it. */
export async function listTopEventRows(
  database: Database,
  projectId: string,
  { previous, current, limit }: { previous: Span; current: Span; limit: number },
) {
  const both = await eventCounts(database, projectId, { from: previous.from, to: current.to }, null);
  const isCurrent = sql`quarter >= ${current.from.toISOString()}::timestamptz`;
  const { rows } = await sql<{ name: string; count: number; previous_count: number }>`
    ${plannedEachTime} select name,
      coalesce(sum(count) filter (where ${isCurrent}), 0)::float8 as count,
      coalesce(sum(count) filter (where not ${isCurrent}), 0)::float8 as previous_count
    from (${both}) counts group by 1
    having sum(count) filter (where ${isCurrent}) > 0
    order by 2 desc, 1 limit ${limit}`.execute(database);
  return rows;
}

export async function sumEvents(database: Database, projectId: string, span: Span): Promise<number> {
  const counts = await eventCounts(database, projectId, span, null);
  const { rows } = await sql<{ count: number }>`
    ${plannedEachTime} select coalesce(sum(count), 0)::float8 as count from (${counts}) counts`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** The sum of the counts of a name, of all details or of one. */
function sumOf(name: string, detail: string | null): RawBuilder<unknown> {
  const ofDetail = detail === null ? sql`true` : sql`detail = ${detail}`;
  return sql`coalesce(sum(count) filter (where name = ${name} and ${ofDetail}), 0)::float8`;
}

export async function sumSubscriptionsByDay(
  database: Database,
  projectId: string,
  { span, bounds }: { span: Span; bounds: readonly Date[] },
) {
  const counts = await eventCounts(database, projectId, span, [CONTACT_SUBSCRIBED, CONTACT_UNSUBSCRIBED]);
  const { rows } = await sql<{
    day: number;
    subscribed: number;
    unsubscribed: number;
    by_bounce: number;
    by_complaint: number;
  }>`
    ${plannedEachTime} select ${dayOf(bounds)} as day, ${sumOf(CONTACT_SUBSCRIBED, null)} as subscribed,
      ${sumOf(CONTACT_UNSUBSCRIBED, null)} as unsubscribed, ${sumOf(CONTACT_UNSUBSCRIBED, "bounce")} as by_bounce,
      ${sumOf(CONTACT_UNSUBSCRIBED, "complaint")} as by_complaint
    from (${counts}) counts group by 1`.execute(database);
  return rows;
}

/** The least id of an instant; before 1970 there are none. */
const idAt = (at: Date) =>
  sql`sent_event_id('00000000-0000-0000-0000-000000000000', greatest(${at.toISOString()}::timestamptz, 'epoch'))`;

/** Executions that started in a span. */
export async function countStarted(
  database: Database,
  projectId: string,
  { from, to }: Span,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from workflow_executions x
    where x.project_id = ${projectId} and x.id >= ${idAt(from)} and x.id < ${idAt(to)}`.execute(database);
  return rows[0]?.count ?? 0;
}
