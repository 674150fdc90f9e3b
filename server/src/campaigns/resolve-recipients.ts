// Lets a person decide the outcome of a campaign's emails in doubt.
import type { Resolution } from "@postloft/contract/emails.ts";
import type { Tx } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { addLateSent } from "../events/counts.ts";
import { resolveEmails } from "../emails/reading/resolve-emails.ts";
import { getUser } from "../users/users.ts";
import { getCampaign, getCampaignRow } from "./campaigns.ts";
import type { CampaignView } from "./present-campaign.ts";
import { moveCampaign } from "./sync-queue.ts";
import { findCampaignForUpdate } from "./queries.ts";
import { TRANSITIONS } from "./rules.ts";

/**
 * Resolves some or all emails in doubt (`resolvedAtOnce` in one call). A finished campaign sends retries immediately, a paused one when it
 * is resumed.
 * @throws AppError CAMPAIGN_NOT_FOUND; CONFLICT for retrying in a cancelled campaign
 */
export async function resolveRecipients(
  tx: Tx,
  projectId: string,
  id: string,
  { as, ids }: { as: Resolution; ids?: readonly string[] | undefined },
  userId: string | null,
): Promise<CampaignView & { resolvedCount: number }> {
  const { id: campaignId } = await getCampaignRow(tx, projectId, id);
  // Locked like the end of the campaign, so that a new retry is never overlooked.
  const row = as === "retry" ? await findCampaignForUpdate(tx, projectId, campaignId) : undefined;
  if (row?.status === "CANCELLED")
    throw new AppError("CONFLICT", {
      message: "The campaign is CANCELLED and can't send again. Resolve its emails as sent or as failed.",
    });
  const mails = { projectId, campaignId, ids: ids ?? null };
  const by = userId === null ? null : (await getUser(tx, userId)).email;
  const resolvedCount = await resolveEmails(tx, mails, { as, by }, addLateSent);
  if (row?.status === "SENT" && resolvedCount > 0)
    await moveCampaign(tx, { projectId, campaignId }, TRANSITIONS.retry, { finishedAt: null });
  return { ...(await getCampaign(tx, projectId, campaignId)), resolvedCount };
}
