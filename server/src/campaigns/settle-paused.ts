// Handles destinations that reject a campaign or other bulk mail: notifies members, defers their emails, retries a few, and resumes.
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import {
  isToBeNotified,
  listPausedDestinations,
  moveDeferred,
  tryPaused,
  type PausedDestination,
} from "../emails/throttling/throttled-domains.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import { throttledDomainMail } from "./paused-campaign-mail.ts";
import { findCampaign, findProjectName } from "./queries.ts";

/** Handles every throttled destination, of campaigns only while they are sending. An error affects only its destination. */
export async function settleThrottledDomains({
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
      if (await notify(database, paused, baseUrl()))
        log.warn({ ...ids, answer }, "paused bulk email to one destination");
      await moveDeferred(database, paused);
      if (paused.releasedAt !== null) continue;
      const tried = await tryPaused(database, paused);
      if (tried !== "waits") log.info({ ...ids, tried }, "retried a throttled destination");
    } catch (error) {
      log.warn({ err: error, ...ids }, "failed to process a throttled destination, retrying");
    }
  }
}

async function notify(database: Database, paused: PausedDestination, baseUrl: string): Promise<boolean> {
  if (paused.toldAt !== null) return false;
  return transaction(database, async (tx) => {
    if (!(await isToBeNotified(tx, paused))) return false;
    const mail = await mailAbout(tx, paused, baseUrl);
    if (mail === undefined) return false;
    const { campaignId, destination, answer } = paused;
    const facts = { campaignId, destination, reason: answer };
    await notifyMembers(tx, { projectId: paused.projectId, kind: "campaign-paused", facts }, mail);
    return true;
  });
}

/** Returns undefined if the campaign was deleted. */
async function mailAbout(tx: Tx, paused: PausedDestination, baseUrl: string) {
  const { projectId, campaignId, destination, answer } = paused;
  const campaign = campaignId === null ? null : await findCampaign(tx, projectId, campaignId);
  if (campaign === undefined) return undefined;
  const project = await findProjectName(tx, projectId);
  return throttledDomainMail({ projectId, project, campaign, destination, answer }, baseUrl);
}
