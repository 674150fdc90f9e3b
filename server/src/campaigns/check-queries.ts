// What the check before sending compares a campaign with: other campaigns, and the keys that contacts have.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import type { CampaignRow } from "./queries.ts";

/** The most recipients another campaign of the project had; 0 when there was none. */
export async function findLargestSend(database: Database, projectId: string, exceptId: string) {
  const { rows } = await sql<{ largest: number }>`
    select coalesce(max(total_recipients), 0) as largest from campaigns
    where project_id = ${projectId} and id <> ${exceptId} and snapshot_at is not null`.execute(database);
  return rows[0]?.largest ?? 0;
}

/** The name of a campaign that said the same to the same audience within a day. */
export async function findRecentTwin(
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

/** Keys that contacts of the project have in their data. */
export async function listKnownFields(database: Database, projectId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("contact_fields")
    .select("field")
    .where("projectId", "=", projectId)
    .execute();
  return rows.map((row) => row.field);
}
