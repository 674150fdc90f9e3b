// Queries that find the executions whose goal an event may reach, and record that it was reached.
import { sql } from "kysely";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { VersionKey } from "./exit-queries.ts";

export type VersionWithGoal = VersionKey & { goal: Goal; triggerEvent: string | null };

/** Returns the versions whose goal is one of these events. */
export async function listVersionsAiming(
  database: Database,
  projectId: string,
  names: readonly string[],
): Promise<VersionWithGoal[]> {
  const { rows } = await sql<VersionWithGoal>`
    select v.workflow_id, v.version, v.graph -> 'goal' as goal, w.trigger_event
    from workflow_versions v join workflows w on w.project_id = v.project_id and w.id = v.workflow_id
    where v.project_id = ${projectId} and v.goal_name is not null and v.goal_name = any(${names}::text[]) and v.is_used`.execute(
    database,
  );
  return rows;
}

export interface AimingExecution {
  id: string;
  workflowId: string;
  version: number;
  contactId: string;
  startedAt: Date;
  context: unknown;
  results: unknown;
}

/** Returns executions of contacts that have not reached their goal, also those that have ended, by id. Cancelled ones do not count. */
export async function listAimingExecutions(
  database: Database,
  projectId: string,
  {
    versions,
    contactIds,
    ids,
    after,
    limit,
  }: {
    versions: readonly VersionKey[];
    contactIds: readonly string[];
    /** Null for all. */
    ids: readonly string[] | null;
    after: string | null;
    limit: number;
  },
): Promise<AimingExecution[]> {
  const isAsked = ids === null ? sql`true` : sql`x.id = any(${ids}::uuid[])`;
  const isBehind = after === null ? sql`true` : sql`x.id > ${after}`;
  const { rows } = await sql<AimingExecution>`
    select x.id, x.workflow_id, x.version, x.contact_id, x.started_at, x.context, x.results from workflow_executions x
    where x.project_id = ${projectId} and x.contact_id = any(${contactIds}::uuid[]) and x.goal_reached_at is null
      and x.status <> 'CANCELLED' and (x.workflow_id, x.version) in (select * from unnest(
        ${versions.map(({ workflowId }) => workflowId)}::uuid[],
        ${versions.map(({ version }) => version)}::integer[]))
      and ${isAsked} and ${isBehind}
    order by x.id limit ${limit}`.execute(database);
  return rows;
}

/** Records when locked executions reached their goal. The first time counts. */
export async function updateGoalsReached(
  tx: Tx,
  projectId: string,
  reached: ReadonlyArray<{ id: string; at: Date }>,
): Promise<void> {
  await sql`
    update workflow_executions x set goal_reached_at = i.at
    from unnest(
      (select ${reached.map(({ id }) => id)}::uuid[]),
      ${reached.map(({ at }) => at.toISOString())}::timestamptz[]
    ) as i (id, at)
    where x.project_id = ${projectId} and x.id = i.id and x.goal_reached_at is null`.execute(tx);
}

export interface GoalCounts {
  executions: number;
  reached: number;
}

/**
 * Counts the executions in versions with a goal among the newest `limit` of a workflow, without cancelled ones, and how many reached it.
 * @returns null if no version has a goal
 */
export async function countGoals(
  database: Database,
  projectId: string,
  workflowId: string,
  limit: number,
): Promise<GoalCounts | null> {
  const { rows } = await sql<GoalCounts & { hasGoal: boolean }>`
    with aims as materialized (
      select version from workflow_versions
      where project_id = ${projectId} and workflow_id = ${workflowId} and goal_name is not null
    ), newest as (
      select version, status, goal_reached_at from workflow_executions
      where project_id = ${projectId} and workflow_id = ${workflowId} and exists (select 1 from aims)
      order by id desc limit ${limit}
    )
    select count(*) as executions, count(n.goal_reached_at) as reached, exists (select 1 from aims) as has_goal
    from newest n join aims using (version) where n.status <> 'CANCELLED'`.execute(database);
  const [{ hasGoal, executions, reached } = { hasGoal: false, executions: 0, reached: 0 }] = rows;
  return hasGoal ? { executions, reached } : null;
}
