// The only statement that changes the status of campaigns, and its conditions. Only sync-queue.ts calls it.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { HeldReason } from "@postloft/contract/held-reasons.ts";
import type { ProjectEventType } from "@postloft/contract/event-names.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { storedReason } from "./held-queries.ts";

export interface Transition {
  from: readonly CampaignStatus[];
  to: CampaignStatus;
  /** The event of the project that records the transition. */
  event: ProjectEventType | null;
}

/** Other changed columns. Without a reason here the held reason is cleared. */
export interface StatusChange {
  scheduledFor?: Date | null;
  startedAt?: "now";
  finishedAt?: "now" | null;
  heldReason?: HeldReason;
}

export interface MovedCampaign extends CampaignKey {
  name: string;
  scheduledFor: Date | null;
  isOver: boolean;
}

/**
 * Moves the matching campaigns from one of these states to another and returns those that moved. Rejections and doubts before a campaign
 * starts sending (again) no longer count.
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
    .returning([
      "projectId",
      "id as campaignId",
      "name",
      "scheduledFor",
      sql<boolean>`finished_at is not null`.as("isOver"),
    ])
    .execute();
}

/** Matches all campaigns of all projects. */
export const anyCampaign = sql<SqlBool>`true`;

/** One campaign. */
export function campaignIs({ projectId, campaignId }: CampaignKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`project_id = ${projectId} and id = ${campaignId}`;
}

/** Matches a due campaign that is not held, by the database's clock. */
export function isDue(key: CampaignKey): RawBuilder<SqlBool> {
  return sql<SqlBool>`${campaignIs(key)} and scheduled_for <= now() and held_reason_parts is null`;
}

/** Matches one campaign, unless it was resumed after `sendingSince`. Null matches any start. */
export function sendsSince(key: CampaignKey, sendingSince: Date | null): RawBuilder<SqlBool> {
  if (sendingSince === null) return campaignIs(key);
  return sql<SqlBool>`${campaignIs(key)} and date_trunc('milliseconds', sending_since) = ${sendingSince}`;
}
