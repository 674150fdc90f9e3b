// Which links of a mail were followed how often, by people; machines are counted beside them.
import type { Database } from "../../platform/database/database.ts";
import { findContentOfCampaign, listLinkCounts } from "./queries.ts";

export interface LinkStats {
  /** As the author wrote it, variables and all. */
  url: string;
  /** Every time somebody followed it. */
  clicks: number;
  /** The mails in which somebody did. */
  uniqueClicks: number;
  /** Times a machine did: filters, scanners, previews. */
  machineClicks: number;
}

/**
 * The links of a content, also those nobody followed; most followed first. Empty when it was never sent tracked.
 * @param campaignId counts only its mails: another campaign may say the same
 */
export async function linkStats(
  database: Database,
  projectId: string,
  contentId: string,
  campaignId: string | null = null,
): Promise<LinkStats[]> {
  const rows = await listLinkCounts(database, projectId, contentId, campaignId);
  return rows.map(({ url, clicks, uniqueClicks, machineClicks }) => ({
    url,
    clicks,
    uniqueClicks,
    machineClicks,
  }));
}

/** The same for a campaign, whose mails share one content; empty before its recipients are fixed. */
export async function linkStatsOfCampaign(
  database: Database,
  projectId: string,
  campaignId: string,
): Promise<LinkStats[]> {
  const contentId = await findContentOfCampaign(database, projectId, campaignId);
  return contentId === null ? [] : linkStats(database, projectId, contentId, campaignId);
}
