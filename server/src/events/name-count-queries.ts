// Maintains the number of events per name up to the counted position (docs/decisions/0090-event-name-counts.md).
import { sql, type RawBuilder } from "kysely";
import { EMAIL_SENT } from "@postloft/contract/event-names.ts";
import { firstEventIdAt, isEmailSent } from "../emails/rows/sent-events.ts";
import { plannedEachTime, type Tx } from "../platform/database/database.ts";
import { shownEvents } from "./deletion-queries.ts";

type Expression = RawBuilder<unknown>;

/** Returns the month (UTC) of an id. */
const monthOf = (id: Expression) =>
  sql`date_trunc('month', to_timestamp(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000) at time zone 'UTC')::date`;

/** No id is older, because UUIDv7 did not exist before. */
const FIRST_MONTH = sql`date '2015-01-01'`;
const MONTH_AS_ID = firstEventIdAt(sql`m at time zone 'UTC'`);
/** The first ids of all months. Searching them takes a tenth of the time of computing the month of an id. */
const MONTHS = sql`(
  select array_agg(${MONTH_AS_ID} order by m)
  from generate_series(${FIRST_MONTH}::timestamp, (now() + interval '10 years')::timestamp, interval '1 month') m)`;

/**
 * Adds events to the counts of their names, or subtracts them.
 * @param meant conditions on recorded events `v` and sent emails `e`, in addition to the project
 */
export async function upsertNameCounts(
  tx: Tx,
  projectId: string,
  { recorded, sent }: { recorded: Expression; sent: Expression },
  sign: 1 | -1,
): Promise<void> {
  await sql`
    ${plannedEachTime} insert into event_name_counts as c (project_id, name, month, count)
    select ${projectId}::uuid, name, month, ${sign}::integer * sum(count) from (
      select name, (${FIRST_MONTH} + make_interval(months => number - 1))::date as month, count from (
        select v.name, width_bucket(v.id, ${MONTHS}) as number, count(*) as count from ${shownEvents(projectId)}
        where v.project_id = ${projectId} and ${recorded} group by 1, 2
      ) numbered
      union all
      select ${EMAIL_SENT}, date_trunc('month', e.sent_at at time zone 'UTC')::date, count(*) from emails e
      where e.project_id = ${projectId} and ${isEmailSent(null)} and ${sent} group by 2
    ) each group by name, month order by name, month
    on conflict (project_id, name, month) do update set count = c.count + excluded.count`.execute(tx);
}

/** Deletes the counts of a name. */
export async function deleteNameCounts(tx: Tx, projectId: string, name: string): Promise<void> {
  await sql`delete from event_name_counts where project_id = ${projectId} and name = ${name}`.execute(tx);
}

/** Deletes the counts of months before an id. Emails stay counted, because their rows are kept. */
export async function deleteOldNameCounts(
  tx: Tx,
  projectIds: readonly string[],
  keptFrom: string,
): Promise<void> {
  await sql`
    delete from event_name_counts
    where project_id = any(${projectIds}::uuid[]) and name <> ${EMAIL_SENT} and month < ${monthOf(sql`${keptFrom}::uuid`)}`.execute(
    tx,
  );
}
