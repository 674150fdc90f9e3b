// Queries on all emails of a campaign. Recipients in batches are counted and listed as queued. Other queries on batches are in
// batch-queries.ts.
import { sql, type RawBuilder } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { PROVIDERS } from "@postloft/contract/receiving-providers.ts";
import { onlyProject } from "../../platform/database/cluster.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";
import { sumEmailCounts } from "../results/email-count-queries.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { changesOfEnded } from "../results/outcome-queries.ts";
import { endedAs } from "../rows/end-queries.ts";
import { CAME_BACK, HAS_LEFT, PROVIDER, providersOf, TO_DOMAIN } from "../rows/counted-by-queries.ts";
import { TO_ADDRESS } from "../rows/shown-queries.ts";

export interface CampaignKey {
  projectId: string;
  campaignId: string;
}

/** Emails sent to a provider, and the reports about them. */
export interface ProviderCounts {
  provider: (typeof PROVIDERS)[number];
  sentCount: number;
  deliveredCount: number;
  openedCount: number;
  clickedCount: number;
  /** Hard bounces, including those that the server rejected immediately. */
  bouncedCount: number;
  complainedCount: number;
  /** Emails whose recipient the server rejected immediately. */
  refusedCount: number;
}

const having = (bit: number) =>
  sql<number>`coalesce(sum(count) filter (where came_back & ${sql.lit(bit)} > 0), 0)::float8`;

/**
 * Emails `e` that never left because the server rejected the recipient, with their last attempt `a`. A retry that succeeds removes an email
 * from them.
 */
const REFUSED = sql`emails e join email_attempts a
  on a.project_id = e.project_id and a.email_id = e.id and a.attempt = e.attempts and a.meaning in ('hard-bounce', 'soft-bounce')`;
const HARD = sql`count(*) filter (where a.meaning = 'hard-bounce')`;

/** Counts the refused emails of each campaign. Reads only failed emails. */
export async function countRefusedEmails(
  database: Database,
  projectId: string,
  campaignIds: readonly string[],
): Promise<Array<{ campaignId: string; refused: number; hard: number }>> {
  const { rows } = await sql<{ campaignId: string; refused: number; hard: number }>`
    select e.campaign_id, count(*)::float8 as refused, ${HARD}::float8 as hard from ${REFUSED}
    where e.project_id = ${projectId} and e.campaign_id = any(${campaignIds}::uuid[]) and e.status = 'FAILED'
    group by e.campaign_id`.execute(database);
  return rows;
}

