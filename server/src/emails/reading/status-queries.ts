// Queries on the status of emails by id.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import { SUBJECT } from "../rows/shown-queries.ts";

export async function findEmailStatuses(database: Database, projectId: string, ids: readonly string[]) {
  const { rows } = await sql<{ id: string; status: string; subject: string; reason: string | null }>`
    select e.id, e.status, ${SUBJECT} as subject, e.reason
    from emails e join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = any(${ids}::uuid[])`.execute(database);
  return rows;
}

export async function findNamesOfEmails(database: Database, projectId: string, ids: readonly string[]) {
  const { rows } = await sql<{ id: string; subject: string; campaignId: string | null }>`
    select e.id, ${SUBJECT} as subject, e.campaign_id
    from emails e join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = any(${ids}::uuid[])`.execute(database);
  return rows;
}
