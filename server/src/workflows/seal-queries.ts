// Statements that encrypt stored credentials of workflows. A version is locked without its workflow, as an execution that starts does.
import { sql } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Database, Tx } from "../platform/database/database.ts";

/** Returns workflows with versions that no sweep has checked since they were written. */
export async function findUnsealed(
  database: Database,
  limit: number,
): Promise<Array<{ projectId: string; workflowId: string }>> {
  const { rows } = await sql<{ projectId: string; workflowId: string }>`
    select distinct project_id, workflow_id from workflow_versions where not is_sealed
    order by project_id, workflow_id limit ${limit}`.execute(database);
  return rows;
}

/** Locks and returns the unchecked versions of a workflow, oldest first, without those that someone changes right now. */
export async function listVersionsToSeal(
  tx: Tx,
  projectId: string,
  workflowId: string,
): Promise<Array<{ version: number; graph: Graph }>> {
  const { rows } = await sql<{ version: number; graph: Graph }>`
    select version, graph from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId} and not is_sealed
    order by version for no key update skip locked`.execute(tx);
  return rows;
}

/** Stores the graph of a version with encrypted credentials. */
export async function markSealed(
  tx: Tx,
  to: { projectId: string; workflowId: string; version: number; graph: Graph },
): Promise<void> {
  await sql`
    update workflow_versions set graph = ${JSON.stringify(to.graph)}::jsonb, is_sealed = true
    where project_id = ${to.projectId} and workflow_id = ${to.workflowId} and version = ${to.version}`.execute(
    tx,
  );
}
