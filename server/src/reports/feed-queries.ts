// Further queries of the feed: whether the objects in its filter exist, and upcoming activities.
import { sql } from "kysely";
import { plannedEachTime, type Database } from "../platform/database/database.ts";

/** Returns which of the objects in a filter do not belong to the project. */
export async function findMissing(
  database: Database,
  projectId: string,
  named: {
    contactId?: string | undefined;
    campaignId?: string | undefined;
    templateId?: string | undefined;
    workflowId?: string | undefined;
  },
): Promise<Record<"contact" | "campaign" | "template" | "workflow", boolean>> {
  const { contactId, campaignId, templateId, workflowId } = named;
  const isMissing = (table: string, id: string | undefined) =>
    id === undefined
      ? sql`false`
      : sql`not exists (select 1 from ${sql.table(table)} n where n.project_id = ${projectId} and n.id = ${id})`;
  const { rows } = await sql<Record<"contact" | "campaign" | "template" | "workflow", boolean>>`
    select ${isMissing("contacts", contactId)} as contact, ${isMissing("campaigns", campaignId)} as campaign,
      ${isMissing("templates", templateId)} as template, ${isMissing("workflows", workflowId)} as workflow`.execute(
    database,
  );
  return rows[0] ?? { contact: true, campaign: true, template: true, workflow: true };
}

export interface UpcomingRow {
  id: string;
  type: "campaign.scheduled" | "workflow.waiting";
  at: Date;
  contactId: string | null;
  email: string | null;
  metadata: Record<string, unknown>;
}

export async function listUpcomingRows(
  database: Database,
  projectId: string,
  limit: number,
): Promise<UpcomingRow[]> {
  const { rows } = await sql<UpcomingRow>`
    ${plannedEachTime} select n.id, n.type, n.at, n.contact_id, t.email, n.metadata from (
      (select k.id, 'campaign.scheduled' as type, k.scheduled_for as at, null::uuid as contact_id,
        jsonb_build_object('campaignId', k.id, 'name', k.name, 'subject', k.subject) as metadata
      from campaigns k where k.project_id = ${projectId} and k.status = 'SCHEDULED' and k.scheduled_for is not null
      order by k.scheduled_for limit ${limit})
      union all
      (select x.id, 'workflow.waiting', x.due_at, x.contact_id,
        jsonb_build_object('workflowId', x.workflow_id, 'workflowName', w.name, 'executionId', x.id, 'status', x.status)
      from workflow_executions x join workflows w on w.project_id = x.project_id and w.id = x.workflow_id
      where x.project_id = ${projectId} and x.due_at is not null
      order by x.due_at limit ${limit})
    ) n
    left join contacts t on t.project_id = ${projectId} and t.id = n.contact_id
    order by n.at, n.id limit ${limit}`.execute(database);
  return rows;
}
