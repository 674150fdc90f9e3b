// Queries that start executions.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { isCluster } from "../../platform/database/cluster.ts";
import { plannedEachTime, type Database, type Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";

/**
 * Returns enabled workflows with their current graphs, locked until the end of the transaction.
 * The workflows are locked first in a separate statement, because a statement that waits for an edit still sees the versions as of its
 * start.
 */
export async function findEnterableForShare(
  tx: Tx,
  projectId: string,
  by: { ids: readonly string[] } | { events: readonly string[] },
) {
  const isAsked =
    "ids" in by ? sql`w.id = any(${by.ids}::uuid[])` : sql`w.trigger_event = any(${by.events}::text[])`;
  const { rows: locked } = await sql<{ id: string }>`
    select w.id from workflows w
    where w.project_id = ${projectId} and w.enabled and ${isAsked} order by w.id for share`.execute(tx);
  if (locked.length === 0) return [];
  const { rows } = await sql<{
    id: string;
    name: string;
    version: number;
    allowReentry: boolean;
    triggerType: string;
    triggerConfig: unknown;
    triggerEvent: string | null;
    datesSince: Date | null;
    graph: unknown;
  }>`
    select w.id, w.name, w.version, w.allow_reentry, w.trigger_type, w.trigger_config, w.trigger_event, w.dates_since, v.graph
    from workflows w join workflow_versions v on v.project_id = w.project_id and v.workflow_id = w.id and v.version = w.version
    where w.project_id = ${projectId} and w.id = any(${locked.map(({ id }) => id)}::uuid[])
    order by w.id for key share of v`.execute(tx);
  return rows;
}

export interface NewExecutionRow {
  id: string;
  workflowId: string;
  contactId: string;
  isOnce: boolean;
  /** See `Entry`. */
  occursAt?: Date | null;
  version: number;
  stepId: string;
  context: string | null;
  /** Null means now. */
  startedAt: Date | null;
  fromPublicKey: true | null;
}

/** Inserts executions of contacts that may enter. Returns the inserted ids. */
export async function insertExecutions(
  tx: Tx,
  projectId: string,
  executions: readonly NewExecutionRow[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, step_id, due_at, context, started_at,
      from_public_key)
    select ${projectId}::uuid, i.id, i.workflow_id, c.id,
      -- Constant if the contact may enter only once, in seconds if once for a date, otherwise a unique value from the id.
      case when i.is_once then 0 when i.occurs_at is not null then extract(epoch from i.occurs_at)::bigint else ('x' || substring(i.id::text from 1 for 8) || substring(i.id::text from 10 for 4)
        || right(i.id::text, 4))::bit(64)::bigint end,
      i.version, i.step_id, now(), i.context, least(i.started_at, now()), i.from_public_key
    from unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ workflowId }) => workflowId)}::uuid[],
      ${executions.map(({ contactId }) => contactId)}::uuid[],
      ${executions.map(({ isOnce }) => isOnce)}::boolean[],
      ${executions.map(({ occursAt }) => occursAt?.toISOString() ?? null)}::timestamptz[],
      ${executions.map(({ version }) => version)}::integer[],
      ${executions.map(({ stepId }) => stepId)}::uuid[],
      ${executions.map(({ context }) => context)}::jsonb[],
      ${executions.map(({ startedAt }) => startedAt?.toISOString() ?? null)}::timestamptz[],
      ${executions.map(({ fromPublicKey }) => fromPublicKey)}::boolean[]
    ) as i (id, workflow_id, contact_id, is_once, occurs_at, version, step_id, context, started_at, from_public_key)
    join contacts c on c.project_id = ${projectId} and c.id = i.contact_id
    -- A contact that entered while re-entry was allowed does not enter again.
    where not i.is_once or not exists (
      select 1 from workflow_executions x
      where x.project_id = ${projectId} and x.contact_id = i.contact_id and x.workflow_id = i.workflow_id)
    -- The earliest of several entries of one contact wins.
    order by i.workflow_id, c.id, i.id
    on conflict do nothing returning id`.execute(tx);
  if (rows.length > 0) notify(tx, "workflows");
  return rows.map((row) => row.id);
}

/** Marks versions as used, so that their graphs no longer change. */
export async function markVersionsUsed(
  tx: Tx,
  projectId: string,
  versions: ReadonlyArray<{ workflowId: string; version: number }>,
): Promise<void> {
  await sql`
    update workflow_versions v set is_used = true
    from (select distinct * from unnest(
      ${versions.map(({ workflowId }) => workflowId)}::uuid[],
      ${versions.map(({ version }) => version)}::integer[]) as t (workflow_id, version)) i
    where v.project_id = ${projectId} and v.workflow_id = i.workflow_id and v.version = i.version and not v.is_used`.execute(
    tx,
  );
}

/** Counts the entries within 24 hours by workflow and contact. */
export async function countEntriesToday(
  database: Database,
  projectId: string,
  entries: ReadonlyArray<{ workflowId: string; contactId: string }>,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ workflowId: string; contactId: string; count: number }>`
    select x.workflow_id, x.contact_id, count(*) as count
    from (select distinct * from unnest(
      ${entries.map(({ workflowId }) => workflowId)}::uuid[],
      ${entries.map(({ contactId }) => contactId)}::uuid[]) as t (workflow_id, contact_id)) i
    join workflow_executions x
      on x.project_id = ${projectId} and x.contact_id = i.contact_id and x.workflow_id = i.workflow_id
    where x.started_at > now() - interval '24 hours'
    group by 1, 2`.execute(database);
  return new Map(rows.map((row) => [`${row.workflowId} ${row.contactId}`, row.count]));
}

/** Returns a page of matching contacts, by id. */
export async function listAudienceAfter(
  tx: Tx,
  projectId: string,
  matches: RawBuilder<SqlBool>,
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  const isBehind = after === null ? sql`true` : sql`c.id > ${after}`;
  const { rows } = await sql<{ id: string }>`
    ${plannedEachTime} select c.id from contacts c
    where c.project_id = ${projectId} and ${isBehind} and ${matches} order by c.id limit ${limit}`.execute(
    tx,
  );
  return rows.map((row) => row.id);
}

export interface ScheduledRow {
  projectId: string;
  id: string;
  triggerConfig: unknown;
  nextRunAt: Date;
  now: Date;
}

/** Claims workflows with a due schedule, each once even if several processes run. */
export async function claimScheduled(tx: Tx, limit: number): Promise<ScheduledRow[]> {
  if (await isCluster(tx)) return claimScheduledOfCluster(tx, limit);
  const { rows } = await sql<ScheduledRow>`
    select w.project_id, w.id, w.trigger_config, w.next_run_at, now() as now from workflows w
    join projects p on p.id = w.project_id and not p.disabled
    where w.next_run_at <= now() order by w.next_run_at limit ${limit} for update of w skip locked`.execute(
    tx,
  );
  return rows;
}

/** The same on a cluster, which locks rows of one project only. */
export async function claimScheduledOfCluster(tx: Tx, limit: number): Promise<ScheduledRow[]> {
  const { rows: due } = await sql<{ projectId: string }>`
    select w.project_id from workflows w join projects p on p.id = w.project_id
    where w.next_run_at <= now() and not p.disabled group by w.project_id order by min(w.next_run_at) limit ${limit}`.execute(
    tx,
  );
  const claimed: ScheduledRow[] = [];
  for (const { projectId } of due) {
    const { rows } = await sql<ScheduledRow>`
      select project_id, id, trigger_config, next_run_at, now() as now from workflows
      where project_id = ${projectId} and next_run_at <= now() order by next_run_at limit ${limit - claimed.length}
      for update skip locked`.execute(tx);
    claimed.push(...rows);
    if (claimed.length === limit) break;
  }
  return claimed;
}

export async function updateNextRun(
  tx: Tx,
  projectId: string,
  id: string,
  nextRunAt: Date | null,
): Promise<void> {
  await sql`
    update workflows set next_run_at = ${nextRunAt?.toISOString() ?? null}::timestamptz
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}
