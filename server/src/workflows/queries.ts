// Queries on `workflows` and `workflow_versions`.
// A change locks the workflow, then the version of its graph. A starting execution locks both in the same order (for share, then for key
// share).
import { sql } from "kysely";
import type { Graph, TriggerType } from "@postloft/contract/workflows/graph.ts";
import type { ConfirmableProblem } from "@postloft/contract/workflows/problems.ts";
import type { PausedReason } from "@postloft/contract/workflows/workflows.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export interface WorkflowRow extends Row<
  "workflows",
  | "id"
  | "name"
  | "description"
  | "folder"
  | "tags"
  | "enabled"
  | "triggerEvent"
  | "allowReentry"
  | "version"
  | "revision"
  | "nextRunAt"
  | "datesSince"
  | "pausedAt"
  | "createdAt"
  | "updatedAt"
> {
  triggerType: TriggerType;
  triggerConfig: Record<string, unknown>;
  confirmedProblems: ConfirmableProblem[];
  pausedReason: PausedReason | null;
}

export const COLUMNS = sql`w.id, w.name, w.description, w.folder, w.tags, w.enabled, w.trigger_type, w.trigger_config, w.trigger_event, w.allow_reentry,
  w.version, w.revision, w.next_run_at, w.dates_since, w.paused_at, w.paused_reason, w.confirmed_problems, w.created_at, w.updated_at`;

export interface NewWorkflow extends Row<
  "workflows",
  "projectId" | "id" | "name" | "description" | "folder" | "tags" | "triggerEvent" | "allowReentry"
> {
  triggerType: TriggerType;
  triggerConfig: Readonly<Record<string, unknown>>;
}

export async function countWorkflows(database: Database, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflows where project_id = ${projectId}`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function insertWorkflow(tx: Tx, workflow: NewWorkflow): Promise<void> {
  await sql`
    insert into workflows (project_id, id, name, description, folder, tags, trigger_type, trigger_config, trigger_event, allow_reentry)
    values (${workflow.projectId}, ${workflow.id}, ${workflow.name}, ${workflow.description}, ${workflow.folder}, ${workflow.tags}::text[], ${workflow.triggerType},
      ${JSON.stringify(workflow.triggerConfig)}::jsonb, ${workflow.triggerEvent}, ${workflow.allowReentry})`.execute(
    tx,
  );
}

export async function findWorkflow(
  database: Database,
  projectId: string,
  id: string,
): Promise<(WorkflowRow & { graph: Graph }) | undefined> {
  const { rows } = await sql<WorkflowRow & { graph: Graph }>`
    select ${COLUMNS}, v.graph from workflows w
    join workflow_versions v on v.project_id = w.project_id and v.workflow_id = w.id and v.version = w.version
    where w.project_id = ${projectId} and w.id = ${id}`.execute(database);
  return rows[0];
}

/** Locks the workflow against other changes. Executions can still start, because they only refer to the row. */
export async function lockWorkflow(tx: Tx, projectId: string, id: string): Promise<WorkflowRow | undefined> {
  const { rows } = await sql<WorkflowRow>`
    select ${COLUMNS} from workflows w
    where w.project_id = ${projectId} and w.id = ${id} for no key update`.execute(tx);
  return rows[0];
}

/** Also locks the workflow against executions that start, so that no new reference to the row appears. */
export async function lockWorkflowToDelete(tx: Tx, projectId: string, id: string): Promise<void> {
  await sql`select 1 from workflows where project_id = ${projectId} and id = ${id} for update`.execute(tx);
}

/** Locks the version against executions that start on it. */
export async function lockVersion(
  tx: Tx,
  projectId: string,
  workflowId: string,
  version: number,
): Promise<{ graph: Graph; isUsed: boolean } | undefined> {
  const { rows } = await sql<{ graph: Graph; isUsed: boolean }>`
    select graph, is_used from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId} and version = ${version} for update`.execute(
    tx,
  );
  return rows[0];
}

export interface VersionToWrite {
  projectId: string;
  workflowId: string;
  version: number;
  graph: Graph;
  waitNames: readonly string[];
  exitNames: readonly string[];
  goalName: string | null;
}

export async function insertVersion(tx: Tx, to: VersionToWrite): Promise<void> {
  await sql`
    insert into workflow_versions (project_id, workflow_id, version, graph, wait_names, exit_names, goal_name)
    values (${to.projectId}, ${to.workflowId}, ${to.version}, ${JSON.stringify(to.graph)}::jsonb,
      ${to.waitNames}::text[], ${to.exitNames}::text[], ${to.goalName})`.execute(tx);
}

export async function updateVersion(tx: Tx, to: VersionToWrite): Promise<void> {
  await sql`
    update workflow_versions set graph = ${JSON.stringify(to.graph)}::jsonb, wait_names = ${to.waitNames}::text[],
      exit_names = ${to.exitNames}::text[], goal_name = ${to.goalName}, is_sealed = false
    where project_id = ${to.projectId} and workflow_id = ${to.workflowId} and version = ${to.version}`.execute(
    tx,
  );
}

/** Deletes old versions except the newest ones and those on which an execution started, because its trace needs them. */
export async function deleteOldVersions(
  tx: Tx,
  { projectId, workflowId, kept }: { projectId: string; workflowId: string; kept: number },
): Promise<void> {
  await sql`
    delete from workflow_versions v
    where v.project_id = ${projectId} and v.workflow_id = ${workflowId}
      and v.version < (
        select min(version) from (
          select version from workflow_versions
          where project_id = ${projectId} and workflow_id = ${workflowId} order by version desc limit ${kept}
        ) newest)
      and not v.is_used`.execute(tx);
}

export interface WorkflowChanges {
  name?: string | undefined;
  description?: string | null | undefined;
  folder?: string | null | undefined;
  tags?: string[] | undefined;
  enabled?: boolean | undefined;
  triggerType?: TriggerType | undefined;
  /** JSON. */
  triggerConfig?: string | undefined;
  triggerEvent?: string | null | undefined;
  allowReentry?: boolean | undefined;
  version?: number | undefined;
  revision?: number | undefined;
  nextRunAt?: Date | null | undefined;
  datesSince?: Date | null | undefined;
  confirmedProblems?: readonly ConfirmableProblem[] | undefined;
}

/** Changes the given columns and always `updated_at`. */
export async function updateWorkflowRow(
  tx: Tx,
  projectId: string,
  id: string,
  changes: WorkflowChanges,
): Promise<void> {
  const input = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  await tx
    .updateTable("workflows")
    .set({ ...input, updatedAt: sql`now()` })
    .where("projectId", "=", projectId)
    .where("id", "=", id)
    .execute();
}

export async function countActiveExecutions(tx: Tx, projectId: string, workflowId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflow_executions
    where project_id = ${projectId} and workflow_id = ${workflowId} and status in ('RUNNING', 'WAITING')`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

export async function countFailedExecutions(
  database: Database,
  projectId: string,
  workflowId: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflow_executions
    where project_id = ${projectId} and workflow_id = ${workflowId} and status = 'FAILED'`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function deleteWorkflowRow(tx: Tx, projectId: string, id: string): Promise<void> {
  await sql`delete from workflows where project_id = ${projectId} and id = ${id}`.execute(tx);
}
