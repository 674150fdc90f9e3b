// Reads the emails of one campaign for its report. Each statement reads a bounded number of rows.
import { sql } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { plannedEachTime, type Database } from "../platform/database/database.ts";
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { sumMails, type Span } from "../events/counts.ts";

/** Statuses that `email_counts` doesn't count, because a later status replaces them. */
export const COUNTED_STATUSES = [
  "CLAIMED",
  "SENDING",
  "SENT",
  "DELIVERED",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
] as const satisfies readonly EmailStatus[];

/** Counts the emails of a campaign with each status, up to `most` + 1 of them, from an index. */
export async function countByStatus(
  database: Database,
  { projectId, campaignId }: Key,
  most: number,
): Promise<Map<EmailStatus, number>> {
  const { rows } = await sql<{ status: (typeof COUNTED_STATUSES)[number]; count: number }>`
    ${plannedEachTime} select s.status, c.count from unnest(${[...COUNTED_STATUSES]}::text[]) s (status)
    cross join lateral (
      select count(*)::float8 as count from (
        select 1 from emails e
        where e.project_id = ${projectId} and e.campaign_id = ${campaignId} and e.status = s.status
        -- The order of the index. Otherwise the planner scans all emails for a status that it takes for a frequent one.
        order by e.came_back limit ${most + 1}
      ) found
    ) c`.execute(database);
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Numbers of intervals, from 0, with what happened in them. */
type Sums = Map<number, Record<(typeof COLUMNS)[number], number>>;
const COLUMNS = ["sent", "opened", "clicked"] as const;
type Key = Record<"projectId" | "campaignId", string>;

/** Counts the emails of a campaign by the minute. Reads all of its emails. */
export async function countByMinute(
  database: Database,
  { projectId, campaignId }: Key,
  { from, to }: Span,
): Promise<Sums> {
  const [start, end] = [sql`${from.toISOString()}::timestamptz`, sql`${to.toISOString()}::timestamptz`];
  const { rows } = await sql<{ minute: number; sent: number; opened: number; clicked: number }>`
    ${plannedEachTime} select floor(date_part('epoch', f.at - ${start}) / 60)::integer as minute,
      (count(*) filter (where f.what = 'sent'))::float8 as sent, (count(*) filter (where f.what = 'opened'))::float8 as opened,
      (count(*) filter (where f.what = 'clicked'))::float8 as clicked
    from emails e
    cross join lateral (values ('sent', e.sent_at), ('opened', e.opened_at), ('clicked', e.clicked_at)) f (what, at)
    where e.project_id = ${projectId} and e.campaign_id = ${campaignId} and e.is_test is null and f.at >= ${start} and f.at < ${end}
    group by 1`.execute(database);
  return new Map(rows.map(({ minute, ...row }) => [minute, row]));
}

/** The interval of the maintained counts. */
export const QUARTER_MINUTES = 15;

/** Sums the maintained counts of a campaign by the quarter of an hour. */
export async function countByQuarter(
  database: Database,
  { projectId, campaignId }: Key,
  span: Span,
): Promise<Sums> {
  const sums = await sumMails(database, projectId, {
    filter: { dimension: "campaign", value: campaignId },
    span,
    by: (instant) =>
      sql`floor((date_part('epoch', ${instant}) - ${span.from.getTime() / 1_000}::float8) / ${QUARTER_MINUTES * 60}::float8)::integer`,
    columns: COLUMNS,
  });
  return new Map([...sums].map(([at, row]) => [Number(at), row]));
}

/** Returns sent campaigns of a kind that started before a time, newest first. */
export async function listStartedBefore(
  database: Database,
  projectId: string,
  { kind, startedAt, limit }: { kind: CampaignKind; startedAt: Date; limit: number },
) {
  return database
    .selectFrom("campaigns")
    .select(["id", "name", "subject", "startedAt"])
    .where("projectId", "=", projectId)
    .where("status", "=", "SENT")
    .where("kind", "=", kind)
    .where("startedAt", "<", startedAt)
    .orderBy("startedAt", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}
