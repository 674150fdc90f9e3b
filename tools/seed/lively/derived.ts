// Writes the numbers that the program keeps besides the rows of a history, from these rows.
import { sql } from "kysely";
import type { Tx } from "../../../server/src/platform/database/database.ts";

/**
 * Counts the emails of each campaign, step and template, and those of each hour. Reports count by themselves, because a loop counts all
 * rows of a project that was empty before.
 */
export async function countHistory(tx: Tx, projectId: string): Promise<void> {
  await sql`
    insert into email_counts (project_id, subject_id, recipients, sent, delivered, opened, clicked, bounced, complained, unsubscribed)
    select e.project_id, s.subject_id, count(*) filter (where s.subject_id = e.campaign_id), count(e.sent_at),
      count(e.delivered_at), count(e.opened_at), count(e.clicked_at), count(e.bounced_at), count(e.complained_at), count(e.unsubscribed_at)
    from emails e cross join lateral (values (e.campaign_id), (e.workflow_step_id), (e.template_id)) as s (subject_id)
    where e.project_id = ${projectId} and s.subject_id is not null group by 1, 2`.execute(tx);
  await sql`
    insert into sending_hours (project_id, hour, sent, bounced, complained)
    select project_id, date_bin('1 hour', sent_at, timestamptz 'epoch'), count(*), count(bounced_at), count(complained_at)
    from emails where project_id = ${projectId} group by 1, 2`.execute(tx);
}

/** Gives a campaign the state of one that was sent. */
export async function markSent(
  tx: Tx,
  { projectId, id }: { projectId: string; id: string },
  { startedAt, finishedAt, recipients }: { startedAt: Date; finishedAt: Date; recipients: number },
): Promise<void> {
  await sql`
    update campaigns set status = 'SENT', started_at = ${startedAt}, snapshot_at = ${startedAt}, sending_since = ${startedAt},
      finished_at = ${finishedAt}, total_recipients = ${recipients}, created_at = ${startedAt}::timestamptz - interval '2 days',
      updated_at = ${finishedAt}
    where project_id = ${projectId} and id = ${id}`.execute(tx);
}

/** Makes the project and what its people wrote as old as its history. */
export async function backdate(tx: Tx, projectId: string, at: Date): Promise<void> {
  await sql`update projects set created_at = ${at}, postal_address = coalesce(postal_address, ${ADDRESS}) where id = ${projectId}`.execute(
    tx,
  );
  for (const table of ["templates", "segments", "workflows", "webhook_endpoints"])
    await sql`update ${sql.table(table)} set created_at = ${at} where project_id = ${projectId}`.execute(tx);
  await sql`update workflow_versions set is_used = true where project_id = ${projectId}`.execute(tx);
}

const ADDRESS = "Nordlicht, 1 Example Street, 12345 Sampletown";

/** Returns whether nothing has happened in a project yet. */
export async function isEmpty(tx: Tx, projectId: string): Promise<boolean> {
  const { rows } = await sql<{ isEmpty: boolean }>`
    select not (exists (select 1 from contacts where project_id = ${projectId})
      or exists (select 1 from emails where project_id = ${projectId})
      or exists (select 1 from campaigns where project_id = ${projectId})
      or exists (select 1 from workflows where project_id = ${projectId})) as is_empty`.execute(tx);
  return rows[0]?.isEmpty === true;
}
