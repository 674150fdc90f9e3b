// Queries for the list of workflows and its numbers.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { containing } from "../platform/http/page.ts";
import { firstIdAt } from "../platform/ids.ts";
import { COLUMNS, type WorkflowRow } from "./queries.ts";

export interface WorkflowFilter {
  search?: string | undefined;
  status?: "active" | "disabled" | undefined;
  folder?: string | undefined;
  tag?: string | undefined;
}

export interface WorkflowOrder {
  by: "name" | "createdAt" | "updatedAt" | "steps";
  dir: "asc" | "desc";
}

const ORDERS = {
  name: sql`lower(w.name)`,
  createdAt: sql`w.id`,
  updatedAt: sql`w.updated_at`,
  steps: sql`jsonb_array_length(v.graph -> 'steps')`,
} as const;

function matching(projectId: string, { search, status, folder, tag }: WorkflowFilter) {
  const conditions = [sql`w.project_id = ${projectId}`];
  if (search !== undefined)
    conditions.push(sql`(w.name ilike ${containing(search)} or w.description ilike ${containing(search)})`);
  if (status !== undefined) conditions.push(status === "active" ? sql`w.enabled` : sql`not w.enabled`);
  if (folder !== undefined) conditions.push(sql`w.folder = ${folder}`);
  if (tag !== undefined) conditions.push(sql`${tag} = any(w.tags)`);
  return sql.join(conditions, sql` and `);
}

export type ListedWorkflowRow = WorkflowRow & {
  steps: number;
  executions: number;
  active: number;
  /** Executions that are failed now, and those of them that failed since `failedSince`. */
  failing: number;
  failedRecently: number;
  /** Executions in the window: how many started, reached the end, and are failed. */
  entered: number;
  completed: number;
  failed: number;
  /** Executions in the window with a goal, and those that reached it, without cancelled ones. */
  aiming: number;
  goals: number;
  /** When the first execution in the window started, if the window is full and begins later than `since`. */
  windowStart: Date | null;
};

interface ListRequest {
  order: WorkflowOrder;
  page: number;
  pageSize: number;
  /** The numbers cover the newest executions of the project that started after `since`, up to `window` of them. */
  since: Date;
  window: number;
  failedSince: Date;
}

/**
 * Returns a page of workflows with their numbers. Counts each kind of executions in one pass, because a subquery for each workflow reads the
 * whole table again and again while one workflow has most executions.
 */
export async function listWorkflowRows(
  database: Database,
  projectId: string,
  filter: WorkflowFilter,
  { order, page, pageSize, since, window, failedSince }: ListRequest,
): Promise<ListedWorkflowRow[]> {
  const direction = order.dir === "asc" ? sql`asc` : sql`desc`;
  const executions = sql`from workflow_executions where project_id = ${projectId}`;
  const onPage = sql`${executions} and workflow_id in (select id from page)`;
  const { rows } = await sql<ListedWorkflowRow>`
    with page as materialized (
      select ${COLUMNS}, jsonb_array_length(v.graph -> 'steps') as steps,
        row_number() over (order by ${ORDERS[order.by]} ${direction}, w.id ${direction}) as place
      from workflows w
      join workflow_versions v on v.project_id = w.project_id and v.workflow_id = w.id and v.version = w.version
      where ${matching(projectId, filter)}
      order by place limit ${pageSize} offset ${(page - 1) * pageSize}
    ), newest as materialized (
      select workflow_id, version, status, started_at, goal_reached_at ${executions} and id >= ${firstIdAt(since.getTime())}
      order by id desc limit ${window}
    ), aims as materialized (
      select workflow_id, version, true as has_goal from workflow_versions
      where project_id = ${projectId} and goal_name is not null
    ), recent as materialized (
      select workflow_id, count(*) as entered, count(*) filter (where status in ('COMPLETED', 'EXITED')) as completed,
        count(*) filter (where status = 'FAILED') as failed,
        count(*) filter (where has_goal and status <> 'CANCELLED') as aiming,
        count(goal_reached_at) filter (where has_goal and status <> 'CANCELLED') as goals
      from newest left join aims using (workflow_id, version) group by workflow_id
    ), total as materialized (
      select workflow_id, count(*) as executions ${onPage} group by workflow_id
    ), inside as materialized (
      select workflow_id, count(*) as active ${onPage} and status in ('RUNNING', 'WAITING') group by workflow_id
    ), failures as materialized (
      select workflow_id, count(*) as failing,
        count(*) filter (where ended_at >= ${failedSince.toISOString()}::timestamptz) as failed_recently
      ${onPage} and status = 'FAILED' group by workflow_id
    )
    select p.*, coalesce(t.executions, 0) as executions, coalesce(i.active, 0) as active, coalesce(f.failing, 0) as failing,
      coalesce(f.failed_recently, 0) as failed_recently, coalesce(r.entered, 0) as entered, coalesce(r.completed, 0) as completed,
      coalesce(r.failed, 0) as failed, coalesce(r.aiming, 0) as aiming, coalesce(r.goals, 0) as goals,
      (select case when count(*) >= ${window} then min(started_at) end from newest) as window_start
    from page p left join total t on t.workflow_id = p.id left join inside i on i.workflow_id = p.id
    left join failures f on f.workflow_id = p.id left join recent r on r.workflow_id = p.id
    order by p.place`.execute(database);
  return rows;
}

export async function countMatchingWorkflows(
  database: Database,
  projectId: string,
  filter: WorkflowFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflows w where ${matching(projectId, filter)}`.execute(database);
  return rows[0]?.count ?? 0;
}

/** A folder or tag with its number of workflows. */
export interface GroupRow {
  name: string;
  workflows: number;
}

/** Returns the folders of a project by name. Their number is limited by that of workflows. */
export async function listFolders(database: Database, projectId: string): Promise<GroupRow[]> {
  const { rows } = await sql<GroupRow>`
    select folder as name, count(*) as workflows from workflows
    where project_id = ${projectId} and folder is not null group by folder order by lower(folder), folder`.execute(
    database,
  );
  return rows;
}

/** Returns the tags of a project's workflows by name. Their number is limited by that of workflows. */
export async function listTags(database: Database, projectId: string): Promise<GroupRow[]> {
  const { rows } = await sql<GroupRow>`
    select tag as name, count(*) as workflows from workflows, unnest(tags) as tag
    where project_id = ${projectId} group by tag order by lower(tag), tag`.execute(database);
  return rows;
}