/** Counts the recipients of a campaign with this status, or all of them from the stored counts. */
export async function countCampaignEmails(
  database: Database,
  { projectId, campaignId }: CampaignKey,
  status: EmailStatus | undefined,
): Promise<number> {
  if (status === undefined) {
    const [counts] = await sumEmailCounts(database, projectId, [campaignId]);
    return counts?.recipients ?? 0;
  }
  const { rows } = await sql<{ count: number }>`
    select (
      (select count(*) from emails where project_id = ${projectId} and campaign_id = ${campaignId} and status = ${status})
      + (select coalesce(sum(cardinality(email_ids)), 0) from recipient_batches
        where project_id = ${projectId} and campaign_id = ${campaignId} and ${sql.lit(status === "QUEUED")}))::float8 as count`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Counts the sent and refused emails of a campaign and their reports by receiving provider, largest first. */
export async function countEmailsByProvider(database: Database, { projectId, campaignId }: CampaignKey) {
  const { rows } = await sql<ProviderCounts>`
    select ${PROVIDER} as provider, sum(count)::float8 - sum(refused)::float8 as sent_count, ${having(CAME_BACK.delivered)} as delivered_count,
      ${having(CAME_BACK.opened)} as opened_count, ${having(CAME_BACK.clicked)} as clicked_count,
      ${having(CAME_BACK.bounced)} + sum(hard)::float8 as bounced_count, ${having(CAME_BACK.complained)} as complained_count,
      sum(refused)::float8 as refused_count
    from (
      select ${TO_DOMAIN} as domain, came_back, count(*) as count, 0 as refused, 0 as hard
      from emails e where project_id = ${projectId} and campaign_id = ${campaignId}
        and ${HAS_LEFT}
      group by 1, 2
      union all
      select ${TO_DOMAIN}, 0, count(*), count(*), ${HARD} from ${REFUSED}
      where e.project_id = ${projectId} and e.campaign_id = ${campaignId} and e.status = 'FAILED'
      group by 1
    ) g ${providersOf(sql`g.domain`)}
    group by 1 order by 2 desc, 1`.execute(database);
  return rows;
}

/**
 * Returns whether an email of the campaign has not reached a final state. Each of the three subqueries has its own small index. The `order
 * by` and `limit` force the planner to use it, because this runs every second on a table that may have been empty a minute ago.
 */
export async function hasPendingEmails(database: Database, { projectId, campaignId }: CampaignKey) {
  const { rows } = await sql<{ pending: boolean }>`
    select coalesce(
      (select true from emails
        where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'QUEUED'
        order by project_id, campaign_id, due_at limit 1),
      (select true from emails
        where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'CLAIMED'
        order by sender_id limit 1),
      (select true from recipient_batches
        where project_id = ${projectId} and campaign_id = ${campaignId}
        order by project_id, campaign_id, id limit 1),
      false) as pending`.execute(database);
  return rows[0]?.pending ?? false;
}

/** Drops up to `limit` waiting emails. Returns how many. */
export async function skipCampaignEmails(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  reason: string,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with waiting as materialized (
      select id from emails where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'QUEUED'
      limit ${limit} for update skip locked
    ), ended as (
      update emails e set status = ${endedAs(sql`'SKIPPED'`, sql`${projectId}::uuid`)}, reason = ${reason}
      where project_id = ${projectId} and id = any (array(select id from waiting))
      returning e.project_id, ${SUBJECTS}, null as was, e.status as became
    ), ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}
    select count(*)::float8 as count from ended`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Requeues the failed emails of a campaign that are not redacted. Returns how many. */
export async function requeueFailedEmails(tx: Tx, { projectId, campaignId }: CampaignKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with ended as (
      update emails e set status = 'QUEUED', due_at = now(), reason = null
      where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'FAILED' and forgotten_at is null
      returning e.project_id, ${SUBJECTS}, 'FAILED' as was, e.status as became
    ), ${countChanges(changesOfEnded, await onlyProject(tx, projectId))}
    select count(*)::float8 as count from ended`.execute(tx);
  notify(tx, "emails");
  return rows[0]?.count ?? 0;
}

/** Returns whether a failed email of the campaign has been redacted. */
export async function hasRedactedFailures(tx: Tx, { projectId, campaignId }: CampaignKey): Promise<boolean> {
  const { rows } = await sql`
    select 1 from emails
    where project_id = ${projectId} and campaign_id = ${campaignId} and status = 'FAILED' and forgotten_at is not null limit 1`.execute(
    tx,
  );
  return rows.length > 0;
}

export interface RecipientRow extends Row<
  "emails",
  | "id"
  | "contactId"
  | "toAddress"
  | "reason"
  | "attempts"
  | "sentAt"
  | "deliveredAt"
  | "openedAt"
  | "clickedAt"
  | "bouncedAt"
  | "complainedAt"
> {
  status: EmailStatus;
}

/** Lists recipients, newest first. The ids of a batch do not interleave with other batches, so a page reads only a few batches. */
export async function listCampaignEmails(
  database: Database,
  { projectId, campaignId }: CampaignKey,
  status: EmailStatus | undefined,
  page: { limit: number; before: string | null },
): Promise<RecipientRow[]> {
  const limit = sql`limit ${page.limit + 1}`;
  const ofCampaign = sql`project_id = ${projectId} and campaign_id = ${campaignId}`;
  const before = (id: RawBuilder<unknown>) =>
    page.before === null ? sql`` : sql`and ${id} < ${page.before}`;
  const withStatus = status === undefined ? sql`` : sql`and status = ${status}`;
  const waits = sql.lit(status === undefined || status === "QUEUED");
  const { rows } = await sql<RecipientRow>`
    (select id, contact_id, ${TO_ADDRESS} as to_address, status, reason, attempts, sent_at, delivered_at, opened_at, clicked_at, bounced_at,
      complained_at
    from emails e where ${ofCampaign} ${withStatus} ${before(sql`id`)} order by id desc ${limit})
    union all
    (select r.id, r.contact_id, r.address, 'QUEUED', null, 0, null, null, null, null, null, null
    from recipient_batches b
    cross join lateral unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)
    where ${ofCampaign} and ${waits} ${before(sql`b.id`)} ${before(sql`r.id`)}
    order by b.id desc, r.id desc ${limit})
    order by id desc ${limit}`.execute(database);
  return rows;
}
