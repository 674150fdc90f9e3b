// The only way to change the status of campaigns: their queues in the outbox follow in the same transaction.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { RawBuilder, SqlBool } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import { recordProjectEvents } from "../reactions/reactions.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { setCampaignQueues, type CampaignQueueState } from "../emails/outbox/queues.ts";
import {
  campaignIs,
  updateStatus,
  type MovedCampaign,
  type StatusChange,
  type Transition,
} from "./status-queries.ts";

/** Queue states of unfinished campaigns; a finished campaign has no queue. */
const QUEUE_OF: Readonly<Record<CampaignStatus, CampaignQueueState>> = {
  DRAFT: null,
  SCHEDULED: null,
  SENDING: "OPEN",
  PAUSED: "PAUSED",
  CANCELLED: "CLOSED",
  SENT: null,
};

/** Statuses with work for the campaign loop. */
const HAS_WORK: ReadonlySet<CampaignStatus> = new Set(["SCHEDULED", "SENDING", "CANCELLED"]);

/** Moves the matching campaigns and their queues from one of these states to another. Returns those that moved. */
export async function moveCampaigns(
  tx: Tx,
  condition: RawBuilder<SqlBool>,
  transition: Transition,
  set: StatusChange = {},
): Promise<MovedCampaign[]> {
  const moved = await updateStatus(tx, condition, transition, set);
  if (moved.length === 0) return moved;
  const { to } = transition;
  await setCampaignQueues(
    tx,
    moved.map(({ projectId, campaignId, isOver }) => ({
      projectId,
      campaignId,
      state: isOver ? null : QUEUE_OF[to],
    })),
  );
  await recordTransition(tx, moved, transition, set.heldReason?.text ?? null);
  if (HAS_WORK.has(to)) notify(tx, "campaigns");
  return moved;
}

/** Records the transition in the event streams of the projects. */
async function recordTransition(
  tx: Tx,
  moved: readonly MovedCampaign[],
  { to, event }: Transition,
  reason: string | null,
): Promise<void> {
  if (event === null) return;
  await recordProjectEvents(
    tx,
    moved.map(({ projectId, campaignId, name, scheduledFor }) => ({
      projectId,
      type: event,
      data: {
        campaign: {
          id: campaignId,
          name,
          status: to,
          scheduledFor: scheduledFor?.toISOString() ?? null,
          reason,
        },
      },
    })),
  );
}

/** Moves one campaign. Returns whether it was in one of the states. */
export async function moveCampaign(
  tx: Tx,
  key: CampaignKey,
  transition: Transition,
  set: StatusChange = {},
): Promise<boolean> {
  return (await moveCampaigns(tx, campaignIs(key), transition, set)).length > 0;
}
