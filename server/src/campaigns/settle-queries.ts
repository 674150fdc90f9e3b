// Statements of what campaigns do by themselves: which are due, which are not over, which books are looked over.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";

export interface CampaignRef {
  project_id: string;
  id: string;
}

/** Scheduled campaigns whose time has come, by the clock of the database, with how late they are. */
export async function listDueCampaigns(database: Database, limit: number) {
  const { rows } = await sql<CampaignRef & { late_ms: number }>`
    select project_id, id, (extract(epoch from now() - scheduled_for) * 1000)::float8 as late_ms from campaigns
    where status = 'SCHEDULED' and scheduled_for <= now() and held_reason is null
    order by scheduled_for limit ${limit}`.execute(database);
  return rows;
}

/** Starts a due campaign, if it is still scheduled, due and not held; whether this call did. */
export async function updateDueToSending(tx: Tx, { project_id, id }: CampaignRef): Promise<boolean> {
  const result = await sql`
    update campaigns set status = 'SENDING', started_at = now(), updated_at = now()
    where project_id = ${project_id} and id = ${id} and status = 'SCHEDULED' and scheduled_for <= now()
      and held_reason is null`.execute(tx);
  return result.numAffectedRows === 1n;
}

export async function updateHeld(
  database: Database,
  { project_id, id }: CampaignRef,
  reason: string,
): Promise<boolean> {
  const result = await sql`
    update campaigns set held_reason = ${reason}, updated_at = now()
    where project_id = ${project_id} and id = ${id} and status = 'SCHEDULED' and held_reason is null`.execute(
    database,
  );
  return result.numAffectedRows === 1n;
}

/** Campaigns that are not over: their recipients are fixed, and something may still wait. */
export async function listUnfinished(database: Database): Promise<Array<CampaignRef & { status: string }>> {
  const { rows } = await sql<CampaignRef & { status: string }>`
    select project_id, id, status from campaigns
    where status in ('SENDING', 'CANCELLED') and finished_at is null
      and (snapshot_at is not null or status = 'CANCELLED')`.execute(database);
  return rows;
}

/** Campaigns whose books are looked over: those that run and those that ended within a day. */
export async function listToAudit(
  database: Database,
): Promise<Array<CampaignRef & { total_recipients: number; status: string }>> {
  const { rows } = await sql<CampaignRef & { total_recipients: number; status: string }>`
    select project_id, id, total_recipients, status from campaigns
    where snapshot_at is not null and (finished_at is null or finished_at > now() - interval '1 day')`.execute(
    database,
  );
  return rows;
}
