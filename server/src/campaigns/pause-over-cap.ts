// Pauses a campaign with more recipients than the project's monthly cap allows. The cap was checked when the campaign was scheduled, but
// other emails may have used it up since.
import type { Tx } from "../platform/database/database.ts";
import { lockRoom } from "../billing/caps.ts";
import type { CampaignKey } from "../emails/outbox/campaign-emails.ts";
import { pauseAutomatically, type PauseDependencies } from "./pause-automatically.ts";

/**
 * Returns whether the campaign does not fit; the room is held until the transaction ends.
 *
 * @param count counts the recipients; called only if there is a cap
 */
export async function pauseOverCap(
  tx: Tx,
  deps: PauseDependencies,
  key: CampaignKey,
  count: () => Promise<number>,
): Promise<boolean> {
  const room = await lockRoom(tx, key.projectId, "campaigns");
  if (room === null) return false;
  const recipients = await count();
  if (recipients <= room) return false;
  await pauseAutomatically(tx, deps, { ...key, cause: { problem: "over-cap", recipients, room } });
  return true;
}
