// Finds campaigns that use a segment, domain or field before these are deleted, and the names of campaigns.
import type { Database } from "../platform/database/database.ts";
import {
  clearSegment,
  findCampaignFrom,
  findCampaignNames,
  findCampaignOf,
  listCampaignsNaming,
} from "./usage-queries.ts";

/** What segments need to know about campaigns before they are deleted. */
export const campaignsOfSegments = {
  /** Returns the name of a scheduled or active campaign that uses a segment, or undefined. */
  campaignOfSegment: findCampaignOf,
  /** Clears the segment of all campaigns that have it. They keep their audience type. */
  detachCampaigns: clearSegment,
};

/** Returns the name of an unfinished campaign that sends from a domain. */
export async function campaignFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  return findCampaignFrom(database, projectId, domain);
}

/** Returns campaigns with an audience condition on a field (`data.plan`, `email`). */
export async function campaignsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<Array<{ id: string; name: string }>> {
  return listCampaignsNaming(database, projectId, field);
}

/** Returns the names of campaigns by id. Deleted campaigns are missing. */
export async function campaignNames(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await findCampaignNames(database, projectId, ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
