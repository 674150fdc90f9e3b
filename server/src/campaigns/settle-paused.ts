// What is done by itself about destinations that refuse a campaign, or list mail of no campaign: tell the members, park what waits there,
// try again with a few, go on.
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import {
  isToBeTold,
  listPausedDestinations,
  moveParked,
  tryPaused,
  type PausedDestination,
} from "../emails/refusals/paused-destinations.ts";
import { tellMembers } from "../projects/members/notifications.ts";
import { pausedDestinationMail } from "./paused-campaign-mail.ts";
import { findCampaign, findProjectName } from "./queries.ts";

/** Looks after every paused destination, of campaigns while they are sending. A fault stops one alone. */
export async function settlePausedDestinations({
  database,
  baseUrl,
  log,
}: {
  database: Database;
  baseUrl: () => string;
  log: Log;
}): Promise<void> {
  for (const paused of await listPausedDestinations(database)) {
    const { projectId, campaignId, destination, answer } = paused;
    const ids = { projectId, campaignId, destination };
    try {
      if (await tell(database, paused, baseUrl()))
        log.warn({ ...ids, answer }, "mail to a list paused for one destination");
      await moveParked(database, paused);
      if (paused.releasedAt !== null) continue;
      const tried = await tryPaused(database, paused);
      if (tried !== "waits") log.info({ ...ids, tried }, "a paused destination was tried");
    } catch (error) {
      log.warn({ err: error, ...ids }, "a paused destination could not be looked after; it tries again");
    }
  }
}

async function tell(database: Database, paused: PausedDestination, baseUrl: string): Promise<boolean> {
  if (paused.toldAt !== null) return false;
  return transaction(database, async (tx) => {
    if (!(await isToBeTold(tx, paused))) return false;
    const mail = await mailAbout(tx, paused, baseUrl);
    if (mail === undefined) return false;
    const { campaignId, destination, answer } = paused;
    const facts = { campaignId, destination, reason: answer };
    await tellMembers(tx, { projectId: paused.projectId, kind: "campaign-paused", facts }, mail);
    return true;
  });
}

/** Undefined: its campaign is gone. */
async function mailAbout(tx: Tx, paused: PausedDestination, baseUrl: string) {
  const { projectId, campaignId, destination, answer } = paused;
  const campaign = campaignId === null ? null : await findCampaign(tx, projectId, campaignId);
  if (campaign === undefined) return undefined;
  const project = await findProjectName(tx, projectId);
  return pausedDestinationMail({ projectId, project, campaign, destination, answer }, baseUrl);
}
