// Queries on executions and schedules held after the database was rolled back to an earlier state. Held executions are never due, so the
// claiming queries need no condition for them.
import { sql, type SqlBool } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";
import { ofProject } from "../../platform/database/of-project.ts";

const isHeld = sql<SqlBool>`due_at = 'infinity'`;
const isHeldSchedule = sql<SqlBool>`held_run_at is not null`;

/** Clears `waits_for`, so no event reaches held executions. Their steps check for events again after the release. */
export async function updateExecutionsToHeld(tx: Tx, reason: string): Promise<void> {
  await sql`
    update workflow_executions set due_at = 'infinity', waits_for = null, exit_reason = ${reason}
    where status in ('RUNNING', 'WAITING') and due_at is distinct from 'infinity'`.execute(tx);
}

export async function updateExecutionsToReleased(tx: Tx, projectId: string | null): Promise<void> {
  await sql`
    update workflow_executions set due_at = now(), exit_reason = null
    where ${isHeld} ${ofProject(projectId)}`.execute(tx);
  notify(tx, "workflows");
}

/** Makes held executions due with a reason to end, so that the engine cancels and counts them. */
export async function updateExecutionsToDropped(
  tx: Tx,
  projectId: string | null,
  reason: string,
): Promise<void> {
  await sql`
    update workflow_executions set due_at = now(), exit_reason = ${reason}
    where ${isHeld} ${ofProject(projectId)}`.execute(tx);
  notify(tx, "workflows");
}

export async function updateSchedulesToHeld(tx: Tx): Promise<void> {
  await sql`
    update workflows set held_run_at = next_run_at, next_run_at = null where next_run_at is not null`.execute(
    tx,
  );
}

/** Keeps schedules that were enabled, disabled or changed since. */
export async function updateSchedulesToReleased(tx: Tx, projectId: string | null): Promise<void> {
  await sql`
    update workflows set held_run_at = null,
      next_run_at = coalesce(next_run_at, case when enabled and trigger_type = 'SCHEDULE' then held_run_at end)
    where ${isHeldSchedule} ${ofProject(projectId)}`.execute(tx);
}

export interface HeldScheduleRow {
  projectId: string;
  id: string;
  triggerConfig: unknown;
  /** Whether it would run again. False if it was changed since. */
  isDue: boolean;
  now: Date;
}

export async function takeHeldSchedules(tx: Tx, projectId: string | null): Promise<HeldScheduleRow[]> {
  const { rows } = await sql<HeldScheduleRow>`
    update workflows set held_run_at = null from (select now() as now) clock where ${isHeldSchedule} ${ofProject(projectId)}
    returning project_id, id, trigger_config, clock.now,
      enabled and trigger_type = 'SCHEDULE' and next_run_at is null as is_due`.execute(tx);
  return rows;
}

export async function countHeldExecutions(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from workflow_executions where ${isHeld}`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function countHeldSchedules(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from workflows where ${isHeldSchedule}`.execute(database);
  return rows[0]?.count ?? 0;
}
