// Statements of the sender: which projects have work, claim, handover, and what is given back. Outcomes are in
// outcome-queries.ts, the lease in lease-queries.ts.
// Claims name one project each: fairness wants it, and so does a sharded database (docs/decisions).
import { sql, type RawBuilder } from "kysely";
import type { TrackingMode } from "@postloft/contract/projects.ts";
import { plannedOften, type Database } from "../platform/database.ts";
import type { ListKind } from "./message-headers.ts";
import { isToList } from "./paused-queries.ts";

export interface DueQueue {
  project_id: string;
  priority: number;
  /** null: the mails of the project that belong to no campaign. */
  campaign_id: string | null;
  /** Whether the recipients wait in batches, and not each with a row of its own. */
  is_batched: boolean;
  /** Destinations that are paused for the campaign, or for list mail of no campaign; null: none. */
  paused: PausedDomains[] | null;
}

export interface PausedDomains {
  domains: string[];
  /** By which its mails are parked. */
  number: number;
  /** Mails that may go there all the same, to see whether they are taken. */
  trials: string[];
}

const pausedWhere = (isOf: RawBuilder<unknown>) => sql`(
  select jsonb_agg(jsonb_build_object('domains', h.domains, 'number', h.number, 'trials', h.trial_ids))
  from paused_destinations h where ${isOf} and h.released_at is null) as paused`;
const pausedOf = pausedWhere(sql`h.project_id = c.project_id and h.campaign_id = c.id`);

/**
 * Queues that have mails due, most urgent first: of each project one per priority, and for each campaign that is sending one
 * of mails with rows and one of recipients in batches. Mails of disabled projects, and of campaigns that are paused or cancelled, stay where they are.
 * Ordered and limited so that each is one probe of its index: as a plain EXISTS the planner reads every waiting mail to
 * find the projects (200 projects, 150,000 due: 370 ms instead of 3 ms).
 */
export async function listDueQueues(database: Database): Promise<DueQueue[]> {
  const { rows } = await sql<DueQueue>`
    ${plannedOften} select p.id as project_id, k.priority, null::uuid as campaign_id, false as is_batched,
      ${pausedWhere(sql`h.project_id = p.id and h.campaign_id is null`)}
    from projects p
    cross join (values (1::smallint), (2::smallint), (3::smallint)) as k (priority)
    cross join lateral (
      select 1 from emails e
      where e.project_id = p.id and e.priority = k.priority and e.status = 'QUEUED' and e.campaign_id is null
        and e.due_at <= now()
      order by e.project_id, e.priority, e.due_at limit 1) due
    where not p.disabled
    union all
    select c.project_id, 3::smallint, c.id, false, ${pausedOf}
    from campaigns c
    join projects p on p.id = c.project_id and not p.disabled
    cross join lateral (
      select 1 from emails e
      where e.project_id = c.project_id and e.campaign_id = c.id and e.status = 'QUEUED' and e.due_at <= now()
      order by e.project_id, e.campaign_id, e.due_at limit 1) due
    where c.status = 'SENDING' and c.finished_at is null
    union all
    select c.project_id, 3::smallint, c.id, true, ${pausedOf}
    from campaigns c
    join projects p on p.id = c.project_id and not p.disabled
    cross join lateral (
      select 1 from recipient_batches b
      where b.project_id = c.project_id and b.campaign_id = c.id and b.sender_id is null and b.due_at <= now()
      order by b.project_id, b.campaign_id, b.id limit 1) due
    where c.status = 'SENDING' and c.finished_at is null
    order by 2`.execute(database);
  return rows;
}

export interface ClaimedRow {
  project_id: string;
  id: string;
  contact_id: string | null;
  content_id: string;
  priority: number;
  to_address: string;
  to_name: string | null;
  copies: unknown;
  variables: unknown;
  attempts: number;
  campaign_id: string | null;
  template_id: string | null;
  /** True of a test mail; its variables then say as whom it is rendered. */
  is_test: boolean | null;
  /** The batch of a recipient that has no row yet. */
  batch_id: string | null;
  /** Which claim of the batch it was. */
  batch_claim: number | null;
  /** What the project says of opens and clicks, at the time of the claim. */
  tracking: TrackingMode;
}

const isAt = (domains: readonly string[]) => sql`split_part(to_address, '@', 2) = any(${domains}::text[])`;

/** `withoutDomains`: recipients there are passed over, since enough of them wait at this sender already; so are paused ones. */
export async function claimEmails(
  database: Database,
  claim: {
    senderId: string;
    projectId: string;
    priority: number;
    campaignId: string | null;
    limit: number;
    withoutDomains: readonly string[];
    paused?: readonly PausedDomains[];
  },
): Promise<ClaimedRow[]> {
  const { paused = [], withoutDomains } = claim;
  const isUncrowded = withoutDomains.length === 0 ? sql`` : sql`and not (${isAt(withoutDomains)})`;
  const trials = paused.flatMap((one) => one.trials);
  // Of no campaign only mail to lists waits.
  const isUnpaused = claim.campaignId === null ? sql`or not ${isToList}` : sql``;
  const isWanted =
    paused.length === 0
      ? isUncrowded
      : sql`${isUncrowded}
        and (not (${isAt(paused.flatMap(({ domains }) => domains))}) or id = any(${trials}::uuid[]) ${isUnpaused})`;
  const inQueue =
    claim.campaignId === null
      ? sql`campaign_id is null and priority = ${claim.priority}`
      : sql`campaign_id = ${claim.campaignId}`;
  // Materialized: inside a join the planner may run it anew for each row, and then it locks and claims more than its limit.
  const { rows } = await sql<ClaimedRow>`
    ${plannedOften} with q as materialized (
      select id from emails
      where project_id = ${claim.projectId} and ${inQueue} and status = 'QUEUED' and due_at <= now()
        ${isWanted}
      order by due_at limit ${claim.limit}
      for update skip locked
    )
    update emails e set status = 'CLAIMED', sender_id = ${claim.senderId} from q
    where e.project_id = ${claim.projectId} and e.id = q.id
    returning e.project_id, e.id, e.contact_id, e.content_id, e.priority, e.to_address, e.to_name, e.copies, e.variables,
      e.attempts, e.campaign_id, e.template_id, e.is_test, null::uuid as batch_id, null::integer as batch_claim,
      (select tracking from projects where id = ${claim.projectId}) as tracking`.execute(database);
  return rows;
}

