// Queries that list, cancel and resume executions.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import { onlyProject, projectOf } from "../../platform/database/cluster.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";
import { isFailureOf, type FailureFilter } from "./cause-queries.ts";

export async function findWorkflowRow(database: Database, projectId: string, id: string) {
  const { rows } = await sql<{
    id: string;
    name: string;
    enabled: boolean;
    version: number;
    triggerType: string;
    triggerConfig: unknown;
    triggerEvent: string | null;
    allowReentry: boolean;
    cancelledUntil: Date | null;
  }>`
    select id, name, enabled, version, trigger_type, trigger_config, trigger_event, allow_reentry, cancelled_until
    from workflows where project_id = ${projectId} and id = ${id}`.execute(database);
  return rows[0];
}

export interface ListedExecutionRow extends Row<
  "workflow_executions",
  | "id"
  | "workflowId"
  | "version"
  | "contactId"
  | "status"
  | "stepId"
  | "waitsFor"
  | "dueAt"
  | "exitReason"
  | "goalReachedAt"
  | "startedAt"
  | "endedAt"
> {
  workflowName: string;
  email: string | null;
  stepName: string | null;
  stepType: string | null;
}

const LISTED = sql`
  x.id, x.workflow_id, w.name as workflow_name, x.version, x.contact_id, c.email, x.status, x.step_id,
  step ->> 'name' as step_name, step ->> 'type' as step_type, x.waits_for, nullif(x.due_at, 'infinity') as due_at, x.exit_reason, x.goal_reached_at, x.started_at, x.ended_at`;

/** @param projectId a value on a cluster, which doesn't follow the column out of the subquery (docs/decisions/0027 for others), or null */
const fromOf = (projectId: string | null) => sql`
  join workflows w on w.project_id = ${projectOf(sql`x.project_id`, projectId)} and w.id = x.workflow_id
  join workflow_versions v on v.project_id = ${projectOf(sql`x.project_id`, projectId)} and v.workflow_id = x.workflow_id and v.version = x.version
  left join contacts c on c.project_id = ${projectOf(sql`x.project_id`, projectId)} and c.id = x.contact_id
  left join lateral jsonb_path_query_first(v.graph, '$.steps[*] ? (@.id == $id)', jsonb_build_object('id', x.step_id)) step on true`;

export interface ExecutionFilter {
  workflowId?: string | undefined;
  contactId?: string | undefined;
  status?: string | undefined;
  stepId?: string | undefined;
  /** Failed ones of this cause. */
  cause?: string | undefined;
}

function matching(
  projectId: string,
  { workflowId, contactId, status, stepId, cause }: ExecutionFilter,
): RawBuilder<SqlBool> {
  const conditions = [sql<SqlBool>`x.project_id = ${projectId}`];
  if (workflowId !== undefined) conditions.push(sql`x.workflow_id = ${workflowId}`);
  if (contactId !== undefined) conditions.push(sql`x.contact_id = ${contactId}`);
  if (status !== undefined) conditions.push(sql`x.status = ${status}`);
  if (stepId !== undefined) conditions.push(sql`x.step_id = ${stepId}`);
  if (cause !== undefined) conditions.push(isFailureOf({ cause }));
  return sql.join(conditions, sql` and `) as RawBuilder<SqlBool>;
}

