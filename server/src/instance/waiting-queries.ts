// Queries of the installation page on waiting email: what waits in each queue, since when, and the state of the queue.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";

export interface WaitingRow {
  projectId: string;
  projectName: string;
  isDisabled: boolean;
  isOpen: boolean;
  sendingRate: number | null;
  priority: number;
  campaignId: string | null;
  campaignName: string | null;
  campaignState: string | null;
  waiting: number;
  due: number;
  held: boolean;
  /** Whether some wait for a throttled domain. */
  isDeferred: boolean;
  /** Whether the next one was deferred by a mail server and is retried soon. */
  isRetry: boolean;
  /** Null if all are held or deferred. */
  oldestDueAt: Date | null;
}

export interface WaitingLimits {
  /** Queues to return. */
  limit: number;
  /** Emails to count in each queue. */
  counted: number;
}

/** Emails deferred for a throttled domain are due in this year or later. */
const NEVER = sql`timestamptz '9999-01-01 00:00:00Z'`;

/** Returns the queues of projects by kind, without campaigns. Queues that may send come first, each the oldest first. */
export async function listProjectQueues(tx: Tx, { limit, counted }: WaitingLimits): Promise<WaitingRow[]> {
  const mine = sql`e.project_id = o.project_id and e.priority = o.priority and e.campaign_id is null and e.status = 'QUEUED'`;
  const { rows } = await sql<WaitingRow>`
    select o.project_id, p.name as project_name, p.disabled as is_disabled, o.is_open, o.sending_rate, o.priority,
      null as campaign_id, null as campaign_name, null as campaign_state,
      (select count(*) from (select 1 from emails e where ${mine} limit ${counted}) n)::float8 as waiting,
      (select count(*) from (select 1 from emails e where ${mine} and e.due_at <= now() limit ${counted}) n)::float8 as due,
      exists (select 1 from emails e where ${mine} and e.due_at = 'infinity') as held,
      exists (select 1 from emails e where ${mine} and e.due_at >= ${NEVER} and e.due_at < 'infinity') as is_deferred,
      o.oldest < ${NEVER} and (select e.attempts > 0 from emails e where ${mine} order by e.due_at limit 1) is true as is_retry,
      case when o.oldest < ${NEVER} then o.oldest end as oldest_due_at
    from (
      select w.* from (
        select q.project_id, q.is_open, q.sending_rate, k.priority,
          (select min(e.due_at) from emails e where e.project_id = q.project_id and e.priority = k.priority
            and e.campaign_id is null and e.status = 'QUEUED') as oldest
        from project_queues q cross join (values (1::smallint), (2::smallint), (3::smallint)) as k (priority)
      ) w where w.oldest is not null order by not w.is_open, w.oldest, w.project_id, w.priority limit ${limit}
    ) o join projects p on p.id = o.project_id
    order by not o.is_open, o.oldest, o.project_id, o.priority`.execute(tx);
  return rows;
}

/** Recipients of a batch are an array, and a batch has up to 40. */
const BATCH_RECIPIENTS = 40;

/** Returns the queues of campaigns with waiting email. Queues that may send come first, each the oldest first. */
export async function listCampaignQueues(tx: Tx, { limit, counted }: WaitingLimits): Promise<WaitingRow[]> {
  const mine = sql`e.project_id = o.project_id and e.campaign_id = o.campaign_id and e.status = 'QUEUED'`;
  const inBatches = sql`(select coalesce(sum(cardinality(n.email_ids)), 0) from (
    select b.email_ids from recipient_batches b where b.project_id = o.project_id and b.campaign_id = o.campaign_id
    limit ${Math.ceil(counted / BATCH_RECIPIENTS)}) n)`;
  const { rows } = await sql<WaitingRow>`
    select o.project_id, p.name as project_name, p.disabled as is_disabled, o.is_open, o.sending_rate, 3 as priority,
      o.campaign_id, c.name as campaign_name, o.state as campaign_state,
      least(${counted}, (select count(*) from (select 1 from emails e where ${mine} limit ${counted}) n) + ${inBatches})::float8
        as waiting,
      least(${counted}, (select count(*) from (
        select 1 from emails e where ${mine} and e.due_at <= now() limit ${counted}) n) + ${inBatches})::float8 as due,
      exists (select 1 from emails e where ${mine} and e.due_at = 'infinity') as held,
      exists (select 1 from emails e where ${mine} and e.due_at >= ${NEVER} and e.due_at < 'infinity') as is_deferred,
      o.oldest < ${NEVER} and (select e.attempts > 0 from emails e where ${mine} order by e.due_at limit 1) is true as is_retry,
      case when o.oldest < ${NEVER} then o.oldest end as oldest_due_at
    from (
      select w.* from (
        select q.project_id, q.campaign_id, q.state, r.is_open, r.sending_rate, least(
          (select min(e.due_at) from emails e where e.project_id = q.project_id and e.campaign_id = q.campaign_id
            and e.status = 'QUEUED'),
          (select b.created_at from recipient_batches b where b.project_id = q.project_id and b.campaign_id = q.campaign_id
            order by b.id limit 1)) as oldest
        from campaign_queues q join project_queues r on r.project_id = q.project_id
      ) w where w.oldest is not null order by not (w.is_open and w.state = 'OPEN'), w.oldest, w.project_id, w.campaign_id limit ${limit}
    ) o
    join projects p on p.id = o.project_id
    join campaigns c on c.project_id = o.project_id and c.id = o.campaign_id
    order by not (o.is_open and o.state = 'OPEN'), o.oldest, o.project_id, o.campaign_id`.execute(tx);
  return rows;
}

/** Counts emails in doubt of all projects, up to a number. */
export async function countInDoubt(tx: Tx, counted: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from (select 1 from emails where status = 'UNCONFIRMED' limit ${counted}) n`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}
