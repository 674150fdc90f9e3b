// Holds campaigns after a database rollback: sending ones are paused, scheduled ones wait for a person. These functions act on all of them;
// single ones are resumed, sent or cancelled as usual.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import type { HoldCampaigns } from "../emails/handover/put-right.ts";
import { moveCampaigns } from "./follow-status.ts";
import {
  isHeldIn,
  updateSchedulesToHeld,
  updateSchedulesToReleased,
  updateUnstartedToHeld,
  WENT_BACK,
  type CampaignScope,
} from "./held-queries.ts";
import { pauseAutomatically, type PauseParts } from "./pause-automatically.ts";
import { TRANSITIONS } from "./rules.ts";
import { anyCampaign } from "./status-queries.ts";

export { countHeldCampaigns, type CampaignScope } from "./held-queries.ts";

/** Holds every campaign that is sending or scheduled. Members aren't notified of each: the hold is about the installation (instance/held.ts). */
export async function holdCampaigns(tx: Tx): Promise<void> {
  await moveCampaigns(tx, anyCampaign, TRANSITIONS.pause, { heldReason: WENT_BACK });
  await updateSchedulesToHeld(tx);
}

/** They go on as they stand; a schedule whose time was missed by long is held for that. */
export async function releaseHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<void> {
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.resume);
  await updateSchedulesToReleased(tx, scope);
}

/** Those that were sending are cancelled, schedules become drafts. */
export async function dropHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<void> {
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.cancel);
  const heldReason = holdFor("held.unscheduled");
  await moveCampaigns(tx, isHeldIn(scope), TRANSITIONS.unschedule, { scheduledFor: null, heldReason });
}

/**
 * Returns what holds campaigns whose start a database forgot when a standby took over, although mails of theirs had left: they would begin anew, with
 * everybody. They wait for a person, who reads how many have it already.
 */
export function createHoldForgotten(parts: PauseParts): HoldCampaigns {
  return async (tx, forgotten) => {
    for (const { projectId, campaignId, mails } of forgotten) {
      const cause = { problem: "forgotten", mails } as const;
      if (await pauseAutomatically(tx, parts, { projectId, campaignId, cause })) continue;
      await updateUnstartedToHeld(tx, { projectId, campaignId }, holdFor("held.forgotten", { mails }));
    }
  };
}
