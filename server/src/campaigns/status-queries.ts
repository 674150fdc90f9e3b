// The one statement that changes the status of campaigns, and the conditions for it. Only follow-status.ts calls it.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { HeldReason } from "@postloft/contract/held-reasons.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { storedReason } from "./held-queries.ts";

export interface Transition {
  from: readonly CampaignStatus[];
  to: CampaignStatus;
}

/** What changes with the status. A campaign that gets no reason here loses the one it had. */
export interface StatusChange {
  scheduledFor?: Date | null;
  startedAt?: "now";
  finishedAt?: "now" | null;
  heldReason?: HeldReason;
}

export interface MovedCampaign extends CampaignKey {
  name: string;
  isOver: boolean;
}

/**
 * Moves the campaigns that meet the condition from one of these states to another; returns those that moved. Refusals and doubts from before
 * a campaign sends (again) no longer count against it.
 */
export async function updateStatus(
  tx: Tx,
  condition: RawBuilder<SqlBool>,
  { from, to }: Transition,
  set: StatusChange,
): Promise<MovedCampaign[]> {
  const now = sql<Date>`now()`;
  return tx
    .updateTable("campaigns")
    .set({
      status: to,
      heldReasonParts: set.heldReason === undefined ? null : storedReason(set.heldReason),
      updatedAt: now,
      ...(to === "SENDING" ? { sendingSince: now } : {}),
      ...("scheduledFor" in set ? { scheduledFor: set.scheduledFor ?? null } : {}),
      ...("startedAt" in set ? { startedAt: now } : {}),
      ...("finishedAt" in set ? { finishedAt: set.finishedAt === "now" ? now : null } : {}),
    })
    .where("status", "in", from)
    .where(condition)
    .returning(["projectId", "id as campaignId", "name", sql<boolean>`finished_at is not null`.as("isOver")])
    .execute();
}

/** All campaigns of all projects. */
export const anyCampaign = sql<SqlBool>`true`;

/** One campaign. */
export function campaignIs({ projectId, campaignId }: CampaignKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`project_id = ${projectId} and id = ${campaignId}`;
}

/** One campaign whose time has come, by the clock of the database, and which nothing holds. */
export function isDue(key: CampaignKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`${campaignIs(key)} and scheduled_for <= now() and held_reason_parts is null`;
}

/** One campaign, unless it was resumed after `sendingSince`; null: in any case. */
export function sendsSince(key: CampaignKey, sendingSince: Date | null): RawBuilder<SqlBool> {
  if (sendingSince === null) return campaignIs(key);
  return sql<SqlBool>`${campaignIs(key)} and date_trunc('milliseconds', sending_since) = ${sendingSince}`;
}
