// Queries on the executions of contacts.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";

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

/** Locks executions, and waits for those the engine is advancing. Uses the lock order of cancellations. */
export async function lockExecutionRowsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  await sql`
    select 1 from workflow_executions
    where project_id = ${projectId} and contact_id = any(${contactIds}::uuid[]) order by id for update`.execute(
    tx,
  );
}

/**
 * Removes all contact data, and the contact itself, from the executions of locked contacts. Keeps the steps with times, branches, email ids
 * and skip reasons. The reason of an EXIT may contain variables, and so contact data.
 */
export async function emptyExecutionRowsOf(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update workflow_executions x set contact_id = null, context = null, results = null, answer = null, moves = null,
      exit_reason = case when x.status = 'EXITED' then null else x.exit_reason end,
      trace = case when jsonb_path_exists(x.trace, '$[*].out') then (
        select jsonb_agg(run - 'out' || jsonb_strip_nulls(jsonb_build_object('out', (
          select jsonb_object_agg(key, value) from jsonb_each(run -> 'out') where key in ('emailId', 'reason', 'code')))) order by place)
        from jsonb_array_elements(x.trace) with ordinality as v (run, place)) else x.trace end
    where x.project_id = ${projectId} and x.contact_id = any(${contactIds}::uuid[]) returning x.id`.execute(
    tx,
  );
  return rows.map((row) => row.id);
}

interface HoldingRow extends Row<
  "workflow_executions",
  "id" | "workflowId" | "status" | "startedAt" | "endedAt" | "exitReason" | "context" | "results"
> {
  workflowName: string;
}

/** Returns a page of a contact's executions with the contact data they store, by id. */
export async function listExecutionsHolding(
  database: Database,
  projectId: string,
  contactId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<HoldingRow[]> {
  const isBehind = after === null ? sql`true` : sql`x.id > ${after}`;
  const { rows } = await sql<HoldingRow>`
    select x.id, x.workflow_id, w.name as workflow_name, x.status, x.started_at, x.ended_at, x.exit_reason, x.context, x.results
    from workflow_executions x join workflows w on w.project_id = x.project_id and w.id = x.workflow_id
    where x.project_id = ${projectId} and x.contact_id = ${contactId} and ${isBehind} order by x.id limit ${limit}`.execute(
    database,
  );
  return rows;
}
