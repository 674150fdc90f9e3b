// A campaign whose recipients could not be fixed pauses and says why: it is under way and nobody gets it, until somebody mends what its
// audience stands on.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import type { FailedJob } from "../platform/background/jobs.ts";
import { moveCampaign } from "./follow-status.ts";
import { findCampaignForUpdate } from "./queries.ts";
import { TRANSITIONS } from "./rules.ts";
import { SNAPSHOT_JOB } from "./send-campaign.ts";

/** Hears of jobs that failed, in the transaction in which they end; members are told of the job. */
export async function pauseUnresolved(tx: Tx, { projectId, kind, input, reason }: FailedJob): Promise<void> {
  if (kind !== SNAPSHOT_JOB) return;
  const { campaignId } = input as { campaignId: string };
  const row = await findCampaignForUpdate(tx, projectId, campaignId);
  if (row === undefined || row.snapshotAt !== null) return;
  const heldReason = holdFor("held.audience", { said: reason });
  await moveCampaign(tx, projectId, campaignId, TRANSITIONS.pause, { heldReason });
}
