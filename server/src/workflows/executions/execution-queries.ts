// Queries of the engine on `workflow_executions`, `workflow_versions` and `workflow_step_counts`.
import { sql } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import { isCluster } from "../../platform/database/cluster.ts";
import { plannedOften, type Database, type Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";

export interface ExecutionRow extends Row<
  "workflow_executions",
  | "id"
  | "workflowId"
  | "contactId"
  | "version"
  | "status"
  | "stepId"
  | "context"
  | "results"
  | "answer"
  | "trace"
  | "moves"
  | "startedAt"
> {
  /** The reason if a cancellation is decided, or null. */
  exitReason: string | null;
  fromPublicKey: boolean;
}

/** The first due or scheduled execution of a project, in index order. */
const firstDue = (after: ReturnType<typeof sql>) => sql`
  select x.project_id, x.due_at from workflow_executions x
  where x.due_at is not null ${after} order by x.project_id, x.due_at limit 1`;

/**
 * Returns the projects with due executions, and the ms until the next one is due, within `horizonMs`.
 * Skips from project to project through the index, so projects without executions cost nothing. Ignores disabled projects.
 */
export async function listDueProjects(
  database: Database,
  horizonMs: number,
): Promise<Array<{ projectId: string; inMs: number }>> {
  if (await isCluster(database)) return listDueProjectsOfCluster(database, horizonMs);
  const { rows } = await sql<{ projectId: string; inMs: number }>`
    ${plannedOften} with recursive due as (
      (${firstDue(sql``)})
      union all
      select next.* from due d cross join lateral (${firstDue(sql`and x.project_id > d.project_id`)}) next
    )
    select d.project_id, greatest(0, extract(epoch from d.due_at - now()) * 1000)::float8 as in_ms
    from due d cross join lateral (select 1 from projects where id = d.project_id and not disabled limit 1) p
    where d.due_at <= now() + make_interval(secs => ${horizonMs / 1000})
    order by d.due_at`.execute(database);
  return rows;
}

/** The same on a cluster, which accepts no recursive query over projects. Each node reads its due executions. */
export async function listDueProjectsOfCluster(
  database: Database,
  horizonMs: number,
): Promise<Array<{ projectId: string; inMs: number }>> {
  const { rows } = await sql<{ projectId: string; inMs: number }>`
    ${plannedOften} select x.project_id, greatest(0, extract(epoch from min(x.due_at) - now()) * 1000)::float8 as in_ms
    from workflow_executions x join projects p on p.id = x.project_id and not p.disabled
    where x.due_at <= now() + make_interval(secs => ${horizonMs / 1000})
    group by x.project_id order by min(x.due_at)`.execute(database);
  return rows;
}

export interface WhichDue {
  limit: number;
  /** Only this execution, if it is due. */
  id?: string;
}

/** The columns of `ExecutionRow`. */
export const CLAIMED =
  sql.raw(`x.id, x.workflow_id, x.contact_id, x.version, x.status, x.step_id, x.context, x.results, x.answer,
  x.trace, x.moves, x.exit_reason, x.started_at, x.from_public_key is true as from_public_key`);

/** Locks due executions, longest overdue first. Skips locked ones. */
export async function claimDueExecutions(
  tx: Tx,
  projectId: string,
  { limit, id }: WhichDue,
): Promise<ExecutionRow[]> {
  const isOne = id === undefined ? sql`true` : sql`x.id = ${id}`;
  const { rows } = await sql<ExecutionRow>`
    ${plannedOften} select ${CLAIMED}
    from workflow_executions x
    where x.project_id = ${projectId} and x.due_at <= now() and ${isOne}
    order by x.due_at limit ${limit} for update of x skip locked`.execute(tx);
  return rows;
}

export async function listDueExecutions(
  database: Database,
  projectId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    ${plannedOften} select x.id from workflow_executions x
    where x.project_id = ${projectId} and x.due_at <= now() order by x.due_at limit ${limit}`.execute(
    database,
  );
  return rows.map((row) => row.id);
}

export interface StoredExecution extends Row<
  "workflow_executions",
  "id" | "status" | "stepId" | "dueAt" | "waitsFor" | "exitReason"
> {
  results: string | null;
  trace: string;
  fromPublicKey: true | null;
}

const ENDED = sql.raw("'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'");

/** Stores the state of locked executions. */
export async function updateExecutions(
  tx: Tx,
  projectId: string,
  executions: readonly StoredExecution[],
): Promise<void> {
  await sql`
    with instant as materialized (select now() as at)
    update workflow_executions x set status = i.status, step_id = i.step_id, due_at = i.due_at, paused_due_at = null,
      waits_for = i.waits_for,
      results = i.results, answer = null, trace = i.trace, exit_reason = i.exit_reason,
      from_public_key = i.from_public_key, ended_at = case when i.status in (${ENDED}) then instant.at end
    from instant, unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ status }) => status)}::text[],
      ${executions.map(({ stepId }) => stepId)}::uuid[],
      ${executions.map(({ dueAt }) => dueAt?.toISOString() ?? null)}::timestamptz[],
      ${executions.map(({ waitsFor }) => waitsFor)}::text[],
      ${executions.map(({ results }) => results)}::jsonb[],
      ${executions.map(({ trace }) => trace)}::jsonb[],
      ${executions.map(({ exitReason }) => exitReason)}::text[],
      ${executions.map(({ fromPublicKey }) => fromPublicKey)}::boolean[]
    ) as i (id, status, step_id, due_at, waits_for, results, trace, exit_reason, from_public_key)
    where x.project_id = ${projectId} and x.id = i.id`.execute(tx);
}

export type StepCountRow = Row<
  "workflow_step_counts",
  "workflowId" | "stepId" | "entered" | "passed" | "skipped" | "failed" | "cancelled"
>;

type StepKey = Pick<StepCountRow, "workflowId" | "stepId">;

const byStep = (one: StepKey, other: StepKey) =>
  `${one.workflowId}${one.stepId}` < `${other.workflowId}${other.stepId}` ? -1 : 1;

/** Returns how many executions passed some steps, and locks these counts until the end of the transaction, in a fixed order. */
export async function lockStepCounts(
  tx: Tx,
  projectId: string,
  steps: readonly StepKey[],
): Promise<Array<Pick<StepCountRow, "stepId" | "passed">>> {
  const sorted = steps.toSorted(byStep);
  const { rows } = await sql<Pick<StepCountRow, "stepId" | "passed">>`
    insert into workflow_step_counts as c (project_id, workflow_id, step_id)
    select ${projectId}::uuid, * from unnest(
      ${sorted.map(({ workflowId }) => workflowId)}::uuid[],
      ${sorted.map(({ stepId }) => stepId)}::uuid[])
    on conflict (project_id, workflow_id, step_id) do update set passed = c.passed
    returning step_id, passed`.execute(tx);
  return rows;
}

/** Adds to the step counts in a fixed order, so that concurrent transactions cannot deadlock. */
export async function addToStepCounts(
  tx: Tx,
  projectId: string,
  counts: readonly StepCountRow[],
): Promise<void> {
  const sorted = counts.toSorted(byStep);
  await sql`
    insert into workflow_step_counts as c (project_id, workflow_id, step_id, entered, passed, skipped, failed, cancelled)
    select ${projectId}::uuid, * from unnest(
      ${sorted.map(({ workflowId }) => workflowId)}::uuid[],
      ${sorted.map(({ stepId }) => stepId)}::uuid[],
      ${sorted.map(({ entered }) => entered)}::bigint[],
      ${sorted.map(({ passed }) => passed)}::bigint[],
      ${sorted.map(({ skipped }) => skipped)}::bigint[],
      ${sorted.map(({ failed }) => failed)}::bigint[],
      ${sorted.map(({ cancelled }) => cancelled)}::bigint[])
    on conflict (project_id, workflow_id, step_id) do update set
      entered = c.entered + excluded.entered, passed = c.passed + excluded.passed,
      skipped = c.skipped + excluded.skipped, failed = c.failed + excluded.failed,
      cancelled = c.cancelled + excluded.cancelled`.execute(tx);
}

export async function findVersions(
  database: Database,
  projectId: string,
  versions: ReadonlyArray<{ workflowId: string; version: number }>,
) {
  const { rows } = await sql<{ workflowId: string; version: number; graph: Graph }>`
    select v.workflow_id, v.version, v.graph
    from unnest(
      ${versions.map(({ workflowId }) => workflowId)}::uuid[],
      ${versions.map(({ version }) => version)}::integer[]
    ) as i (workflow_id, version)
    join workflow_versions v on v.project_id = ${projectId} and v.workflow_id = i.workflow_id and v.version = i.version`.execute(
    database,
  );
  return rows;
}

/** Returns the current state of workflows, which applies to executions of all versions. */
export async function findWorkflowStates(database: Database, projectId: string, ids: readonly string[]) {
  const { rows } = await sql<{
    id: string;
    name: string;
    triggerEvent: string | null;
    cancelledUntil: Date | null;
    isPaused: boolean;
    now: Date;
  }>`
    select w.id, w.name, w.trigger_event, w.cancelled_until, w.paused_at is not null as is_paused, now() as now from workflows w
    where w.project_id = ${projectId} and w.id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

