// Statements on campaigns that are held after the database went back: those with this reason. Whatever a person does with one of
// them takes it away, and with it the hold.
// Before it: held-campaigns.ts. After it: nothing.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database.ts";

/** Which campaigns are meant: all, those of a project, or one. */
export interface CampaignScope {
  projectId: string | null;
  campaignId: string | null;
}

const HELD =
  "Held: the database went back to an earlier state, so what waits here may have left already. Send it on, or cancel it; whoever runs the installation can do so for all.";

const isHeld = sql<SqlBool>`held_reason = ${HELD} and status in ('PAUSED', 'SCHEDULED')`;

const within = ({ projectId, campaignId }: CampaignScope): RawBuilder<unknown> => sql`
  ${projectId === null ? sql`` : sql`and project_id = ${projectId}`}
  ${campaignId === null ? sql`` : sql`and id = ${campaignId}`}`;

export async function updateAllToHeld(tx: Tx): Promise<{ sending: number; scheduled: number }> {
  const { rows } = await sql<{ status: string }>`
    update campaigns set held_reason = ${HELD}, updated_at = now(),
      status = case status when 'SENDING' then 'PAUSED' else status end
    where status = 'SENDING' or (status = 'SCHEDULED' and held_reason is null)
    returning status`.execute(tx);
  const scheduled = rows.filter(({ status }) => status === "SCHEDULED").length;
  return { sending: rows.length - scheduled, scheduled };
}

export async function updateHeldToReleased(tx: Tx, scope: CampaignScope): Promise<number> {
  const result = await sql`
    update campaigns set held_reason = null, updated_at = now(),
      status = case status when 'PAUSED' then 'SENDING' else status end,
      sending_since = case status when 'PAUSED' then now() else sending_since end
    where ${isHeld} ${within(scope)}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function updateHeldToDropped(tx: Tx, scope: CampaignScope, reason: string): Promise<number> {
  const result = await sql`
    update campaigns set updated_at = now(),
      held_reason = case status when 'SCHEDULED' then ${reason} end,
      scheduled_for = case status when 'SCHEDULED' then null else scheduled_for end,
      status = case status when 'SCHEDULED' then 'DRAFT' else 'CANCELLED' end
    where ${isHeld} ${within(scope)}`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function updateForgottenToHeld(
  tx: Tx,
  { projectId, campaignId }: { projectId: string; campaignId: string },
  reason: string,
): Promise<void> {
  await sql`
    update campaigns set held_reason = ${reason}, updated_at = now(),
      status = case status when 'SENDING' then 'PAUSED' else status end
    where project_id = ${projectId} and id = ${campaignId} and status in ('DRAFT', 'SCHEDULED', 'SENDING')`.execute(
    tx,
  );
}

export async function countHeldCampaigns(
  database: Database,
): Promise<{ sending: number; scheduled: number }> {
  const { rows } = await sql<{ sending: number; scheduled: number }>`
    select count(*) filter (where status = 'PAUSED')::float8 as sending,
      count(*) filter (where status = 'SCHEDULED')::float8 as scheduled
    from campaigns where ${isHeld}`.execute(database);
  return rows[0] ?? { sending: 0, scheduled: 0 };
}
