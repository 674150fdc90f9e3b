// Queries that find the queues with due emails.
import { sql, type RawBuilder } from "kysely";
import { among, fromReachableNodes, isCluster, type ListProjects } from "../../platform/database/cluster.ts";
import { plannedOften, type Database } from "../../platform/database/database.ts";

export interface DueQueue {
  projectId: string;
  priority: number;
  /** null: emails outside campaigns. */
  campaignId: string | null;
  /** Whether the recipients are still in batches without rows. */
  isBatched: boolean;
  /** The project's own limit of emails per second, or null for none. */
  sendingRate: number | null;
  /** Destinations that are throttled for the campaign, or for bulk mail outside campaigns. Null if none. */
  paused: PausedDomains[] | null;
}

export interface PausedDomains {
  domains: string[];
  /** Determines the due time of the deferred emails. */
  number: number;
  /** Canaries, which may be sent to the destination as a test. */
  trials: string[];
}

const throttledWhere = (isOf: RawBuilder<unknown>) => sql`(
  select jsonb_agg(jsonb_build_object('domains', h.domains, 'number', h.number, 'trials', h.trial_ids))
  from paused_destinations h where ${isOf} and h.released_at is null) as paused`;
const throttledOf = throttledWhere(sql`h.project_id = c.project_id and h.campaign_id = c.campaign_id`);

/** Open campaign queues `c` with the queue `p` of their project. */
const openCampaigns = (own: boolean) => sql`
  from campaign_queues c join project_queues p on p.project_id = c.project_id and p.is_open and p.own_transports = ${own}`;

/** The first queued email outside campaigns in index order. */
const firstQueued = (after: RawBuilder<unknown>) => sql`
  select e.project_id, e.priority, e.due_at from emails e
  where e.status = 'QUEUED' and e.campaign_id is null ${after}
  order by e.project_id, e.priority, e.due_at limit 1`;

/**
 * Returns the open queues with due emails, most urgent first. Each project has one queue per priority, and each sending campaign has one
 * for rows and one for batches. A recursive query jumps from queue to queue with one index probe each, so projects without email cost
 * nothing. (Probing all of 10,000 projects took 29 ms, and a plain EXISTS made the planner read every waiting email.)
 * @param own whether to list the projects with transports of their own, or the others
 * @param listProjects lets a cluster leave out the queues of nodes that are unreachable
 */
export async function listDueQueues(
  database: Database,
  own: boolean,
  listProjects?: ListProjects,
): Promise<DueQueue[]> {
  if (await isCluster(database)) {
    const { rows } = await fromReachableNodes(database, listProjects, (on, ids) =>
      listDueQueuesOfCluster(on, own, ids),
    );
    return rows.toSorted((one, other) => one.priority - other.priority);
  }
  const { rows } = await sql<DueQueue>`
    ${plannedOften} with recursive queues as (
      (${firstQueued(sql``)})
      union all
      select next.* from queues q
      cross join lateral (${firstQueued(sql`and (e.project_id, e.priority) > (q.project_id, q.priority)`)}) next
    )
    select p.project_id, q.priority, null::uuid as campaign_id, false as is_batched, p.sending_rate,
      ${throttledWhere(sql`h.project_id = p.project_id and h.campaign_id is null`)}
    from queues q
    -- The limit keeps this an index probe. With a join the planner reads all projects.
    cross join lateral (
      select project_id, sending_rate from project_queues where project_id = q.project_id and is_open and own_transports = ${own} limit 1) p
    where q.due_at <= now()
    union all
    select c.project_id, 3::smallint, c.campaign_id, false, p.sending_rate, ${throttledOf}
    ${openCampaigns(own)}
    cross join lateral (
      select 1 from emails e
      where e.project_id = c.project_id and e.campaign_id = c.campaign_id and e.status = 'QUEUED' and e.due_at <= now()
      order by e.project_id, e.campaign_id, e.due_at limit 1) due
    where c.state = 'OPEN'
    union all
    select c.project_id, 3::smallint, c.campaign_id, true, p.sending_rate, ${throttledOf}
    ${openCampaigns(own)}
    cross join lateral (
      select 1 from recipient_batches b
      where b.project_id = c.project_id and b.campaign_id = c.campaign_id
      order by b.project_id, b.campaign_id, b.id limit 1) due
    where c.state = 'OPEN'
    order by 2`.execute(database);
  return rows;
}

/**
 * Whether `query` finds a row. IS TRUE, and an inequality with a column of the outer query, make PostgreSQL probe an index. Otherwise it
 * reads all waiting rows, for a join or a hash table.
 */
const isAny = (query: RawBuilder<unknown>) => sql`(exists (${query})) is true`;
/** An interval of zero that depends on the queue `c` of a campaign. */
const NONE = sql`case when c.state = 'OPEN' then interval '0' end`;

/**
 * The same on a cluster, which accepts no recursive query over projects. Each node probes the open projects that it has, for each priority,
 * and its open campaigns.
 */
async function listDueQueuesOfCluster(
  database: Database,
  own: boolean,
  projectIds: readonly string[] | null,
): Promise<DueQueue[]> {
  // Each table has the condition. Otherwise the cluster asks the nodes of all projects.
  const isMeant = (table: string) => among(sql.ref(`${table}.projectId`), projectIds);
  const throttledBulk = throttledWhere(
    sql`h.project_id = p.project_id and h.campaign_id is null ${isMeant("h")}`,
  );
  const throttledCampaign = throttledWhere(
    sql`h.project_id = c.project_id and h.campaign_id = c.campaign_id ${isMeant("h")}`,
  );
  const open = sql`${openCampaigns(own)} ${isMeant("p")}`;
  const { rows } = await sql<DueQueue>`
    ${plannedOften} select p.project_id, k.priority, null::uuid as campaign_id, false as is_batched, p.sending_rate,
      ${throttledBulk}
    from project_queues p
    cross join (values (1::smallint, interval '0'), (2, interval '0'), (3, interval '0')) as k (priority, none)
    where p.is_open and p.own_transports = ${own} ${isMeant("p")} and ${isAny(sql`
      select 1 from emails e
      where e.project_id = p.project_id ${isMeant("e")} and e.priority = k.priority and e.campaign_id is null and e.status = 'QUEUED'
        and e.due_at <= now() + k.none`)}
    union all
    select c.project_id, 3::smallint, c.campaign_id, false, p.sending_rate, ${throttledCampaign}
    ${open}
    where c.state = 'OPEN' ${isMeant("c")} and ${isAny(sql`
      select 1 from emails e
      where e.project_id = c.project_id ${isMeant("e")} and e.campaign_id = c.campaign_id and e.status = 'QUEUED'
        and e.due_at <= now() + ${NONE}`)}
    union all
    select c.project_id, 3::smallint, c.campaign_id, true, p.sending_rate, ${throttledCampaign}
    ${open}
    where c.state = 'OPEN' ${isMeant("c")} and ${isAny(sql`
      select 1 from recipient_batches b
      where b.project_id = c.project_id ${isMeant("b")} and b.campaign_id = c.campaign_id and b.created_at < timestamptz 'infinity' + ${NONE}`)}
    order by 2`.execute(database);
  return rows;
}
