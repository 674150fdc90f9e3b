// A campaign with more recipients than a cap leaves room for when they are fixed pauses before anybody gets it: it was asked when it was
// sent or scheduled, and others have taken the room since.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import { lockRoom } from "../billing/caps.ts";
import { tellMembers } from "../projects/members/notifications.ts";
import { followStatus } from "./follow-status.ts";
import { cappedCampaignMail } from "./paused-campaign-mail.ts";
import { updateStatus, type CampaignRow } from "./queries.ts";
import { TRANSITIONS } from "./rules.ts";

/**
 * Whether it does not fit; the room is held until the transaction ends.
 *
 * @param count counts its recipients; it is asked only where there is a cap
 */
export async function pauseOverCap(
  tx: Tx,
  { projectId, row, baseUrl }: { projectId: string; row: CampaignRow; baseUrl: string },
  count: () => Promise<number>,
): Promise<boolean> {
  const room = await lockRoom(tx, projectId, "campaigns");
  if (room === null) return false;
  const recipients = await count();
  if (recipients <= room) return false;
  const { id, name } = row;
  const reason = holdFor("held.overCap", { recipients, room });
  if (await updateStatus(tx, projectId, id, TRANSITIONS.pause, { heldReason: reason })) {
    await followStatus(tx, [{ projectId, campaignId: id }]);
    const mail = cappedCampaignMail({ projectId, id, name, recipients, room }, baseUrl);
    const facts = { campaignId: id, name, reason: reason.text };
    await tellMembers(tx, { projectId, kind: "campaign-paused", facts }, mail);
  }
  return true;
}
