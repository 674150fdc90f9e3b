// Queries on `billing_usage`, and on the metering progress of each Stripe customer.
import { sql } from "kysely";
import type { CapCategory } from "@postloft/contract/limits/billing.ts";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { sentMails, type Span } from "../events/counts.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import { ofProject } from "../platform/database/of-project.ts";

/** Starts metering of running subscriptions, from the current quarter of an hour on, because emails are counted per quarter. */
export async function beginMetering(database: Database, over: readonly string[]): Promise<void> {
  await sql`
    update billing_customers set metered_from = date_bin('15 minutes', now(), 'epoch'), updated_at = now()
    where metered_from is null and subscription_status is not null
      and subscription_status <> all(${over}::text[])`.execute(database);
}

export interface MeteredRow {
  projectId: string;
  customerId: string;
  meteredFrom: Date;
  /** The next day, such as `2026-11-23`. */
  day: string;
}

/** Lists metered projects with a due day, oldest first. Skips days before `oldest`. */
export async function listMetered(
  database: Database,
  { oldest, last, limit }: { oldest: string; last: string; limit: number },
): Promise<MeteredRow[]> {
  const { rows } = await sql<MeteredRow>`
    select project_id, customer_id, metered_from, day::text as day from (
      select *, greatest(metered_to + 1, (metered_from at time zone 'UTC')::date, ${oldest}::date) as day
      from billing_customers where metered_from is not null
    ) metered
    where day <= ${last}::date order by day, project_id limit ${limit}`.execute(database);
  return rows;
}

/** Counts the emails sent in a span by kind. Ignores test emails. */
export async function readSent(tx: Tx, projectId: string, span: Span): Promise<Map<EmailKind, number>> {
  const sent = await sentMails(tx, projectId, span);
  const { rows } = await sql<{ kind: EmailKind; count: number }>`
    ${plannedEachTime} select kind, sum(sent)::float8 as count from (${sent}) sent group by 1`.execute(tx);
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

/** Advances metering to a day. Returns false if another process did, or if metering ended or is held. */
export async function moveMetered(tx: Tx, { projectId, day }: MeteredRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update billing_customers set metered_to = ${day}::date
    where project_id = ${projectId} and isfinite(metered_from)
      and (metered_to is null or metered_to < ${day}::date)`.execute(tx);
  return numAffectedRows === 1n;
}

export async function insertUsage(
  tx: Tx,
  { projectId, customerId, day }: MeteredRow,
  used: ReadonlyArray<{ category: CapCategory; value: number }>,
): Promise<void> {
  await sql`
    insert into billing_usage (project_id, day, category, customer_id, value)
    select ${projectId}, ${day}::date, u.category, ${customerId}, u.value
    from unnest(
      ${used.map(({ category }) => category)}::text[], ${used.map(({ value }) => value)}::integer[]
    ) as u (category, value)
    on conflict (project_id, day, category) do nothing`.execute(tx);
}

export interface UsageKey {
  projectId: string;
  day: string;
  category: CapCategory;
}

export interface ClaimedUsage extends UsageKey {
  customerId: string;
  value: number;
  tries: number;
  /** Whether no earlier attempt is open, so that this one decides. */
  isFirst: boolean;
}

/** Lists projects with usage to report, longest overdue first. */
export async function listDueUsage(database: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    select project_id from billing_usage where reported_at is null and not in_doubt and due_at <= now()
    group by project_id order by min(due_at) limit ${limit}`.execute(database);
  return rows.map((row) => row.projectId);
}

/** Claims due usage of a project. Stripe may have it from the commit on. */
export async function claimUsage(
  database: Database,
  projectId: string,
  { seconds, limit }: { seconds: number; limit: number },
): Promise<ClaimedUsage[]> {
  const { rows } = await sql<ClaimedUsage>`
    with due as materialized (
      select day, category, open_since is null as is_first, coalesce(open_since, now()) as since
      from billing_usage
      where project_id = ${projectId} and reported_at is null and not in_doubt and due_at <= now()
      order by due_at limit ${limit} for update skip locked
    )
    update billing_usage u set due_at = now() + make_interval(secs => ${seconds}), tries = u.tries + 1,
      open_since = d.since
    from due d where u.project_id = ${projectId} and u.day = d.day and u.category = d.category
    returning u.project_id, u.day::text as day, u.category, u.customer_id, u.value, u.tries, d.is_first`.execute(
    database,
  );
  return rows;
}

export async function markReported(
  database: Database,
  { projectId, day, category }: UsageKey,
): Promise<void> {
  await sql`
    update billing_usage set reported_at = now(), open_since = null, error = null
    where project_id = ${projectId} and day = ${day}::date and category = ${category}`.execute(database);
}

/** @param isClosed whether Stripe certainly does not have the usage */
export async function markFailed(
  database: Database,
  { projectId, day, category }: UsageKey,
  { error, isClosed, waitSeconds }: { error: string; isClosed: boolean; waitSeconds: number },
): Promise<void> {
  await sql`
    update billing_usage set error = ${error}, due_at = now() + make_interval(secs => ${waitSeconds}),
      open_since = case when ${isClosed}::boolean then null else open_since end
    where project_id = ${projectId} and day = ${day}::date and category = ${category}`.execute(database);
}

/** Marks usage that was open for so long that Stripe may have forgotten the identifier. */
export async function markInDoubt(database: Database, hours: number): Promise<UsageKey[]> {
  const { rows } = await sql<UsageKey>`
    update billing_usage set in_doubt = true
    where reported_at is null and not in_doubt and open_since < now() - make_interval(hours => ${hours})
    returning project_id, day::text as day, category`.execute(database);
  return rows;
}

/** Holds metering with the day `infinity`, and marks unreported usage as in doubt because it may have been reported. */
export async function holdUsageRows(tx: Tx): Promise<void> {
  await sql`update billing_usage set in_doubt = true where reported_at is null and not in_doubt`.execute(tx);
  await sql`
    update billing_customers set metered_from = 'infinity', metered_to = null where metered_from is not null`.execute(
    tx,
  );
}

/** Restarts metering from now on. Earlier usage is not reported again. */
export async function updateMeteringToBegin(tx: Tx, projectId: string | null): Promise<void> {
  await sql`
    update billing_customers set metered_from = null
    where metered_from = 'infinity' ${ofProject(projectId)}`.execute(tx);
}

export async function countHeldMetering(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from billing_customers where metered_from = 'infinity'`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}
