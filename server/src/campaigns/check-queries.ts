// Statements of the check before sending: other campaigns and the fields of contacts.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import type { CampaignRow } from "./queries.ts";

/** Returns the most recipients of another campaign of the project; 0 if there is none. */
export async function findLargestSend(database: Database, projectId: string, exceptId: string) {
  const { rows } = await sql<{ largest: number }>`
    select coalesce(max(total_recipients), 0) as largest from campaigns
    where project_id = ${projectId} and id <> ${exceptId} and snapshot_at is not null`.execute(database);
  return rows[0]?.largest ?? 0;
}

/** Returns the name of a campaign with the same subject and audience within a day. */
export async function findRecentDuplicate(
  database: Database,
  projectId: string,
  row: CampaignRow,
): Promise<string | null> {
  const filter = row.audienceFilter === null ? null : JSON.stringify(row.audienceFilter);
  const { rows } = await sql<{ name: string }>`
    select name from campaigns
    where project_id = ${projectId} and id <> ${row.id} and subject = ${row.subject}
      and audience_type = ${row.audienceType} and segment_id is not distinct from ${row.segmentId}::uuid
      and audience_filter is not distinct from ${filter}::jsonb
      and started_at > now() - interval '1 day' limit 1`.execute(database);
  return rows[0]?.name ?? null;
}

/** Returns the data fields of the project's contacts. */
export async function listKnownFields(database: Database, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("contact_fields")
    .select("field")
    .where("projectId", "=", projectId)
    .execute();
  return rows.map((row) => row.field);
}
