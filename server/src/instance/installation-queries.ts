// Queries of the installation page, over all projects. Each one is bounded in rows, and its transaction bounds its time.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";

export async function readDatabase(tx: Tx) {
  const { rows } = await sql<{ version: string; bytes: number; connections: number; maxConnections: number }>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      pg_database_size(current_database())::float8 as bytes,
      (select count(*) from pg_stat_activity where datname = current_database())::integer as connections,
      current_setting('max_connections')::integer as max_connections`.execute(tx);
  return rows[0] ?? { version: "", bytes: 0, connections: 0, maxConnections: 0 };
}

/** Returns the sending parts of processes, whose outages others report. */
export async function listSenders(tx: Tx, limit: number) {
  const { rows } = await sql<{ outages: string[]; isAlive: boolean }>`
    select outages, lease_until > now() as is_alive from senders order by started_at, id limit ${limit}`.execute(
    tx,
  );
  return rows;
}

export async function listThrottledDomains(tx: Tx, limit: number) {
  const { rows } = await sql<{
    projectId: string;
    projectName: string;
    campaignId: string | null;
    destination: string;
    reply: string;
    since: Date;
    tryAt: Date;
  }>`
    select d.project_id, p.name as project_name, d.campaign_id, d.destination, d.answer as reply, d.since, d.try_at
    from paused_destinations d join projects p on p.id = d.project_id
    where d.released_at is null order by d.since, d.project_id, d.number limit ${limit}`.execute(tx);
  return rows;
}

export interface InstallationJobRow {
  projectId: string;
  projectName: string;
  id: string;
  kind: string;
  state: string;
  isLate: boolean;
  failures: number;
  failedReason: string | null;
  createdAt: Date;
}

/** Returns open jobs by their due time, then those that failed within a day. A job is late a minute after its due time or its lease. */
export async function listInstallationJobs(tx: Tx, limit: number): Promise<InstallationJobRow[]> {
  const columns = sql`j.project_id, p.name as project_name, j.id, j.kind, j.state, j.failures, j.failed_reason, j.created_at`;
  const { rows } = await sql<InstallationJobRow>`
    (select ${columns}, j.due_at < now() - interval '1 minute' as is_late
      from jobs j join projects p on p.id = j.project_id
      where j.state in ('waiting', 'active') order by j.due_at, j.id limit ${limit})
    union all
    (select ${columns}, false as is_late
      from jobs j join projects p on p.id = j.project_id
      where j.state = 'failed' and j.finished_at > now() - interval '1 day' order by j.finished_at desc, j.id limit ${limit})
    limit ${limit}`.execute(tx);
  return rows;
}

/** Returns the next campaigns and workflows with a schedule. They are late five minutes after their time. */
export async function listSchedules(tx: Tx, limit: number) {
  const { rows } = await sql<{
    kind: string;
    projectId: string;
    projectName: string;
    id: string;
    name: string;
    at: Date;
    isLate: boolean;
  }>`
    select s.kind, s.project_id, p.name as project_name, s.id, s.name, s.at,
      s.at < now() - interval '5 minutes' and not p.disabled as is_late
    from (
      (select 'CAMPAIGN' as kind, project_id, id, name, scheduled_for as at from campaigns
        where status = 'SCHEDULED' and scheduled_for < 'infinity' order by scheduled_for limit ${limit})
      union all
      (select 'WORKFLOW' as kind, project_id, id, name, next_run_at as at from workflows
        where next_run_at < 'infinity' order by next_run_at limit ${limit})
    ) s join projects p on p.id = s.project_id
    order by s.at, s.id limit ${limit}`.execute(tx);
  return rows;
}

export async function listInstallationProjectRows(tx: Tx, search: string | null, limit: number) {
  const owner = sql`(select u.email from memberships m join users u on u.id = m.user_id
    where m.project_id = p.id and m.role = 'OWNER' order by m.created_at limit 1)`;
  const text = search?.toLowerCase() ?? null;
  const matching = sql`p.id <> ${SYSTEM_PROJECT_ID} and (${text}::text is null or p.id::text = ${text}
    or strpos(lower(p.name), ${text}) > 0 or strpos(lower(${owner}), ${text}) > 0)`;
  const { rows } = await sql<{
    id: string;
    name: string;
    owner: string | null;
    createdAt: Date;
    disabled: boolean;
    removal: string | null;
    sendingRate: number | null;
    transactional: number | null;
    campaigns: number | null;
    workflows: number | null;
    sent: number;
  }>`
    select f.*, q.sending_rate, b.transactional, b.campaigns, b.workflows,
      (select coalesce(sum(h.sent), 0) from sending_hours h
        where h.project_id = f.id and h.hour > now() - interval '30 days')::float8 as sent
    from (
      select p.id, p.name, ${owner} as owner, p.created_at, p.disabled, p.removal from projects p
      where ${matching} order by p.disabled desc, p.id desc limit ${limit}
    ) f
    left join project_queues q on q.project_id = f.id
    left join billing_limits b on b.project_id = f.id
    order by f.disabled desc, f.id desc`.execute(tx);
  const counted = await sql<{ count: number }>`
    select count(*)::float8 as count from projects p where ${matching}`.execute(tx);
  return { rows, total: counted.rows[0]?.count ?? 0 };
}
