// What the feed asks beside its pages: whether what it is narrowed to exists, how much is new, what comes next.
// Before it: activity.ts. After it: nothing.
import { sql } from "kysely";
import { plannedEachTime, type Database } from "../platform/database.ts";
import { listEventsBeingDeleted, notBeingDeleted } from "../events/event-names.ts";
import { isEmailSent } from "../emails/reading/sent-events.ts";

/** Which of the things a report is narrowed to the project does not have. */
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

/** How many recorded events, sent mails, started and completed executions there are from an id on; counted up to `most` + 1. */
export async function countRecentRows(
  database: Database,
  projectId: string,
  since: string,
  most: number,
): Promise<number[]> {
  const isShown = notBeingDeleted(await listEventsBeingDeleted(database, projectId));
  const counted = [
    sql`select 1 from events v where v.project_id = ${projectId} and v.id >= ${since}::uuid
      and ${isShown ?? sql`true`} limit ${most + 1}`,
    sql`select 1 from emails e where e.project_id = ${projectId} and ${isEmailSent(null)}
      and sent_event_id(e.id, e.sent_at) >= ${since}::uuid limit ${most + 1}`,
    sql`select 1 from workflow_executions x where x.project_id = ${projectId} and x.id >= ${since}::uuid limit ${most + 1}`,
    sql`select 1 from workflow_executions x where x.project_id = ${projectId} and x.ended_at is not null
      and x.status in ('COMPLETED', 'EXITED') and sent_event_id(x.id, x.ended_at) >= ${since}::uuid limit ${most + 1}`,
  ];
  const each = counted.map((rows) => sql`(select count(*) from (${rows}) found)`);
  const { rows } = await sql<{ counts: string[] }>`
    ${plannedEachTime} select array[${sql.join(each)}]::text[] as counts`.execute(database);
  return (rows[0]?.counts ?? []).map(Number);
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
