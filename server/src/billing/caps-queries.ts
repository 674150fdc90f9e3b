// Queries on `billing_limits`, and on a project's sent and waiting emails.
import { sql } from "kysely";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import { plannedEachTime, type Database, type Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { NO_ID } from "../platform/ids.ts";
import { sentMails, type Span } from "../events/counts.ts";

export type CapsRow = Row<"billing_limits", "transactional" | "campaigns" | "workflows">;

export async function findCapsRow(database: Database, projectId: string): Promise<CapsRow | undefined> {
  return database
    .selectFrom("billing_limits")
    .select(["transactional", "campaigns", "workflows"])
    .where("projectId", "=", projectId)
    .executeTakeFirst();
}

/** Locks the caps until the end of the transaction. */
export async function lockCapsRow(tx: Tx, projectId: string): Promise<void> {
  await sql`select 1 from billing_limits where project_id = ${projectId} for update`.execute(tx);
}

/** Inserts the row of a project without caps, so that it can be locked. */
export async function insertCapsRow(tx: Tx, projectId: string): Promise<void> {
  await sql`insert into billing_limits (project_id) values (${projectId}) on conflict do nothing`.execute(tx);
}

/** Lists the next capped projects, by id after `after`, that were not notified of this kind yet. */
export async function listCappedProjects(
  database: Database,
  { after, untold, limit }: { after: string | null; untold: { kind: string; since: Date }; limit: number },
) {
  const { rows } = await sql<{ id: string; name: string }>`
    select p.id, p.name from billing_limits b join projects p on p.id = b.project_id
    where coalesce(b.transactional, b.campaigns, b.workflows) is not null
      and not exists (
        select 1 from told_members t
        where t.project_id = b.project_id and t.kind = ${untold.kind} and t.told_at >= ${untold.since}
      )
      and b.project_id > coalesce(${after}::uuid, ${NO_ID})
    order by b.project_id limit ${limit}`.execute(database);
  return rows;
}

export async function updateCapsRow(tx: Tx, projectId: string, caps: CapsRow): Promise<void> {
  const { transactional, campaigns, workflows } = caps;
  await sql`
    update billing_limits set transactional = ${transactional}, campaigns = ${campaigns}, workflows = ${workflows},
      updated_at = now()
    where project_id = ${projectId}`.execute(tx);
}

/** Counts the emails sent in a span and those accepted but not yet sent, by kind and from one snapshot. Ignores test emails. */
export async function readAccepted(
  database: Database,
  projectId: string,
  span: Span,
): Promise<Map<string, number>> {
  const sent = await sentMails(database, projectId, span);
  const kind = sql`(${EMAIL_KINDS}::text[])[priority]`;
  const { rows } = await sql<{ kind: string; count: number }>`
    ${plannedEachTime} select kind, sum(count)::float8 as count from (
      select kind, sum(sent) as count from (${sent}) sent group by 1
      union all
      select ${kind}, count(*) from emails
      where project_id = ${projectId} and status = 'QUEUED' and campaign_id is null and is_test is null group by 1
      union all
      select ${kind}, count(*) from emails
      where project_id = ${projectId} and status = 'QUEUED' and campaign_id is not null group by 1
      union all
      select ${kind}, count(*) from emails
      where project_id = ${projectId} and status = 'CLAIMED' and sender_id is not null and is_test is null group by 1
      union all
      select 'CAMPAIGN', coalesce(sum(cardinality(email_ids)), 0) from recipient_batches where project_id = ${projectId}
    ) accepted group by 1`.execute(database);
  return new Map(rows.map(({ kind: name, count }) => [name, count]));
}
