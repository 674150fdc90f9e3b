// Statements on campaigns held after a database rollback, which are recognized by their reason. Any action by a person removes the reason
// and the hold.
import { holdFor, type HeldReason } from "@postloft/contract/held-reasons.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { ofProject } from "../platform/database/of-project.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";

/** Returns a reason in its stored form, a list with one sentence. */
export const storedReason = (reason: HeldReason): string => JSON.stringify([reason]);

/** Selects all campaigns, those of a project, or one. */
export interface CampaignScope {
  projectId: string | null;
  campaignId: string | null;
}

/** The reason for holding after a database rollback. */
export const ROLLED_BACK = holdFor("held.wentBack");

const isHeld = sql<SqlBool>`
  held_reason_parts @> ${JSON.stringify([{ code: ROLLED_BACK.code }])} and status in ('PAUSED', 'SCHEDULED')`;

const within = ({ projectId, campaignId }: CampaignScope): RawBuilder<unknown> => sql`
  ${ofProject(projectId)}
  ${campaignId === null ? sql`` : sql`and id = ${campaignId}`}`;

/** Matches held campaigns of a scope. */
export function isHeldIn(scope: CampaignScope): RawBuilder<SqlBool> {
  return sql<SqlBool>`${isHeld} ${within(scope)}`;
}

/** Holds all scheduled campaigns that are not held yet, without changing their status. */
export async function updateSchedulesToHeld(tx: Tx): Promise<void> {
  await sql`
    update campaigns set held_reason_parts = ${storedReason(ROLLED_BACK)}, updated_at = now()
    where status = 'SCHEDULED' and held_reason_parts is null`.execute(tx);
}

/** Releases held schedules of a scope, so that they start in time. */
export async function updateSchedulesToReleased(tx: Tx, scope: CampaignScope): Promise<void> {
  await sql`
    update campaigns set held_reason_parts = null, updated_at = now()
    where status = 'SCHEDULED' and ${isHeldIn(scope)}`.execute(tx);
  notify(tx, "campaigns");
}

/** Holds a campaign that has not started, without changing its status. */
export async function updateUnstartedToHeld(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  reason: HeldReason,
): Promise<void> {
  await sql`
    update campaigns set held_reason_parts = ${storedReason(reason)}, updated_at = now()
    where project_id = ${projectId} and id = ${campaignId} and status in ('DRAFT', 'SCHEDULED')`.execute(tx);
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
