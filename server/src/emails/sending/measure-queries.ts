// Queries that count the outbox for /metrics.
import { sql } from "kysely";
import { isCluster } from "../../platform/database/cluster.ts";
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

interface MeasuredQueue {
  priority: number;
  due: number;
  oldestSeconds: number;
}

/** Counts the due emails of each priority, up to 10,000, with the age of the oldest. */
export async function measureQueue(database: Database): Promise<MeasuredQueue[]> {
  if (await isCluster(database)) return measureQueueOfCluster(database);
  const { rows } = await sql<MeasuredQueue>`
    select k.priority,
      (select count(*) from (${dueOfEachQueue(MAX_COUNTED)} limit ${sql.lit(MAX_COUNTED)}) counted)::float8 as due,
      coalesce(extract(epoch from now() - (select min(due_at) from (${dueOfEachQueue(1)}) first)), 0)::float8
        as oldest_seconds
    from (values (1::smallint), (2::smallint), (3::smallint)) as k (priority)`.execute(database);
  return rows;
}

/** The same on a cluster, which accepts no limit for each queue. Its workers count all due emails at the same time. */
async function measureQueueOfCluster(database: Database): Promise<MeasuredQueue[]> {
  const { rows } = await sql<MeasuredQueue>`
    with counted as (
      select e.priority, count(*) as due, min(e.due_at) as since
      from emails e join project_queues p on p.project_id = e.project_id and p.is_open
      where e.campaign_id is null and e.status = 'QUEUED' and e.due_at <= now() group by e.priority
      union all
      select 3, count(*), min(e.due_at)
      from emails e join campaign_queues c on c.project_id = e.project_id and c.campaign_id = e.campaign_id and c.state = 'OPEN'
      join project_queues p on p.project_id = e.project_id and p.is_open
      where e.status = 'QUEUED' and e.due_at <= now()
      union all
      select 3, sum(cardinality(b.email_ids)), min(b.created_at)
      from recipient_batches b
      join campaign_queues c on c.project_id = b.project_id and c.campaign_id = b.campaign_id and c.state = 'OPEN'
      join project_queues p on p.project_id = b.project_id and p.is_open
    )
    select priority, least(coalesce(sum(due), 0), ${sql.lit(MAX_COUNTED)})::float8 as due,
      coalesce(extract(epoch from now() - min(since)), 0)::float8 as oldest_seconds
    from counted group by priority`.execute(database);
  return rows;
}

/** Counts emails that wait for a person because their submission got no reply. */
export async function countUnconfirmed(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from emails where status = 'UNCONFIRMED'`.execute(database);
  return rows[0]?.count ?? 0;
}
