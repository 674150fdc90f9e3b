// Queries that pause and resume workflows, and stop executions meanwhile (docs/decisions/0132-failing-and-paused-workflows.md).
import { sql } from "kysely";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { PausedReason } from "@postloft/contract/workflows/workflows.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";

/** Pauses a workflow for a person. Returns false for a workflow that is already paused, which keeps its time and reason. */
export async function updateToPaused(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update workflows set paused_at = now(), updated_at = now()
    where project_id = ${projectId} and id = ${id} and paused_at is null`.execute(tx);
  return numAffectedRows === 1n;
}

/**
 * Pauses a workflow automatically. Skips a locked one, because its holder may wait for an execution that this transaction has locked.
 * @returns whether it is paused now
 */
export async function updateToPausedUnlessLocked(
  tx: Tx,
  projectId: string,
  id: string,
  reason: PausedReason,
): Promise<boolean> {
  const { rows } = await sql`
    update workflows set paused_at = now(), paused_reason = ${JSON.stringify(reason)}::jsonb, updated_at = now()
    where project_id = ${projectId} and id = (
      select id from workflows where project_id = ${projectId} and id = ${id} and paused_at is null
      for no key update skip locked)
    returning id`.execute(tx);
  return rows.length > 0;
}

/**
 * Resumes a workflow. Also forgets the failures that paused it, so that it pauses again only after as many new ones.
 * @returns whether it was paused
 */
export async function updateToResumed(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update workflows set paused_at = null, paused_reason = null, updated_at = now()
    where project_id = ${projectId} and id = ${id} and paused_at is not null`.execute(tx);
  await sql`
    update workflow_step_counts set failed_in_a_row = '{}'
    where project_id = ${projectId} and workflow_id = ${id} and failed_in_a_row <> '{}'`.execute(tx);
  return numAffectedRows === 1n;
}

/** Locks a workflow until the end of the transaction. Returns whether it is paused, or undefined if it was deleted. */
export async function lockPause(tx: Tx, projectId: string, id: string): Promise<boolean | undefined> {
  const { rows } = await sql<{ isPaused: boolean }>`
    select paused_at is not null as is_paused from workflows
    where project_id = ${projectId} and id = ${id} for no key update`.execute(tx);
  return rows[0]?.isPaused;
}

/**
 * Locks workflows against a resume until the end of the transaction, because a resume must find every execution that stops.
 * Skips a locked one, as `updateToPausedUnlessLocked` does.
 */
export async function lockPausesUnlessLocked(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<Array<{ id: string; isPaused: boolean }>> {
  const { rows } = await sql<{ id: string; isPaused: boolean }>`
    select id, paused_at is not null as is_paused from workflows
    where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for share skip locked`.execute(
    tx,
  );
  return rows;
}

/** Stops locked executions: they are not due until they are released. A call that failed is made again then. */
export async function stopExecutions(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update workflow_executions set paused_due_at = coalesce(paused_due_at, due_at), due_at = null,
      answer = case when answer ->> 'is' = 'failed' then '{"is": "again"}' else answer end
    where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
}

/**
 * Lets up to `limit` stopped executions of a workflow continue. Those held since a rollback stay held.
 * @returns how many
 */
export async function releaseStoppedExecutions(
  tx: Tx,
  projectId: string,
  workflowId: string,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with stopped as materialized (
      select id from workflow_executions
      where project_id = ${projectId} and workflow_id = ${workflowId} and paused_due_at is not null
      order by id limit ${limit}
    ), released as (
      update workflow_executions set paused_due_at = null,
        due_at = case when due_at = 'infinity' then due_at when status in ('RUNNING', 'WAITING') then least(due_at, paused_due_at) end
      where project_id = ${projectId} and id = any(array(select id from stopped)) and paused_due_at is not null returning id
    )
    select count(*) as count from stopped`.execute(tx);
  notify(tx, "workflows");
  return rows[0]?.count ?? 0;
}

/** A WEBHOOK step of a workflow. */
export interface StepKey {
  workflowId: string;
  stepId: string;
}

/** Returns the contacts for which a step failed since its last success, by `"<workflow> <step>"`. */
export async function readFailedInARow(
  database: Database,
  projectId: string,
  steps: readonly StepKey[],
): Promise<Map<string, string[]>> {
  const { rows } = await sql<StepKey & { contactIds: string[] }>`
    select c.workflow_id, c.step_id, c.failed_in_a_row as contact_ids
    from unnest(
      ${steps.map(({ workflowId }) => workflowId)}::uuid[],
      ${steps.map(({ stepId }) => stepId)}::uuid[]
    ) as i (workflow_id, step_id)
    join workflow_step_counts c on c.project_id = ${projectId} and c.workflow_id = i.workflow_id and c.step_id = i.step_id`.execute(
    database,
  );
  return new Map(rows.map((row) => [`${row.workflowId} ${row.stepId}`, row.contactIds]));
}

/** Adds contacts for which a step failed, or forgets them if it succeeded. The counts of these steps are locked already. */
export async function updateFailedInARow(
  tx: Tx,
  projectId: string,
  {
    failed,
    succeeded,
  }: { failed: ReadonlyArray<StepKey & { contactId: string }>; succeeded: readonly StepKey[] },
): Promise<void> {
  if (succeeded.length > 0)
    await sql`
      update workflow_step_counts c set failed_in_a_row = '{}'
      from unnest(
        ${succeeded.map(({ workflowId }) => workflowId)}::uuid[],
        ${succeeded.map(({ stepId }) => stepId)}::uuid[]
      ) as i (workflow_id, step_id)
      where c.project_id = ${projectId} and c.workflow_id = i.workflow_id and c.step_id = i.step_id
        and c.failed_in_a_row <> '{}'`.execute(tx);
  if (failed.length > 0)
    await sql`
      update workflow_step_counts c
      set failed_in_a_row = array(
        select distinct one from unnest(c.failed_in_a_row || i.contact_ids) one limit ${LIMITS.webhookFailuresInARow.value})
      from (
        select workflow_id, step_id, array_agg(contact_id) as contact_ids
        from unnest(
          ${failed.map(({ workflowId }) => workflowId)}::uuid[],
          ${failed.map(({ stepId }) => stepId)}::uuid[],
          ${failed.map(({ contactId }) => contactId)}::uuid[]
        ) as t (workflow_id, step_id, contact_id)
        group by workflow_id, step_id
      ) i
      where c.project_id = ${projectId} and c.workflow_id = i.workflow_id and c.step_id = i.step_id`.execute(
      tx,
    );
}
