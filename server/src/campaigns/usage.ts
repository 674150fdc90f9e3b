// Which campaigns use a segment, a domain, a field, asked by those who own them before they are deleted; and what campaigns are called.
import type { Database } from "../platform/database/database.ts";
import { findCampaignFrom, findCampaignNames, findCampaignOf, listCampaignsNaming } from "./usage-queries.ts";

/** The name of a campaign that is scheduled or under way and goes to a segment; undefined when there is none. */
export async function campaignOfSegment(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  return findCampaignOf(database, projectId, segmentId);
}

/** The name of a campaign that is not over and sends from a domain. */
export async function campaignFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  return findCampaignFrom(database, projectId, domain);
}

/** Campaigns with a condition on a field (`data.plan`, `email`) in their audience. */
export async function campaignsNamingField(
  database: Database,
  projectId: string,
  field: string,
): Promise<Array<{ id: string; name: string }>> {
  return listCampaignsNaming(database, projectId, field);
}

/** The names of campaigns by their ids; those of campaigns that are gone are missing. */
export async function campaignNames(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await findCampaignNames(database, projectId, ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
