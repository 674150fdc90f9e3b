// Queries on the versions of a workflow's graph.
import { sql } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Database } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";

export type VersionRow = Row<"workflow_versions", "version" | "isUsed" | "createdAt">;

export type ListedVersionRow = VersionRow & { steps: number; active: number };

/** Returns a page of versions, newest first, with the number of steps and of active executions. */
export async function listVersionRows(
  database: Database,
  projectId: string,
  workflowId: string,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ rows: ListedVersionRow[]; total: number }> {
  const { rows } = await sql<ListedVersionRow>`
    select version, is_used, created_at, jsonb_array_length(graph -> 'steps') as steps, (
      select count(*) from workflow_executions e
      where e.project_id = ${projectId} and e.workflow_id = ${workflowId} and e.version = v.version
        and e.status in ('RUNNING', 'WAITING')
    ) as active
    from workflow_versions v where project_id = ${projectId} and workflow_id = ${workflowId}
    order by version desc limit ${pageSize} offset ${(page - 1) * pageSize}`.execute(database);
  const counted = await sql<{ count: number }>`
    select count(*) as count from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId}`.execute(database);
  return { rows, total: counted.rows[0]?.count ?? 0 };
}

export async function findVersion(
  database: Database,
  projectId: string,
  workflowId: string,
  version: number,
): Promise<(VersionRow & { graph: Graph }) | undefined> {
  const { rows } = await sql<VersionRow & { graph: Graph }>`
    select version, is_used, created_at, graph from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId} and version = ${version}`.execute(
    database,
  );
  return rows[0];
}
