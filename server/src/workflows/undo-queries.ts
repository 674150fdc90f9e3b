// Queries on the graphs before the last edits of a workflow. Its row is locked.
import { sql } from "kysely";
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Database, Tx } from "../platform/database/database.ts";

interface Revision {
  projectId: string;
  workflowId: string;
  revision: number;
}

/** Copies the graph of a version, and deletes the copies of all but the `kept` last revisions. */
export async function keepGraph(
  tx: Tx,
  { projectId, workflowId, revision }: Revision,
  { version, kept }: { version: number; kept: number },
): Promise<void> {
  await sql`
    insert into workflow_earlier_graphs (project_id, workflow_id, revision, graph)
    select project_id, workflow_id, ${revision}::integer, graph from workflow_versions
    where project_id = ${projectId} and workflow_id = ${workflowId} and version = ${version}`.execute(tx);
  await sql`
    delete from workflow_earlier_graphs
    where project_id = ${projectId} and workflow_id = ${workflowId} and revision <= ${revision - kept}`.execute(
    tx,
  );
}

export async function findKeptGraph(
  database: Database,
  { projectId, workflowId, revision }: Revision,
): Promise<Graph | undefined> {
  const { rows } = await sql<{ graph: Graph }>`
    select graph from workflow_earlier_graphs
    where project_id = ${projectId} and workflow_id = ${workflowId} and revision = ${revision}`.execute(
    database,
  );
  return rows[0]?.graph;
}
