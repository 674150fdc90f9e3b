// Statements on the executions of contacts.
// Before it: forget-executions.ts. After it: nothing.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";

export async function listExecutionIdsOf(
  database: Database,
  projectId: string,
  contactIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_executions
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[])`.execute(database);
  return rows.map((row) => row.id);
}

/** Waits for the engine, which moves some of them. In the order in which people cancel them. */
export async function lockExecutionRowsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workflow_executions
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[]) order by id for update`.execute(
    tx,
  );
  return rows.map((row) => row.id);
}
