// Recipients of a campaign of whom nobody knows whether they got its mail: a person says what became of them.
import type { Resolution } from "@postloft/contract/emails.ts";
import type { Tx } from "../platform/database/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { addLateSent } from "../events/counts.ts";
import { resolveEmails } from "../emails/reading/resolve-emails.ts";
import { getUser } from "../users/users.ts";
import { getCampaign, getCampaignRow, type CampaignView } from "./campaigns.ts";
import { moveCampaign } from "./follow-status.ts";
import { findCampaignForUpdate } from "./queries.ts";
import { TRANSITIONS } from "./rules.ts";

/**
 * Ends the doubt about some recipients, or all (`resolvedAtOnce` in one call). A campaign that has ended sends again what is to
 * be sent again; a paused one when it is resumed. @throws Refusal CAMPAIGN_NOT_FOUND; CONFLICT to send again for a cancelled one.
 */
export async function resolveRecipients(
  tx: Tx,
  projectId: string,
  id: string,
  { as, ids }: { as: Resolution; ids?: readonly string[] | undefined },
  userId: string | null,
): Promise<CampaignView & { resolvedCount: number }> {
  const { id: campaignId } = await getCampaignRow(tx, projectId, id);
  // Under the lock of its row, which its end takes too: what waits again is never overlooked.
  const row = as === "retry" ? await findCampaignForUpdate(tx, projectId, campaignId) : undefined;
  if (row?.status === "CANCELLED")
    throw new Refusal("CONFLICT", {
      message:
        "The campaign is CANCELLED: nothing of it is sent again. Resolve its mails as sent or as failed.",
    });
  const mails = { projectId, campaignId, ids: ids ?? null };
  const by = userId === null ? null : (await getUser(tx, userId)).email;
  const resolvedCount = await resolveEmails(tx, mails, { as, by }, addLateSent);
  if (row?.status === "SENT" && resolvedCount > 0)
    await moveCampaign(tx, { projectId, campaignId }, TRANSITIONS.retry, { finishedAt: null });
  return { ...(await getCampaign(tx, projectId, campaignId)), resolvedCount };
}