export async function listExecutionRows(
  database: Database,
  projectId: string,
  filter: ExecutionFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListedExecutionRow[]> {
  const { rows } = await sql<ListedExecutionRow>`
    select ${LISTED} from (
      select * from workflow_executions x where ${matching(projectId, filter)} order by x.id desc limit ${limit} offset ${offset}
    ) x ${fromOf(await onlyProject(database, projectId))} order by x.id desc`.execute(database);
  return rows;
}

export async function countExecutions(
  database: Database,
  projectId: string,
  filter: ExecutionFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflow_executions x where ${matching(projectId, filter)}`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

export type WholeExecutionRow = ListedExecutionRow & {
  context: unknown;
  results: unknown;
  trace: unknown;
  moves: unknown;
  graph: Graph;
};

export async function findExecution(
  database: Database,
  projectId: string,
  workflowId: string,
  id: string,
): Promise<WholeExecutionRow | undefined> {
  const { rows } = await sql<WholeExecutionRow>`
    select ${LISTED}, x.context, x.results, x.trace, x.moves, v.graph
    from workflow_executions x ${fromOf(await onlyProject(database, projectId))}
    where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.id = ${id}`.execute(database);
  return rows[0];
}

export interface ExecutionsToCancel {
  projectId: string;
  workflowId: string;
  /** Null means all. */
  id: string | null;
  limit: number;
  /** Only executions that had started when all were cancelled. */
  isMarked?: boolean;
}

/**
 * Cancels up to `limit` active executions, and counts them at their steps.
 * @returns the number, and the ids of the webhook calls they waited for
 */
export async function cancelExecutionRows(
  tx: Tx,
  { projectId, workflowId, id, limit, isMarked = false }: ExecutionsToCancel,
  reason: string,
): Promise<{ count: number; callIds: string[] }> {
  const isOld = isMarked
    ? sql`x.started_at <= (select cancelled_until from workflows where project_id = ${projectId} and id = ${workflowId})`
    : sql`true`;
  const isAsked = id === null ? isOld : sql`x.id = ${id}`;
  const isOpen = sql`jsonb_array_length(x.trace) > 0 and not (x.trace -> -1 ? 'end')`;
  const { rows } = await sql<{ count: number; callIds: string[] }>`
    with active as materialized (
      select x.id, x.step_id, ${isOpen} as is_open, x.trace -> -1 -> 'out' ->> 'callId' as call_id
      from workflow_executions x
      where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.status in ('RUNNING', 'WAITING') and ${isAsked}
      order by x.id limit ${limit} for update
    ), ended as (
      update workflow_executions x set status = 'CANCELLED', step_id = null, due_at = null, paused_due_at = null, waits_for = null, answer = null,
        exit_reason = ${reason}, ended_at = now(),
        trace = case when ${isOpen} then jsonb_set(x.trace, '{-1}', x.trace -> -1 || i.ending) else x.trace end
      from (
        -- A column, because a cluster accepts no clock and no function that builds JSON in CASE of an update.
        select jsonb_build_object('is', 'CANCELLED', 'end', floor(extract(epoch from now()) * 1000)) as ending offset 0
      ) i
      -- As an array, because a join may become a nested loop if PostgreSQL expects few rows.
      where x.project_id = ${projectId} and x.id = any (array(select id from active))
      returning x.id
    ), counted as (
      insert into workflow_step_counts as c (project_id, workflow_id, step_id, cancelled)
      select ${projectId}::uuid, ${workflowId}::uuid, step_id, count(*) from active
      where is_open and step_id is not null group by step_id order by step_id
      on conflict (project_id, workflow_id, step_id) do update set cancelled = c.cancelled + excluded.cancelled
    )
    select (select count(*) from ended) as count,
      array(select call_id::uuid from active where call_id is not null and is_open) as call_ids`.execute(tx);
  return rows[0] ?? { count: 0, callIds: [] };
}

/** Marks all executions that have started until now, which take no further step while the mark is set. */
export async function markCancelled(tx: Tx, projectId: string, workflowId: string): Promise<void> {
  await sql`
    update workflows set cancelled_until = now() where project_id = ${projectId} and id = ${workflowId}`.execute(
    tx,
  );
}

/** Locks the mark until the end of the transaction. */
export async function lockCancelMark(tx: Tx, projectId: string, workflowId: string): Promise<void> {
  await sql`select 1 from workflows where project_id = ${projectId} and id = ${workflowId} for no key update`.execute(
    tx,
  );
}

export async function clearCancelMark(tx: Tx, projectId: string, workflowId: string): Promise<void> {
  await sql`
    update workflows set cancelled_until = null where project_id = ${projectId} and id = ${workflowId}`.execute(
    tx,
  );
}

/** Lists failed executions that can resume. For each contact this is the newest one, unless another one is active. */
export async function listFailedForUpdate(
  tx: Tx,
  {
    projectId,
    workflowId,
    by,
    limit,
  }: {
    projectId: string;
    workflowId: string;
    by: { id: string } | ({ stepId: string } & FailureFilter);
    limit: number;
  },
) {
  const isAsked = "id" in by ? sql`x.id = ${by.id}` : sql`x.step_id = ${by.stepId} and ${isFailureOf(by)}`;
  const { rows } = await sql<{ id: string; version: number; stepId: string }>`
    select x.id, x.version, x.step_id from workflow_executions x
    where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.status = 'FAILED' and x.contact_id is not null
      and x.step_id is not null and ${isAsked}
      and not exists (
        select 1 from workflow_executions o
        where o.project_id = ${projectId} and o.workflow_id = ${workflowId} and o.contact_id = x.contact_id
          and (o.status in ('RUNNING', 'WAITING') or o.status = 'FAILED' and o.step_id = x.step_id and o.id > x.id))
    order by x.id limit ${limit} for update of x`.execute(tx);
  return rows;
}

/** Returns whether any stored version has this step, since executions may have failed at it. */
export async function hadStep(
  database: Database,
  projectId: string,
  workflowId: string,
  stepId: string,
): Promise<boolean> {
  const step = JSON.stringify({ steps: [{ id: stepId.toLowerCase() }] });
  const { rows } = await sql`
    select 1 from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId} and graph @> ${step}::jsonb limit 1`.execute(
    database,
  );
  return rows.length > 0;
}

/** Resumes failed executions at these steps. Completes those without a step. */
export async function resumeExecutionRows(
  tx: Tx,
  projectId: string,
  executions: ReadonlyArray<{ id: string; stepId: string | null }>,
): Promise<void> {
  await sql`
    with instant as materialized (select now() as at)
    update workflow_executions x set step_id = i.step_id, exit_reason = null,
      status = case when i.step_id is null then 'COMPLETED' else 'RUNNING' end,
      due_at = case when i.step_id is null then null else instant.at end,
      ended_at = case when i.step_id is null then instant.at end
    from instant, unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ stepId }) => stepId)}::uuid[]
    ) as i (id, step_id)
    where x.project_id = ${projectId} and x.id = i.id`.execute(tx);
  notify(tx, "workflows");
}

export async function listStepCounts(database: Database, projectId: string, workflowId: string) {
  const { rows } = await sql<{
    stepId: string;
    entered: number;
    passed: number;
    skipped: number;
    failed: number;
    cancelled: number;
  }>`
    select step_id, entered, passed, skipped, failed, cancelled from workflow_step_counts
    where project_id = ${projectId} and workflow_id = ${workflowId} order by step_id`.execute(database);
  return rows;
}

/** Lists the newest executions with the columns that a replay needs. */
export async function listReplayable(
  database: Database,
  projectId: string,
  workflowId: string,
  limit: number,
) {
  const { rows } = await sql<{
    id: string;
    contactId: string;
    version: number;
    context: unknown;
    results: unknown;
    trace: unknown;
    startedAt: Date;
  }>`
    select x.id, x.contact_id, x.version, x.context, x.results, x.trace, x.started_at from workflow_executions x
    where x.project_id = ${projectId} and x.workflow_id = ${workflowId} and x.contact_id is not null
    order by x.id desc limit ${limit}`.execute(database);
  return rows;
}