/** Lets executions whose contact was deleted be looked at: they end. */
export async function updateLeftExecutionsDue(database: Database): Promise<void> {
  const result = await sql`
    update workflow_executions set due_at = now()
    where contact_id is null and status in ('RUNNING', 'WAITING') and (due_at is null or due_at > now())`.execute(
    database,
  );
  if (result.numAffectedRows !== 0n) notify(database, "workflows");
}

/** Lets executions that wait for one of these events be looked at. */
export async function updateWaitingExecutionsDue(
  tx: Tx,
  projectId: string,
  arrived: ReadonlyArray<{ contactId: string; eventName: string }>,
): Promise<void> {
  const result = await sql`
    update workflow_executions x set due_at = now()
    from (select distinct * from unnest(
      ${arrived.map(({ contactId }) => contactId)}::uuid[],
      ${arrived.map(({ eventName }) => eventName)}::text[]
    ) as t (contact_id, event_name)) i
    where x.project_id = ${projectId} and x.contact_id = i.contact_id and x.waits_for = i.event_name`.execute(
    tx,
  );
  if (result.numAffectedRows !== 0n) notify(tx, "workflows");
}

/** Stores the responses of calls for executions that still wait for these calls. */
export async function updateResponses(
  tx: Tx,
  responses: ReadonlyArray<{ projectId: string; executionId: string; callId: string; answer: string }>,
): Promise<void> {
  await sql`
    update workflow_executions x set due_at = now(), answer = i.answer
    from unnest(
      ${responses.map(({ projectId }) => projectId)}::uuid[],
      ${responses.map(({ executionId }) => executionId)}::uuid[],
      ${responses.map(({ callId }) => callId)}::text[],
      ${responses.map(({ answer }) => answer)}::jsonb[]
    ) as i (project_id, id, call_id, answer)
    where x.project_id = i.project_id and x.id = i.id and x.status = 'WAITING'
      and x.trace -> -1 -> 'out' ->> 'callId' = i.call_id`.execute(tx);
  notify(tx, "workflows");
}
