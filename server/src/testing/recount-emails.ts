// Makes the counts of emails equal to the rows after a test has changed emails by SQL.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";

/** Replaces the counts of a project by those of its current rows. */
export async function recountEmailsInSql(database: Database, projectId: string): Promise<void> {
  await sql`delete from email_counts where project_id = ${projectId}`.execute(database);
  await sql`
    insert into email_counts (project_id, subject_id, recipients, sent, failed, skipped, unconfirmed, delivered, opened, clicked, bounced,
      complained, unsubscribed)
    select e.project_id, s.subject_id,
      count(*) filter (where s.subject_id = e.campaign_id) + coalesce((
        select sum(cardinality(b.email_ids)) from recipient_batches b
        where b.project_id = e.project_id and b.campaign_id = s.subject_id), 0),
      count(*) filter (where e.status not in ('QUEUED', 'CLAIMED', 'FAILED', 'SKIPPED', 'UNCONFIRMED')),
      count(*) filter (where e.status = 'FAILED'), count(*) filter (where e.status = 'SKIPPED'),
      count(*) filter (where e.status = 'UNCONFIRMED'), count(e.delivered_at), count(e.opened_at), count(e.clicked_at),
      count(e.bounced_at), count(e.complained_at), count(e.unsubscribed_at)
    from emails e cross join lateral (values (e.campaign_id), (e.workflow_step_id), (e.template_id)) as s (subject_id)
    where e.project_id = ${projectId} and s.subject_id is not null
    group by e.project_id, s.subject_id`.execute(database);
}
