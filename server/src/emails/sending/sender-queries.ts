// The sender's queries, which claim emails and release them. Due queues are in due-queue-queries.ts. Submission is in submission-queries.ts, results are in
// outcome-queries.ts and leases in lease-queries.ts. Each claim is for one project, which is fair and works with a sharded database
// (docs/decisions).
import { sql } from "kysely";
import {
  among,
  fromReachableNodes,
  onlyProject,
  type ListProjects,
  type ReachableRows,
} from "../../platform/database/cluster.ts";
import { plannedOften, type Database } from "../../platform/database/database.ts";
import type { ListKind } from "../../message/message-headers.ts";
import { livingSender } from "../lease/lease-queries.ts";
import { addressed, recipientsOf } from "../outbox/batch-queries.ts";
import { countChanges, SUBJECTS } from "../results/email-count-queries.ts";
import { isToList, deferredUntil } from "../throttling/throttled-queries.ts";
import type { PausedDomains } from "./due-queue-queries.ts";
import { CLAIMED_COLUMNS, type ClaimedRow } from "../rows/claimed-queries.ts";
import type { ContactsThere } from "../rows/recipients.ts";

const isAt = (domains: readonly string[]) => sql`split_part(to_address, '@', 2) = any(${domains}::text[])`;

/**
 * Claims emails of a queue. Leaves out recipients at `withoutDomains`, where enough emails wait at this sender, and at throttled domains. A
 * sender that was declared dead gets none.
 */
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
  // Outside campaigns only bulk mail is throttled.
  const isUnthrottled = claim.campaignId === null ? sql`or not ${isToList}` : sql``;
  const isWanted =
    paused.length === 0
      ? isUncrowded
      : sql`${isUncrowded}
        and (not (${isAt(paused.flatMap(({ domains }) => domains))}) or id = any(${trials}::uuid[]) ${isUnthrottled})`;
  const inQueue =
    claim.campaignId === null
      ? sql`campaign_id is null and priority = ${claim.priority}`
      : sql`campaign_id = ${claim.campaignId}`;
  // Materialized, because in a join the planner may run the subquery for each row and claim more than its limit.
  const { rows } = await sql<ClaimedRow>`
    ${plannedOften} with ${livingSender(claim.senderId)}, q as materialized (
      select id from emails
      where exists (select 1 from living) and project_id = ${claim.projectId} and ${inQueue} and status = 'QUEUED' and due_at <= now()
        ${isWanted}
      order by due_at limit ${claim.limit}
      for update skip locked
    )
    update emails e set status = 'CLAIMED', sender_id = ${claim.senderId}
    -- As an array, because if PostgreSQL expects few emails, a join reads all of them.
    where e.project_id = ${claim.projectId} and e.id = any (array(select id from q))
    returning ${CLAIMED_COLUMNS(claim.projectId)}`.execute(database);
  return rows;
}

/**
 * Claims the next batch of a campaign by giving each recipient an email row and deleting the batch. Returns the rows that the sender may
 * send now. Recipients beyond the limit or at a crowded domain stay queued, and recipients at a throttled domain are deferred.
 */
export async function claimBatch(
  database: Database,
  claim: {
    senderId: string;
    projectId: string;
    campaignId: string;
    limit: number;
    withoutDomains: readonly string[];
    paused?: readonly PausedDomains[];
    contactsThere: ContactsThere;
  },
): Promise<ClaimedRow[]> {
  const { senderId, projectId, campaignId, withoutDomains } = claim;
  const paused = (claim.paused ?? []).flatMap(({ domains, number }) =>
    domains.map((domain) => ({ domain, number })),
  );
  const throttledDomains = paused.map(({ domain }) => domain);
  const only = await onlyProject(database, projectId);
  const { rows } = await sql<ClaimedRow>`
    ${plannedOften} with ${livingSender(senderId)}, next as materialized (
      select id from recipient_batches
      where exists (select 1 from living) and project_id = ${projectId} and campaign_id = ${campaignId} and not (domains <@ ${withoutDomains}::text[])
      order by id limit 1
      for update skip locked
    ), ended as (
      delete from recipient_batches b using next
      where b.project_id = ${projectId} and b.id = next.id
      returning b.*
    ), there as materialized (${claim.contactsThere(sql`select project_id, unnest(contact_ids) from ended`, only)}
    ), waiting as (
      select b.content_id, b.created_at, r.id, t.id as contact_id, r.address,
        not w.is_crowded and row_number() over (partition by w.is_crowded order by r.id) <= ${claim.limit} as is_taken
      from ${recipientsOf(sql`ended`)} left join there t on t.id = r.contact_id
      cross join lateral (select split_part(r.address, '@', 2) = any(${[...withoutDomains, ...throttledDomains]}::text[]) as is_crowded) w
    ), e as (
      insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, reason, created_at, sender_id, due_at)
      select ${projectId}::uuid, id, contact_id, content_id, ${campaignId}::uuid, 3,
        ${addressed(sql`case when is_taken then 'CLAIMED' else 'QUEUED' end`, sql`null`)},
        created_at, case when is_taken and contact_id is not null then ${senderId}::uuid end,
        coalesce((
          select ${deferredUntil(sql`p.number`)}
          from unnest(${throttledDomains}::text[], ${paused.map(({ number }) => number)}::bigint[]) as p (domain, number)
          where not is_taken and p.domain = split_part(address, '@', 2)), now())
      from waiting order by id
      returning *
    ), ${countChanges(
      sql`
      select project_id, ${SUBJECTS}, null as was, status as became, null as report from e where status = 'SKIPPED'`,
      only,
    )}
    select ${CLAIMED_COLUMNS(projectId)} from e where e.status = 'CLAIMED'`.execute(database);
  return rows;
}

export async function findContents(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    projectId: string;
    id: string;
    fromAddress: string;
    fromName: string | null;
    replyTo: string | null;
    subject: string;
    html: string;
    text: string | null;
    headers: unknown;
    attachments: unknown;
    listKind: ListKind | null;
    tracked: boolean;
    raw: Buffer | null;
  }>`
    select c.project_id, c.id, c.from_address, c.from_name, c.reply_to, c.subject, c.html, c.text, c.headers, c.attachments,
      c.list_kind, c.tracked, c.raw
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_contents c on c.project_id = i.project_id and c.id = i.id
    where c.forgotten_at is null`.execute(database);
  return rows;
}

export async function findFiles(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Array<{ projectId: string; id: string; bytes: Buffer }>> {
  const { rows } = await sql<{ projectId: string; id: string; bytes: Buffer }>`
    select f.project_id, f.id, f.bytes
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_files f on f.project_id = i.project_id and f.id = i.id`.execute(database);
  return rows;
}

/** Releases the emails this sender holds except for `known`. These are lost claims and withdrawn emails. */
export async function releaseUnknown(
  database: Database,
  senderId: string,
  known: readonly string[],
  listProjects?: ListProjects,
): Promise<ReachableRows<string>> {
  return fromReachableNodes(database, listProjects, async (on, projectIds) => {
    const { rows } = await sql<{ id: string }>`
      update emails set status = 'QUEUED', sender_id = null
      where sender_id = ${senderId} and status = 'CLAIMED' and not (id = any(${known}::uuid[])) ${among(sql`project_id`, projectIds)}
      returning id`.execute(on);
    return rows.map((row) => row.id);
  });
}
