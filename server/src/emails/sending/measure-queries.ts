// Queries that count the outbox for /metrics.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/**
 * Due times of sendable emails of a priority, oldest first and at most `limit` per queue. The order makes each queue a single index probe.
 */
const dueOfEachQueue = (limit: number) => sql`
  select d.due_at from project_queues p cross join lateral (
    select e.due_at from emails e
    where e.project_id = p.project_id and e.priority = k.priority and e.campaign_id is null and e.status = 'QUEUED'
      and e.due_at <= now()
    order by e.project_id, e.priority, e.due_at limit ${sql.lit(limit)}) d
  where p.is_open
  union all
  select d.due_at from campaign_queues c join project_queues p on p.project_id = c.project_id and p.is_open cross join lateral (
    select e.due_at from emails e
    where e.project_id = c.project_id and e.campaign_id = c.campaign_id and e.status = 'QUEUED' and e.due_at <= now()
    order by e.project_id, e.campaign_id, e.due_at limit ${sql.lit(limit)}) d
  where k.priority = 3 and c.state = 'OPEN'
  union all
  select d.due_at from campaign_queues c join project_queues p on p.project_id = c.project_id and p.is_open cross join lateral (
    select b.created_at as due_at from recipient_batches b cross join unnest(b.email_ids)
    where b.project_id = c.project_id and b.campaign_id = c.campaign_id
    order by b.project_id, b.campaign_id, b.id limit ${sql.lit(limit)}) d
  where k.priority = 3 and c.state = 'OPEN'`;

const MAX_COUNTED = 10_000;

/** Counts the due emails of each priority, up to 10,000, with the age of the oldest. */
export async function measureQueue(database: Database) {
  const { rows } = await sql<{ priority: number; due: number; oldestSeconds: number }>`
    select k.priority,
      (select count(*) from (${dueOfEachQueue(MAX_COUNTED)} limit ${sql.lit(MAX_COUNTED)}) counted)::float8 as due,
      coalesce(extract(epoch from now() - (select min(due_at) from (${dueOfEachQueue(1)}) first)), 0)::float8
        as oldest_seconds
    from (values (1::smallint), (2::smallint), (3::smallint)) as k (priority)`.execute(database);
  return rows;
}

/** Counts emails that wait for a person because their submission got no reply. */
export async function countUnconfirmed(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from emails where status = 'UNCONFIRMED'`.execute(database);
  return rows[0]?.count ?? 0;
}
