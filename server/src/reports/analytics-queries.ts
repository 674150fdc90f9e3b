// Reads statistics over a period, based on the sums of events/counts.ts, and the names of the subjects.
import { sql, type RawBuilder } from "kysely";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { CONTACT_SUBSCRIBED, CONTACT_UNSUBSCRIBED } from "@postloft/contract/event-names.ts";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import { sumMails, sumOthers, type MailColumn, type MailFilter, type Span } from "../events/counts.ts";

export type MailSums = Record<MailColumn, number>;

/** Returns the number of the day, from 1, given the bounds of the days. */
const dayOf = (instant: RawBuilder<unknown>, bounds: readonly Date[]): RawBuilder<unknown> =>
  sql`width_bucket(${instant}, ${bounds.map((bound) => bound.toISOString())}::timestamptz[])`;

/** Sums emails by the number of the day, from 1. Omits days without any. */
export async function sumMailsByDay(
  database: Database,
  projectId: string,
  filter: MailFilter,
  { span, bounds }: { span: Span; bounds: readonly Date[] },
): Promise<Map<string | number, MailSums>> {
  return sumMails(database, projectId, { filter, span, by: (instant) => dayOf(instant, bounds) });
}

const IN_HOURS = ["sent", "opened", "clicked"] as const satisfies readonly MailColumn[];

/** Sums emails by the number of the `stepMs` interval, from 0. */
export async function sumMailsByStep(
  database: Database,
  projectId: string,
  filter: MailFilter,
  { span, stepMs }: { span: Span; stepMs: number },
) {
  const stepOf = (instant: RawBuilder<unknown>) =>
    sql`floor((date_part('epoch', ${instant}) - ${span.from.getTime() / 1_000}::float8) / ${stepMs / 1_000}::float8)::integer`;
  return sumMails(database, projectId, { filter, span, by: stepOf, columns: IN_HOURS });
}

/** Sums emails by the values of a dimension, largest first. */
export async function sumMailsByValue(
  database: Database,
  projectId: string,
  dimension: Dimension,
  span: Span,
): Promise<Array<MailSums & { value: string }>> {
  const sums = await sumMails(database, projectId, {
    filter: { dimension, value: null },
    span,
    by: "value",
  });
  return [...sums]
    .map(([value, row]) => ({ value: String(value), ...row }))
    .filter(({ value: _value, ...row }) => Object.values(row).some((count) => count !== 0))
    .toSorted((one, other) => other.sent - one.sent || (one.value < other.value ? -1 : 1));
}

const NAMED_TABLES = {
  campaign: { table: "campaigns", label: "name" },
  template: { table: "templates", label: "name" },
  workflow: { table: "workflows", label: "name" },
} as const;

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

/** Returns the event names of a period and the previous one, with the counts of each. */
export async function sumNames(
  database: Database,
  projectId: string,
  { previous, current }: { previous: Span; current: Span },
) {
  const isCurrent = sql`f.at >= ${current.from.toISOString()}::timestamptz`;
  const sums = await sumOthers(database, projectId, {
    span: { from: previous.from, to: current.to },
    only: null,
    by: sql`f.name`,
    sums: {
      count: sql`sum(f.count) filter (where ${isCurrent})`,
      previousCount: sql`sum(f.count) filter (where not ${isCurrent})`,
    },
  });
  return [...sums].map(([name, row]) => ({ name: String(name), ...row }));
}

export async function sumEvents(database: Database, projectId: string, span: Span): Promise<number> {
  const sums = await sumOthers(database, projectId, {
    span,
    only: null,
    by: sql`1`,
    sums: { count: sql`sum(f.count)` },
  });
  return sums.get(1)?.count ?? 0;
}

/** Returns the sum of the counts of a name, for one detail or for all. */
function sumOf(name: string, detail: string | null): RawBuilder<unknown> {
  const ofDetail = detail === null ? sql`true` : sql`f.detail = ${detail}`;
  return sql`sum(f.count) filter (where f.name = ${name} and ${ofDetail})`;
}

export async function sumSubscriptionsByDay(
  database: Database,
  projectId: string,
  { span, bounds }: { span: Span; bounds: readonly Date[] },
) {
  return sumOthers(database, projectId, {
    span,
    only: [CONTACT_SUBSCRIBED, CONTACT_UNSUBSCRIBED],
    by: dayOf(sql`f.at`, bounds),
    sums: {
      subscribed: sumOf(CONTACT_SUBSCRIBED, null),
      unsubscribed: sumOf(CONTACT_UNSUBSCRIBED, null),
      byBounce: sumOf(CONTACT_UNSUBSCRIBED, "bounce"),
      byComplaint: sumOf(CONTACT_UNSUBSCRIBED, "complaint"),
    },
  });
}

/** Returns the lowest id at a time. There are none before 1970. */
const idAt = (at: Date) =>
  sql`sent_event_id('00000000-0000-0000-0000-000000000000', greatest(${at.toISOString()}::timestamptz, 'epoch'))`;

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

/**
 * Counts the contacts that were added as subscribed by the number of the day, from 1. Reads the consent logs of these contacts, newest
 * contacts first, up to `most` entries. Contact ids follow the time, so the primary key finds them. If there are more, `complete` is the first day that was read
 * completely.
 */
export async function countArrivals(
  database: Database,
  projectId: string,
  { span: { from, to }, bounds, most }: { span: Span; bounds: readonly Date[]; most: number },
): Promise<{ byDay: Map<number, number>; complete: number }> {
  const { rows } = await sql<{ day: number; subscribed: number; count: number }>`
    ${plannedEachTime} select ${dayOf(sql`a.created_at`, bounds)} as day,
      (count(*) filter (where a.subscribed and a.id = a.contact_id))::float8 as subscribed, count(*)::float8 as count
    from (
      -- All entries, because the planner expects few first ones and would sort every entry of the project.
      select c.created_at, c.subscribed, c.id, c.contact_id from consent_changes c
      where c.project_id = ${projectId} and c.contact_id >= ${idAt(from)} and c.contact_id < ${idAt(to)}
      order by c.contact_id desc, c.id desc limit ${most + 1}
    ) a group by 1 order by 1`.execute(database);
  const isCut = rows.reduce((sum, { count }) => sum + count, 0) > most;
  return {
    byDay: new Map(rows.map(({ day, subscribed }) => [day, subscribed])),
    complete: isCut ? (rows[0]?.day ?? 0) + 1 : 1,
  };
}
