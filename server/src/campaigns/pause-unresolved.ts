// A campaign whose recipients could not be fixed pauses and says why: it is under way and nobody gets it, until somebody mends what its audience
// stands on.
import type { Tx } from "../platform/database/database.ts";
import type { FailedJob } from "../platform/background/jobs.ts";
import { pauseAutomatically, type PauseParts } from "./pause-automatically.ts";
import { findCampaignForUpdate } from "./queries.ts";
import { SNAPSHOT_JOB } from "./send-campaign.ts";

/** Pauses the campaign of a job that failed to fix its recipients, in the transaction in which the job ends; returns whether it did. */
export async function pauseUnresolved(
  tx: Tx,
  parts: PauseParts,
  { projectId, kind, input, reason }: FailedJob,
): Promise<boolean> {
  if (kind !== SNAPSHOT_JOB) return false;
  const { campaignId } = input as { campaignId: string };
  const row = await findCampaignForUpdate(tx, projectId, campaignId);
  if (row === undefined || row.snapshotAt !== null) return false;
  return pauseAutomatically(tx, parts, {
    projectId,
    campaignId,
    cause: { problem: "audience", said: reason },
  });
}
