// Reports how often people followed each link of an email, with machine clicks counted separately.
import type { Database } from "../../platform/database/database.ts";
import { findContentOfCampaign, listLinkCounts } from "./queries.ts";

export interface LinkStats {
  /** As the author wrote it, including variables. */
  url: string;
  /** Clicks by people. */
  clicks: number;
  /** Emails in which a person clicked. */
  uniqueClicks: number;
  /** Clicks by filters, scanners and previews. */
  machineClicks: number;
}

/**
 * Returns all links of a message template, most clicked first. Empty if it was never sent with tracking.
 * @param campaignId counts only this campaign's emails, because another campaign may have the same template
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

/** Returns the links of a campaign, whose emails share one template. Empty before its recipients are fixed. */
export async function linkStatsOfCampaign(
  database: Database,
  projectId: string,
  campaignId: string,
): Promise<LinkStats[]> {
  const contentId = await findContentOfCampaign(database, projectId, campaignId);
  return contentId === null ? [] : linkStats(database, projectId, contentId, campaignId);
}
