// Pauses a campaign with an invalid audience and stores the reason, so that no one gets it until the audience is fixed.
import type { Tx } from "../platform/database/database.ts";
import type { FailedJob } from "../platform/background/jobs.ts";
import { pauseAutomatically, type PauseDependencies } from "./pause-automatically.ts";
import { findCampaignForUpdate } from "./queries.ts";
import { SNAPSHOT_JOB } from "./send-campaign.ts";

/** Pauses the campaign of a failed snapshot job in the transaction that ends the job. Returns whether it did. */
export async function pauseUnresolved(
  tx: Tx,
  deps: PauseDependencies,
  { projectId, kind, input, reason }: FailedJob,
): Promise<boolean> {
  if (kind !== SNAPSHOT_JOB) return false;
  const { campaignId } = input as { campaignId: string };
  const row = await findCampaignForUpdate(tx, projectId, campaignId);
  if (row === undefined || row.snapshotAt !== null) return false;
  return pauseAutomatically(tx, deps, {
    projectId,
    campaignId,
    cause: { problem: "audience", said: reason },
  });
}
