// Statements on `project_suspensions`, and on `projects` for disabling and enabling.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { lockProject } from "./queries.ts";

export async function disableProjectRows(
  tx: Tx,
  ids: readonly string[],
): Promise<Array<{ id: string; name: string }>> {
  const { rows } = await sql<{ id: string; name: string }>`
    update projects set disabled = true, updated_at = now()
    where id = any(${ids}::uuid[]) and not disabled
    returning id, name`.execute(tx);
  return rows;
}

export async function insertSuspensions(
  tx: Tx,
  suspensions: ReadonlyArray<{ projectId: string; id: string; reasons: string; rates: string }>,
): Promise<void> {
  await sql`
    insert into project_suspensions (project_id, id, reasons, rates)
    select * from unnest(
      ${suspensions.map((suspension) => suspension.projectId)}::uuid[],
      ${suspensions.map((suspension) => suspension.id)}::uuid[],
      ${suspensions.map((suspension) => suspension.reasons)}::jsonb[],
      ${suspensions.map((suspension) => suspension.rates)}::jsonb[]
    )`.execute(tx);
}

/** Locks the project. Returns undefined if it does not exist. */
export async function lockSuspended(tx: Tx, projectId: string, days: number) {
  await lockProject(tx, projectId);
  const { rows } = await sql<{
    disabled: boolean;
    /** Whether all its email is held. */
    isClosed: boolean;
    isSuspended: boolean;
    wasLifted: boolean;
    isRemoved: boolean;
  }>`
    select p.disabled,
      exists (select 1 from project_queues q where q.project_id = p.id and not q.is_open) as is_closed,
      exists (
        select 1 from jobs j where j.project_id = p.id and j.id = p.removal_job and j.state in ('waiting', 'active')
      ) as is_removed,
      exists (
        select 1 from project_suspensions s where s.project_id = p.id and s.lifted_at is null
      ) as is_suspended,
      exists (
        select 1 from project_suspensions s
        where s.project_id = p.id and s.lifted_by is not null and s.lifted_at > now() - make_interval(days => ${days})
      ) as was_lifted
    from projects p where p.id = ${projectId}`.execute(tx);
  return rows[0];
}

export async function liftSuspensions(tx: Tx, projectId: string, liftedBy: string | null): Promise<void> {
  await sql`
    update project_suspensions set lifted_at = now(), lifted_by = ${liftedBy}
    where project_id = ${projectId} and lifted_at is null`.execute(tx);
}

export async function enableProjectRow(tx: Tx, projectId: string, liftedBy: string | null): Promise<void> {
  await liftSuspensions(tx, projectId, liftedBy);
  await sql`update projects set disabled = false, removal = null, removal_job = null, updated_at = now() where id = ${projectId}`.execute(
    tx,
  );
}

export async function listMemberAddresses(tx: Tx, projectIds: readonly string[]) {
  return tx
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.userId")
    .select(["m.projectId", "u.email", "u.language"])
    .where("m.projectId", "in", [...projectIds])
    .orderBy("m.createdAt")
    .execute();
}

export async function findStatuses(database: Database, ids: readonly string[]) {
  const { rows } = await sql<{
    id: string;
    name: string;
    disabled: boolean;
    isSuspended: boolean;
    suspendedAt: Date | null;
  }>`
    select p.id, p.name, p.disabled,
      exists (
        select 1 from project_suspensions s where s.project_id = p.id and s.lifted_at is null
      ) as is_suspended,
      (select max(s.created_at) from project_suspensions s where s.project_id = p.id) as suspended_at
    from projects p where p.id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

export async function listSuspensionRows(database: Database, projectId: string, limit: number) {
  return database
    .selectFrom("project_suspensions")
    .select(["reasons", "rates", "createdAt"])
    .where("projectId", "=", projectId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}
