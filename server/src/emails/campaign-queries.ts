// Statements on the mails of campaigns: the snapshot of recipients, counts by state, and what happens to all of them at once.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { Database, Tx } from "../platform/database.ts";

export interface CampaignKey {
  projectId: string;
  campaignId: string;
}

/** One mail for each contact `c` that matches, in one statement; nobody twice, also when it runs again. */
export async function insertCampaignEmails(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  contentId: string,
  matches: RawBuilder<SqlBool>,
): Promise<number> {
  const result = await sql`
    insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address)
    select c.project_id, new_id(), c.id, ${contentId}::uuid, ${campaignId}::uuid, 3, c.email
    from contacts c where c.project_id = ${projectId} and ${matches}
    on conflict do nothing`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

/** The bits of `came_back`, as the migration of the column names them. */
const CAME_BACK = { delivered: 1, opened: 2, clicked: 4, bounced: 8, complained: 16 } as const;

const having = (bit: number) =>
  sql<number>`coalesce(sum(count) filter (where came_back & ${sql.lit(bit)} > 0), 0)::float8`;

/** How many mails of each campaign stand where, and what came back; everything counted from the rows, by one index. */
export async function countCampaignEmails(
  database: Database,
  projectId: string,
  campaignIds: readonly string[],
) {
  const { rows } = await sql<{
    campaign_id: string;
    status: EmailStatus;
    count: number;
    delivered: number;
    opened: number;
    clicked: number;
    bounced: number;
    complained: number;
  }>`
    select campaign_id, status, sum(count)::float8 as count, ${having(CAME_BACK.delivered)} as delivered,
      ${having(CAME_BACK.opened)} as opened, ${having(CAME_BACK.clicked)} as clicked,
      ${having(CAME_BACK.bounced)} as bounced, ${having(CAME_BACK.complained)} as complained
    from (
      select campaign_id, status, came_back, count(*) as count
      from emails where project_id = ${projectId} and campaign_id = any(${campaignIds}::uuid[])
      group by campaign_id, status, came_back
    ) g
    group by campaign_id, status`.execute(database);
  return rows;
}

/** Whether a mail of the campaign has not come to a final state. Two questions, because each has a small index of its own. */
export async function hasPendingEmails(database: Database, { projectId, campaignId }: CampaignKey) {
  const { rows } = await sql<{ pending: boolean }>`
    select exists (select 1 from emails
        where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'QUEUED')
      or exists (select 1 from emails
        where project_id = ${projectId} and campaign_id = ${campaignId} and status in ('CLAIMED', 'SENDING')
          and sender_id is not null) as pending`.execute(database);
  return rows[0]?.pending ?? false;
}

/** Drops up to `limit` waiting mails; answers how many. */
export async function skipCampaignEmails(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  reason: string,
  limit: number,
): Promise<number> {
  const result = await sql`
    with waiting as materialized (
      select id from emails where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'QUEUED'
      limit ${limit} for update skip locked
    )
    update emails e set status = 'SKIPPED', reason = ${reason}
    from waiting where e.project_id = ${projectId} and e.id = waiting.id`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

/** Queues the failed mails of a campaign again; answers how many. */
export async function requeueFailedEmails(tx: Tx, { projectId, campaignId }: CampaignKey): Promise<number> {
  const result = await sql`
    update emails set status = 'QUEUED', due_at = now(), reason = null
    where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'FAILED'`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}

export async function listCampaignEmails(
  database: Database,
  { projectId, campaignId }: CampaignKey,
  status: EmailStatus | undefined,
  page: { limit: number; before: string | null },
) {
  let query = database
    .selectFrom("emails")
    .select([
      "id",
      "contact_id",
      "to_address",
      "status",
      "reason",
      "attempts",
      "sent_at",
      "delivered_at",
      "opened_at",
      "clicked_at",
      "bounced_at",
      "complained_at",
    ])
    .where("project_id", "=", projectId)
    .where("campaign_id", "=", campaignId);
  if (status !== undefined) query = query.where("status", "=", status);
  if (page.before !== null) query = query.where("id", "<", page.before);
  return query
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}
