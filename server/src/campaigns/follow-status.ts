// The queues of campaigns follow their status: whether mail of a campaign leaves stands in the outbox, which knows no campaigns.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { setCampaignQueues, type CampaignQueueState } from "../emails/outbox/queues.ts";
import { updateStatus, type Transition } from "./queries.ts";
import { listStates } from "./status-queries.ts";

/** Of campaigns that are not over; one that is over has no queue. */
const QUEUE_OF: Readonly<Record<CampaignStatus, CampaignQueueState>> = {
  DRAFT: null,
  SCHEDULED: null,
  SENDING: "OPEN",
  PAUSED: "PAUSED",
  CANCELLED: "CLOSED",
  SENT: null,
};

/** Opens, pauses, closes or ends the queues of campaigns as they stand now. */
export async function followStatus(tx: Tx, keys: readonly CampaignKey[]): Promise<void> {
  if (keys.length === 0) return;
  const states = await listStates(tx, keys);
  notify(tx, "campaigns");
  await setCampaignQueues(
    tx,
    states.map(({ status, isOver, ...key }) => ({ ...key, state: isOver ? null : QUEUE_OF[status] })),
  );
}

/** Moves a campaign from one of these states to another, and its queue with it; whether it was in one. */
export async function moveCampaign(
  tx: Tx,
  projectId: string,
  campaignId: string,
  transition: Transition,
  set: Parameters<typeof updateStatus>[4] = {},
): Promise<boolean> {
  const isMoved = await updateStatus(tx, projectId, campaignId, transition, set);
  if (isMoved) await followStatus(tx, [{ projectId, campaignId }]);
  return isMoved;
}