export async function findContents(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    project_id: string;
    id: string;
    from_address: string;
    from_name: string | null;
    reply_to: string | null;
    subject: string;
    html: string;
    text: string | null;
    headers: unknown;
    attachments: unknown;
    list_kind: ListKind | null;
    tracked: boolean;
  }>`
    select c.project_id, c.id, c.from_address, c.from_name, c.reply_to, c.subject, c.html, c.text, c.headers, c.attachments,
      c.list_kind, c.tracked
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_contents c on c.project_id = i.project_id and c.id = i.id`.execute(database);
  return rows;
}

export async function findFiles(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Array<{ project_id: string; id: string; bytes: Buffer }>> {
  const { rows } = await sql<{ project_id: string; id: string; bytes: Buffer }>`
    select f.project_id, f.id, f.bytes
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_files f on f.project_id = i.project_id and f.id = i.id`.execute(database);
  return rows;
}

/** Of a campaign that was paused or cancelled since the claim, nothing leaves any more. */
const isCampaignOn = sql`(e.campaign_id is null or exists (
  select 1 from campaigns p where p.project_id = e.project_id and p.id = e.campaign_id and p.status = 'SENDING'))`;

/**
 * Commits "handover is imminent" for mails this sender still holds under a live lease, by the clock of the database;
 * answers those that are ours to send. Again for a mail whose first handover surely failed and goes another way.
 */
export async function markSending(
  database: Database,
  senderId: string,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    ${plannedOften} update emails e set status = 'SENDING'
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    where e.project_id = i.project_id and e.id = i.id and e.status in ('CLAIMED', 'SENDING') and e.sender_id = ${senderId}
      and exists (select 1 from senders s where s.id = ${senderId} and s.lease_until > clock_timestamp()) and ${isCampaignOn}
    returning e.id`.execute(database);
  return new Set(rows.map((row) => row.id));
}

/**
 * The same for mail to a list of one project, which leaves only while its contact is subscribed: whoever unsubscribed before
 * this commits gets nothing, and the mail is skipped. The contact is held until then; one that is just being changed is
 * not waited for: its mail goes back for a second.
 */
export async function markListSending(
  database: Database,
  senderId: string,
  projectId: string,
  ids: readonly string[],
  skipReason: string,
): Promise<{ sending: string[]; skipped: string[] }> {
  const { rows } = await sql<{ id: string; status: string }>`
    ${plannedOften} with held as materialized (
      select e.id from emails e join contacts c on c.project_id = e.project_id and c.id = e.contact_id
      where e.project_id = ${projectId} and e.id = any(${ids}::uuid[]) and c.project_id = ${projectId} and c.subscribed
      for share of c skip locked
    ), judged as (
      select e.id, case
        when e.id in (select id from held) then 'SENDING'
        when exists (select 1 from contacts c
                     where c.project_id = ${projectId} and c.id = e.contact_id and c.subscribed) then 'QUEUED'
        else 'SKIPPED' end as status
      from emails e where e.project_id = ${projectId} and e.id = any(${ids}::uuid[])
    )
    update emails e set
      status = j.status,
      reason = case when j.status = 'SKIPPED' then ${skipReason} else e.reason end,
      sender_id = case when j.status = 'SENDING' then e.sender_id end,
      due_at = case when j.status = 'QUEUED' then now() + interval '1 second' else e.due_at end
    from judged j
    where e.project_id = ${projectId} and e.id = j.id and e.status in ('CLAIMED', 'SENDING') and e.sender_id = ${senderId}
      and exists (select 1 from senders s where s.id = ${senderId} and s.lease_until > clock_timestamp()) and ${isCampaignOn}
    returning e.id, e.status`.execute(database);
  const idsOf = (status: string) => rows.filter((row) => row.status === status).map((row) => row.id);
  return { sending: idsOf("SENDING"), skipped: idsOf("SKIPPED") };
}

/** Gives back what this sender holds beside these: claims whose answer was lost, gates that closed in between. */
export async function releaseUnknown(
  database: Database,
  senderId: string,
  known: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status in ('CLAIMED', 'SENDING')
      and not (id = any(${known}::uuid[]))
    returning id`.execute(database);
  return rows.map((row) => row.id);
}

/** Gives back mails that were claimed and not touched. */
export async function releaseClaims(database: Database, senderId: string): Promise<void> {
  await sql`update emails set status = 'QUEUED', sender_id = null where sender_id = ${senderId} and status = 'CLAIMED'`.execute(
    database,
  );
}
