// Queries on the status of emails by id.
import { sql } from "kysely";
import { plannedEachTime, type Database } from "../../platform/database/database.ts";
import { HAS_LEFT } from "../rows/counted-by-queries.ts";
import { SUBJECT } from "../rows/shown-queries.ts";

export async function findEmailStatuses(database: Database, projectId: string, ids: readonly string[]) {
  const { rows } = await sql<{ id: string; status: string; subject: string }>`
    select e.id, e.status, ${SUBJECT} as subject
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

/** Uses only the index of workflow emails. Its `came_back` has bits for opened (2) and clicked (4). */
export async function countMailsOfSteps(database: Database, projectId: string, stepIds: readonly string[]) {
  const { rows } = await sql<{ stepId: string; sent: number; opened: number; clicked: number }>`
    ${plannedEachTime} select workflow_step_id as step_id,
      count(*) filter (where ${HAS_LEFT}) as sent,
      count(*) filter (where came_back & 2 <> 0) as opened,
      count(*) filter (where came_back & 4 <> 0) as clicked
    from emails where project_id = ${projectId} and workflow_step_id = any(${stepIds}::uuid[])
    group by 1`.execute(database);
  return rows;
}
