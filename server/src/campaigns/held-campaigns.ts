// Holds campaigns after a database rollback: sending ones are paused, scheduled ones wait for a person. These functions act on all of them;
// single ones are resumed, sent or cancelled as usual.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import type { HoldCampaigns } from "../emails/submission/reconcile.ts";
import { moveCampaigns } from "./sync-queue.ts";
import {
  isHeldIn,
  updateSchedulesToHeld,
  updateSchedulesToReleased,
  updateUnstartedToHeld,
  ROLLED_BACK,
  type CampaignScope,
} from "./held-queries.ts";
import { pauseAutomatically, type PauseDependencies } from "./pause-automatically.ts";
import { TRANSITIONS } from "./rules.ts";
import { anyCampaign } from "./status-queries.ts";

export { countHeldCampaigns, type CampaignScope } from "./held-queries.ts";

/** Holds every campaign that is sending or scheduled. Members aren't notified of each: the hold is about the installation (instance/held.ts). */
export async function holdCampaigns(tx: Tx): Promise<void> {
  await moveCampaigns(tx, anyCampaign, TRANSITIONS.pause, { heldReason: ROLLED_BACK });
  await updateSchedulesToHeld(tx);
}

/** Releases held campaigns in their current state. Schedules missed by too long stay held for that reason. */
export async function releaseHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<void> {
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.resume);
  await updateSchedulesToReleased(tx, scope);
}

/** Cancels held sending campaigns and turns held schedules into drafts. */
export async function dropHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<void> {
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.cancel);
  const heldReason = holdFor("held.unscheduled");
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.unschedule, { scheduledFor: null, heldReason });
}

/**
 * Returns a function that holds campaigns whose start was lost in a failover although some of their emails left. They would start again for
 * all recipients. A person decides, and sees how many recipients have the email already.
 */
export function createHoldRedacted(deps: PauseDependencies): HoldCampaigns {
  return async (tx, redacted) => {
    for (const { projectId, campaignId, mails } of redacted) {
      const cause = { problem: "forgotten", mails } as const;
      if (await pauseAutomatically(tx, deps, { projectId, campaignId, cause })) continue;
      await updateUnstartedToHeld(tx, { projectId, campaignId }, holdFor("held.forgotten", { mails }));
    }
  };
}
