// Tracking statements: link targets, emails and counters.
import { sql } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import type { TrackingMode } from "@postloft/contract/projects.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import type { ListKind } from "../../message/message-headers.ts";
import { statusInDoubt } from "../../emails/returned/returned-emails.ts";

export interface LinkKey {
  projectId: string;
  emailId: string;
  number: number;
}

/** Returns the target of each link, in order. Null if the email or link does not exist. */
export async function findLinkTargets(
  database: Database,
  links: readonly LinkKey[],
): Promise<Array<string | null>> {
  const { rows } = await sql<{ url: string | null }>`
    select l.urls[array_position(l.numbers, i.number)] as url
    from unnest(
      ${links.map((link) => link.projectId)}::uuid[],
      ${links.map((link) => link.emailId)}::uuid[],
      ${links.map((link) => link.number)}::integer[]
    ) with ordinality as i (project_id, email_id, number, at)
    left join emails e on e.project_id = i.project_id and e.id = i.email_id
    left join content_links l on l.project_id = i.project_id and l.content_id = e.content_id
    order by i.at`.execute(database);
  return rows.map((row) => row.url);
}

export interface HitMailRow extends Row<
  "emails",
  "projectId" | "id" | "contactId" | "contentId" | "campaignId"
> {
  status: EmailStatus;
  /** The end of the last attempt if the email is in doubt. Null only during its first submission. */
  sentAt: Date | null;
  listKind: ListKind | null;
  tracked: boolean;
  tracking: TrackingMode;
}

export async function findHitMails(
  tx: Tx,
  keys: ReadonlyArray<{ projectId: string; emailId: string }>,
): Promise<HitMailRow[]> {
  const { rows } = await sql<HitMailRow>`
    select e.project_id, e.id, e.contact_id, e.content_id, e.campaign_id, ${statusInDoubt} as status,
      coalesce(e.sent_at, (
        select max(a.created_at) from email_attempts a
        where a.project_id = e.project_id and a.email_id = e.id and a.outcome in ('uncertain', 'sent'))) as sent_at,
      c.list_kind, c.tracked, q.tracking
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.emailId)}::uuid[]) as i (project_id, id)
    join emails e on e.project_id = i.project_id and e.id = i.id
    join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    join project_queues q on q.project_id = e.project_id`.execute(tx);
  return rows;
}

/** Records that a person followed these links. Returns those followed for the first time. */
export async function insertLinkClicks(tx: Tx, links: readonly LinkKey[]) {
  const { rows } = await sql<{ projectId: string; emailId: string; number: number }>`
    insert into link_clicks (project_id, email_id, number)
    select * from unnest(
      ${links.map((link) => link.projectId)}::uuid[],
      ${links.map((link) => link.emailId)}::uuid[],
      ${links.map((link) => link.number)}::integer[]
    )
    on conflict do nothing
    returning project_id, email_id, number`.execute(tx);
  return rows;
}

export type CountRow = Row<
  "tracking_counts",
  "projectId" | "contentId" | "number" | "campaignId" | "total" | "mails" | "machine"
>;

export async function addCounts(tx: Tx, counts: readonly CountRow[]): Promise<void> {
  await sql`
    insert into tracking_counts as known (project_id, content_id, number, campaign_id, total, mails, machine)
    select * from unnest(
      ${counts.map((count) => count.projectId)}::uuid[],
      ${counts.map((count) => count.contentId)}::uuid[],
      ${counts.map((count) => count.number)}::integer[],
      ${counts.map((count) => count.campaignId)}::uuid[],
      ${counts.map((count) => count.total)}::integer[],
      ${counts.map((count) => count.mails)}::integer[],
      ${counts.map((count) => count.machine)}::integer[]
    )
    on conflict (project_id, content_id, number, campaign_id) do update set
      total = known.total + excluded.total, mails = known.mails + excluded.mails, machine = known.machine + excluded.machine`.execute(
    tx,
  );
}

/** Returns which of these event names are recorded for each email, with their links. */
export async function listRecordedHits(
  tx: Tx,
  mails: ReadonlyArray<{ projectId: string; emailId: string }>,
  names: readonly string[],
) {
  const { rows } = await sql<{ projectId: string; emailId: string; name: string; link: string | null }>`
    select v.project_id, v.email_id, v.name, v.data ->> 'link' as link
    from unnest(${mails.map((mail) => mail.projectId)}::uuid[], ${mails.map((mail) => mail.emailId)}::uuid[]) as i (project_id, id)
    join events v on v.project_id = i.project_id and v.email_id = i.id and v.name = any(${names}::text[])`.execute(
    tx,
  );
  return rows;
}

export interface LinkCountRow {
  url: string;
  clicks: number;
  uniqueClicks: number;
  machineClicks: number;
}

/** Returns the links of a template with their counts, most clicked first, for one campaign or all emails. */
export async function listLinkCounts(
  database: Database,
  projectId: string,
  contentId: string,
  campaignId: string | null,
): Promise<LinkCountRow[]> {
  const ofCampaign = campaignId === null ? sql`` : sql`and t.campaign_id = ${campaignId}`;
  const { rows } = await sql<LinkCountRow>`
    select l.url, coalesce(sum(t.total), 0) as clicks, coalesce(sum(t.mails), 0) as unique_clicks,
      coalesce(sum(t.machine), 0) as machine_clicks
    from (
      select unnest(numbers) as number, unnest(urls) as url from content_links
      where project_id = ${projectId} and content_id = ${contentId}
    ) l
    left join tracking_counts t on t.project_id = ${projectId} and t.content_id = ${contentId} and t.number = l.number
      ${ofCampaign}
    group by l.number, l.url
    order by clicks desc, l.url`.execute(database);
  return rows;
}

/** Returns the template shared by all emails of a campaign. */
export async function findContentOfCampaign(
  database: Database,
  projectId: string,
  campaignId: string,
): Promise<string | null> {
  const row = await database
    .selectFrom("emails")
    .select("contentId")
    .where("projectId", "=", projectId)
    .where("campaignId", "=", campaignId)
    .limit(1)
    .executeTakeFirst();
  return row?.contentId ?? null;
}
