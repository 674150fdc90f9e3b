// Statements on `projects` during a reset or deletion.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { deleteKeys, lockProject } from "../queries.ts";

/** Locks the project. Returns its name, whether it is disabled, and whether a previous removal is still running. */
export async function lockForRemoval(tx: Tx, projectId: string) {
  await lockProject(tx, projectId);
  const { rows } = await sql<{ name: string; disabled: boolean; isRunning: boolean }>`
    select p.name, p.disabled, exists (
      select 1 from jobs j
      where j.project_id = p.id and j.id = p.removal_job and j.state in ('waiting', 'active')
    ) as is_running
    from projects p where p.id = ${projectId}`.execute(tx);
  return rows[0];
}

export async function findName(database: Database, projectId: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select name from projects where id = ${projectId}`.execute(database);
  return rows[0]?.name;
}

/** Disables the project for the removal. From the commit on it sends and changes nothing. */
export async function startRemovalRow(
  tx: Tx,
  projectId: string,
  { removal, jobId }: { removal: string; jobId: string },
): Promise<void> {
  await sql`
    update projects set disabled = true, removal = ${removal}, removal_job = ${jobId}, updated_at = now()
    where id = ${projectId}`.execute(tx);
}

/** The logo goes if it was an image of the project, because the reset deleted these. The brand is a setting and stays. */
export async function endResetRow(tx: Tx, projectId: string): Promise<void> {
  await sql`
    update projects set disabled = false, removal = null, removal_job = null, updated_at = now(),
      logo_url = case when position('/images/' || replace(id::text, '-', '') in logo_url) > 0 then null else logo_url end
    where id = ${projectId}`.execute(tx);
}

/** Deletes the project with its remaining members, keys and settings. */
export async function deleteProjectRow(tx: Tx, projectId: string): Promise<void> {
  await sql`delete from projects where id = ${projectId}`.execute(tx);
  // After the project, because a rotation of the keys locks it. Later ones find no project.
  await deleteKeys(tx, projectId);
}

/** Returns whether a sender has claimed emails of the project, whose results follow within seconds. */
export async function hasClaimedEmails(database: Database, projectId: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (
      select 1 from emails where status = 'CLAIMED' and sender_id is not null and project_id = ${projectId}
    ) as has`.execute(database);
  return rows[0]?.has === true;
}
