// Statements on campaigns for other folders.
import { sql, type SqlBool } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { namesField } from "../segments/usage.ts";

interface NamedRow {
  id: string;
  name: string;
}

export async function listCampaignsNaming(
  database: Database,
  projectId: string,
  field: string,
): Promise<NamedRow[]> {
  const { rows } = await sql<NamedRow>`
    select id, name from campaigns where project_id = ${projectId} and ${namesField("audienceFilter", field)} order by id`.execute(
    database,
  );
  return rows;
}

export async function findCampaignNames(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<NamedRow[]> {
  const { rows } = await sql<NamedRow>`
    select id, name from campaigns where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    database,
  );
  return rows;
}

/** Returns the name of a scheduled or active campaign with this segment in its audience. */
export async function findCampaignOf(
  database: Database,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  const row = await database
    .selectFrom("campaigns")
    .select("name")
    .where("projectId", "=", projectId)
    .where((where) =>
      where.or([
        where("segmentId", "=", segmentId),
        sql<SqlBool>`${namesField("audienceFilter", `segment.${segmentId}`)}`,
      ]),
    )
    .where("status", "in", ["SCHEDULED", "SENDING", "PAUSED"])
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}

/** Clears the segment of all campaigns that have it. */
export async function clearSegment(tx: Tx, projectId: string, segmentId: string): Promise<void> {
  await sql`
    update campaigns set segment_id = null
    where project_id = ${projectId} and segment_id = ${segmentId}`.execute(tx);
}

/** Returns the name of an unfinished campaign that sends from the domain. */
export async function findCampaignFrom(
  database: Database,
  projectId: string,
  domain: string,
): Promise<string | undefined> {
  const row = await database
    .selectFrom("campaigns")
    .select("name")
    .where("projectId", "=", projectId)
    .where("status", "in", ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"])
    .where(sql`split_part(from_address, '@', 2)`, "=", domain)
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}
