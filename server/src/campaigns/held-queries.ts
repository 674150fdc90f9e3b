// Statements on campaigns that are held after the database went back: those with this reason. Whatever a person does with one of them takes
// it away, and with it the hold.
import { holdFor, type HeldReason } from "@postloft/contract/held-reasons.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { ofProject } from "../platform/database/of-project.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";

/** Why a campaign waits, as it is stored: sentence by sentence, and it is one. */
export const storedReason = (reason: HeldReason): string => JSON.stringify([reason]);

/** Which campaigns are meant: all, those of a project, or one. */
export interface CampaignScope {
  projectId: string | null;
  campaignId: string | null;
}

const WENT_BACK = holdFor("held.wentBack");

const isHeld = sql<SqlBool>`
  held_reason_parts @> ${JSON.stringify([{ code: WENT_BACK.code }])} and status in ('PAUSED', 'SCHEDULED')`;

const within = ({ projectId, campaignId }: CampaignScope): RawBuilder<unknown> => sql`
  ${ofProject(projectId)}
  ${campaignId === null ? sql`` : sql`and id = ${campaignId}`}`;

/** A campaign that was changed, with the status that it has now. */
export interface HeldCampaign extends CampaignKey {
  status: string;
}
const HELD_COLUMNS = sql`project_id, id as campaign_id, status`;

export async function updateAllToHeld(tx: Tx) {
  const { rows } = await sql<HeldCampaign>`
    update campaigns set held_reason_parts = ${storedReason(WENT_BACK)}, updated_at = now(),
      status = case status when 'SENDING' then 'PAUSED' else status end
    where status = 'SENDING' or (status = 'SCHEDULED' and held_reason_parts is null)
    returning ${HELD_COLUMNS}`.execute(tx);
  return rows;
}

export async function updateHeldToReleased(tx: Tx, scope: CampaignScope): Promise<HeldCampaign[]> {
  const { rows } = await sql<HeldCampaign>`
    with instant as materialized (select now() as at)
    update campaigns set held_reason_parts = null, updated_at = instant.at,
      status = case status when 'PAUSED' then 'SENDING' else status end,
      sending_since = case status when 'PAUSED' then instant.at else sending_since end
    from instant where ${isHeld} ${within(scope)} returning ${HELD_COLUMNS}`.execute(tx);
  return rows;
}

export async function updateHeldToDropped(
  tx: Tx,
  scope: CampaignScope,
  reason: HeldReason,
): Promise<HeldCampaign[]> {
  const { rows } = await sql<HeldCampaign>`
    update campaigns set updated_at = now(),
      held_reason_parts = case status when 'SCHEDULED' then ${storedReason(reason)}::jsonb end,
      scheduled_for = case status when 'SCHEDULED' then null else scheduled_for end,
      status = case status when 'SCHEDULED' then 'DRAFT' else 'CANCELLED' end
    where ${isHeld} ${within(scope)} returning ${HELD_COLUMNS}`.execute(tx);
  return rows;
}

export async function updateForgottenToHeld(
  tx: Tx,
  { projectId, campaignId }: { projectId: string; campaignId: string },
  reason: HeldReason,
): Promise<void> {
  await sql`
    update campaigns set held_reason_parts = ${storedReason(reason)}, updated_at = now(),
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
