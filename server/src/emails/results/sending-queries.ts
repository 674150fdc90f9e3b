// Queries on `sending_hours`, the hourly counters of sent and returned emails.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { isOfCountedProject } from "../rows/system-project-queries.ts";

export interface SendingHourRow extends Row<
  "sending_hours",
  "projectId" | "sent" | "refused" | "bounced" | "complained"
> {
  /** Start of the hour, or null for the current one. */
  at: Date | null;
}

export async function upsertSendingHours(tx: Tx, hours: readonly SendingHourRow[]): Promise<void> {
  const source = sql`
    select * from unnest(
      ${hours.map((hour) => hour.projectId)}::uuid[],
      ${hours.map((hour) => hour.at?.toISOString() ?? null)}::timestamptz[],
      ${hours.map((hour) => hour.sent)}::integer[],
      ${hours.map((hour) => hour.refused)}::integer[],
      ${hours.map((hour) => hour.bounced)}::integer[],
      ${hours.map((hour) => hour.complained)}::integer[])`;
  await addToSendingHours(source).execute(tx);
}

/**
 * Builds a statement that adds the rows of `source` (project, time, sent, refused, bounced, complained). Sorts them, so that two counting
 * transactions cannot deadlock. A null time means now.
 */
export function addToSendingHours(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into sending_hours as s (project_id, hour, sent, refused, bounced, complained)
    select project_id, date_bin('1 hour', coalesce(at, now()), timestamptz 'epoch') as hour,
      sum(sent), sum(refused), sum(bounced), sum(complained)
    from (${source}) as i (project_id, at, sent, refused, bounced, complained)
    where ${isOfCountedProject}
    group by 1, 2 order by 1, 2
    on conflict (project_id, hour) do update set
      sent = s.sent + excluded.sent, refused = s.refused + excluded.refused,
      bounced = s.bounced + excluded.bounced, complained = s.complained + excluded.complained`;
}

export async function sumSendingHours(
  database: Database,
  projects: ReadonlyArray<{ projectId: string; from: Date | null }>,
) {
  const inDay = sql`s.hour > now() - interval '25 hours'`;
  const inWeek = sql`s.hour > now() - interval '169 hours'`;
  const { rows } = await sql<{
    projectId: string;
    totalDay: number;
    bouncesDay: number;
    complaintsDay: number;
    totalWeek: number;
    bouncesWeek: number;
    complaintsWeek: number;
    totalAll: number;
    bouncesAll: number;
    complaintsAll: number;
  }>`
    select s.project_id,
      coalesce(sum(s.sent + s.refused) filter (where ${inDay}), 0)::float8 as total_day,
      coalesce(sum(s.bounced + s.refused) filter (where ${inDay}), 0)::float8 as bounces_day,
      coalesce(sum(s.complained) filter (where ${inDay}), 0)::float8 as complaints_day,
      coalesce(sum(s.sent + s.refused) filter (where ${inWeek}), 0)::float8 as total_week,
      coalesce(sum(s.bounced + s.refused) filter (where ${inWeek}), 0)::float8 as bounces_week,
      coalesce(sum(s.complained) filter (where ${inWeek}), 0)::float8 as complaints_week,
      sum(s.sent + s.refused)::float8 as total_all,
      sum(s.bounced + s.refused)::float8 as bounces_all,
      sum(s.complained)::float8 as complaints_all
    from unnest(
      ${projects.map((project) => project.projectId)}::uuid[],
      ${projects.map((project) => project.from?.toISOString() ?? null)}::timestamptz[]
    ) as i (project_id, since)
    join sending_hours s on s.project_id = i.project_id and (i.since is null or s.hour > i.since)
    group by s.project_id`.execute(database);
  return rows;
}

/** Emails that a project sent per hour, on average of the last 30 days. */
export async function averageSendingHour(database: Database, projectId: string): Promise<number> {
  const { rows } = await sql<{ average: number }>`
    select coalesce(sum(sent), 0)::float8 / (30 * 24) as average from sending_hours
    where project_id = ${projectId} and hour > now() - interval '30 days'`.execute(database);
  return rows[0]?.average ?? 0;
}

export interface SendingProject {
  projectId: string;
  /** Emails of this hour and the previous one. Changes with each counted email. */
  mails: number;
  hour: Date;
}

/** Returns projects that sent email in this or the previous hour and have `enough` bounces or complaints in total. */
export async function listSendingProjects(
  database: Database,
  enough: { bounces: number; complaints: number },
): Promise<SendingProject[]> {
  const thisHour = sql`date_bin('1 hour', now(), timestamptz 'epoch')`;
  const { rows } = await sql<SendingProject>`
    select a.project_id, a.mails, ${thisHour} as hour from (
      select project_id, sum(sent + refused)::float8 as mails from sending_hours
      where hour >= ${thisHour} - interval '1 hour' group by project_id
    ) a
    where exists (
      select 1 from sending_hours b
      where b.project_id = a.project_id and b.refused + b.bounced + b.complained > 0
      group by b.project_id
      having sum(b.refused + b.bounced) >= ${enough.bounces} or sum(b.complained) >= ${enough.complaints})`.execute(
    database,
  );
  return rows;
}

export interface Miscount {
  projectId: string;
  hour: Date;
  counted: number[];
  real: number[];
}

export async function listMiscounts(database: Database): Promise<Miscount[]> {
  const { rows } = await sql<Miscount>`
    with left_mails as (
      select project_id, date_bin('1 hour', sent_at, timestamptz 'epoch') as hour, count(*) as sent,
        count(bounced_at) as bounced, count(complained_at) as complained
      from emails where sent_at is not null and is_test is null group by 1, 2
    ), refusals as (
      select a.project_id, date_bin('1 hour', a.created_at, timestamptz 'epoch') as hour, count(*) as refused
      from email_attempts a join emails e on e.project_id = a.project_id and e.id = a.email_id
      where a.meaning = 'hard-bounce' and e.is_test is null group by 1, 2
    ), recount as (
      select project_id, hour, coalesce(sent, 0) as sent, coalesce(refused, 0) as refused,
        coalesce(bounced, 0) as bounced, coalesce(complained, 0) as complained
      from left_mails full join refusals using (project_id, hour) where ${isOfCountedProject}
    )
    select project_id, hour,
      array[s.sent, s.refused, s.bounced, s.complained]::float8[] as counted,
      array[r.sent, r.refused, r.bounced, r.complained]::float8[] as real
    from sending_hours s full join recount r using (project_id, hour)
    where (s.sent, s.refused, s.bounced, s.complained) is distinct from (r.sent, r.refused, r.bounced, r.complained)
    order by project_id, hour`.execute(database);
  return rows;
}
