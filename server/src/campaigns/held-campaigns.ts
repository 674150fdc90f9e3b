// Campaigns held after the database went back to an earlier state: those that are sending pause, schedules wait for a person. Each is
// resumed, sent or cancelled like any other; these are the verbs for all of them.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import { followStatus } from "./follow-status.ts";
import {
  updateAllToHeld,
  updateForgottenToHeld,
  updateHeldToDropped,
  updateHeldToReleased,
  type CampaignScope,
} from "./held-queries.ts";

export { countHeldCampaigns, type CampaignScope } from "./held-queries.ts";

/** Holds every campaign that is sending or scheduled; returns how many of each. */
export async function holdCampaigns(tx: Tx): Promise<{ sending: number; scheduled: number }> {
  const held = await updateAllToHeld(tx);
  await followStatus(tx, held);
  const scheduled = held.filter(({ status }) => status === "SCHEDULED").length;
  return { sending: held.length - scheduled, scheduled };
}

/** They go on as they stand; a schedule whose time was missed by long is held for that. Returns how many. */
export async function releaseHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<number> {
  const released = await updateHeldToReleased(tx, scope);
  await followStatus(tx, released);
  return released.length;
}

/** Those that were sending are cancelled, schedules become drafts. Returns how many. */
export async function dropHeldCampaigns(tx: Tx, scope: CampaignScope): Promise<number> {
  const dropped = await updateHeldToDropped(tx, scope, holdFor("held.unscheduled"));
  await followStatus(tx, dropped);
  return dropped.length;
}

/**
 * Campaigns whose start a database forgot when a standby took over, although mails of theirs had left: they would begin anew, with
 * everybody. They wait for a person, who reads how many have it already.
 */
export async function holdForgottenCampaigns(
  tx: Tx,
  forgotten: ReadonlyArray<{ projectId: string; campaignId: string; mails: number }>,
): Promise<void> {
  for (const { projectId, campaignId, mails } of forgotten)
    await updateForgottenToHeld(tx, { projectId, campaignId }, holdFor("held.forgotten", { mails }));
  await followStatus(tx, forgotten);
}
