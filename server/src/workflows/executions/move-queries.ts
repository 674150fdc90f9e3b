// Queries that move failed executions to another version.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/database.ts";

/**
 * Returns the current version of a workflow, locked against edits until the end of the transaction.
 * @returns undefined if the workflow was deleted
 */
export async function lockCurrentVersion(
  tx: Tx,
  projectId: string,
  workflowId: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`
    select version from workflows where project_id = ${projectId} and id = ${workflowId} for share`.execute(
    tx,
  );
  return rows[0]?.version;
}

export async function listTraces(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, unknown>> {
  const { rows } = await sql<{ id: string; trace: unknown }>`
    select id, trace from workflow_executions where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    tx,
  );
  return new Map(rows.map(({ id, trace }) => [id, trace]));
}

/** Moves locked executions to another version, with traces for its graph. */
export async function moveExecutionRows(
  tx: Tx,
  projectId: string,
  { version, executions }: { version: number; executions: ReadonlyArray<{ id: string; trace: string }> },
): Promise<void> {
  await sql`
    update workflow_executions x set version = ${version}, trace = i.trace
    from unnest(
      (select ${executions.map(({ id }) => id)}::uuid[]),
      ${executions.map(({ trace }) => trace)}::jsonb[]
    ) as i (id, trace)
    where x.project_id = ${projectId} and x.id = i.id`.execute(tx);
}
