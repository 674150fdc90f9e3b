// Campaigns whose mails get no answer after their handover pause by themselves: at once when so many in a row got none, and when too large
// a part of the last ones did.
import { holdFor } from "@postloft/contract/held-reasons.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { PauseInDoubt } from "../emails/doubt/doubt-brake.ts";
import { tellMembers } from "../projects/members/notifications.ts";
import { followStatus } from "./follow-status.ts";
import { listDoubtfulCampaigns, updateDoubtfulToPaused } from "./doubt-queries.ts";
import { pausedCampaignMail } from "./paused-campaign-mail.ts";
import { DOUBT_LIMIT } from "./rules.ts";

export interface PauseParts {
  database: Database;
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}

/** For the sender, when so many handovers of a campaign in a row got no answer. */
export function createPauseInDoubt(parts: PauseParts): PauseInDoubt {
  return ({ projectId, campaignId, probes, answer }) =>
    pause(parts, { projectId, campaignId, sendingSince: null }, { inARow: probes, answer });
}

/** Pauses campaigns of whose last mails too many got no answer, without so many of them in a row. */
export async function pauseDoubtfulCampaigns(parts: PauseParts): Promise<void> {
  for (const campaign of await listDoubtfulCampaigns(parts.database, DOUBT_LIMIT)) {
    const { projectId, id: campaignId, sendingSince, answer } = campaign;
    await pause(parts, { projectId, campaignId, sendingSince }, { inARow: null, answer });
  }
}

/** Unless it does not send any more, or was resumed after `sendingSince`; tells the members of its project. */
async function pause(
  { database, baseUrl, log, metrics }: PauseParts,
  campaign: { projectId: string; campaignId: string; sendingSince: Date | null },
  { inARow, answer }: { inARow: number | null; answer: string },
): Promise<void> {
  const { projectId, campaignId } = campaign;
  const { last } = DOUBT_LIMIT;
  const reason =
    inARow === null
      ? holdFor("held.doubtOfLast", { last, answer })
      : holdFor("held.doubtInARow", { count: inARow, answer });
  const isOurs = await transaction(database, async (tx) => {
    const name = await updateDoubtfulToPaused(tx, campaign, reason);
    if (name === null) return false;
    await followStatus(tx, [campaign]);
    const cause = { problem: "in-doubt", inARow, last, answer } as const;
    const mail = pausedCampaignMail({ projectId, id: campaignId, name }, cause, baseUrl());
    const facts = { campaignId, name, reason: reason.text };
    await tellMembers(tx, { projectId, kind: "campaign-paused", facts }, mail);
    return true;
  });
  if (!isOurs) return;
  metrics.campaignsPaused.inc();
  log.warn({ projectId, campaignId, reason: reason.text }, "a campaign paused: its handovers get no answer");
}
