// A campaign with more recipients than a cap leaves room for when they are fixed pauses before anybody gets it: it was asked when it was
// sent or scheduled, and others have taken the room since.
import type { Tx } from "../platform/database/database.ts";
import { lockRoom } from "../billing/caps.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { pauseAutomatically, type PauseParts } from "./pause-automatically.ts";

/**
 * Returns whether the campaign does not fit; the room is held until the transaction ends.
 *
 * @param count counts the recipients; called only if there is a cap
 */
export async function pauseOverCap(
  tx: Tx,
  parts: PauseParts,
  key: CampaignKey,
  count: () => Promise<number>,
): Promise<boolean> {
  const room = await lockRoom(tx, key.projectId, "campaigns");
  if (room === null) return false;
  const recipients = await count();
  if (recipients <= room) return false;
  await pauseAutomatically(tx, parts, { ...key, cause: { problem: "over-cap", recipients, room } });
  return true;
}
