// What is done by itself about destinations that refuse a campaign, or list mail of no campaign: tell the members, park what waits there,
// try again with a few, go on.
// Before it: emails/refusal-watch.ts paused one. After it: emails/ moves the mails; settle-campaigns.ts ends the campaign when none waits.
import { transaction, type Database, type Tx } from "../platform/database.ts";
import type { Log } from "../platform/log.ts";
import {
  isToBeTold,
  listPausedDestinations,
  moveParked,
  tryPaused,
  type PausedDestination,
} from "../emails/paused-destinations.ts";
import { tellMembers } from "../projects/members/notifications.ts";
import { pausedDestinationMail, pausedListMail } from "./paused-campaign-mail.ts";
import { findCampaign } from "./queries.ts";

/** Looks after every paused destination, of campaigns while they are sending. A fault stops one alone. */
export async function settlePausedDestinations({
  database,
  log,
}: {
  database: Database;
  log: Log;
}): Promise<void> {
  for (const paused of await listPausedDestinations(database)) {
    const { project_id: projectId, campaign_id: campaignId, destination, answer } = paused;
    const ids = { projectId, campaignId, destination };
    try {
      if (await tell(database, paused))
        log.warn({ ...ids, answer }, "mail to a list paused for one destination");
      await moveParked(database, paused);
      if (paused.released_at !== null) continue;
      const tried = await tryPaused(database, paused);
      if (tried !== "waits") log.info({ ...ids, tried }, "a paused destination was tried");
    } catch (error) {
      log.warn({ err: error, ...ids }, "a paused destination could not be looked after; it tries again");
    }
  }
}

async function tell(database: Database, paused: PausedDestination): Promise<boolean> {
  if (paused.told_at !== null) return false;
  return transaction(database, async (tx) => {
    if (!(await isToBeTold(tx, paused))) return false;
    const mail = await mailAbout(tx, paused);
    if (mail === undefined) return false;
    await tellMembers(tx, { projectId: paused.project_id, kind: "campaign-paused" }, mail);
    return true;
  });
}

async function mailAbout(tx: Tx, paused: PausedDestination) {
  if (paused.campaign_id === null) return pausedListMail(paused.project_name, paused);
  const campaign = await findCampaign(tx, paused.project_id, paused.campaign_id);
  return campaign && pausedDestinationMail(campaign, paused);
}
