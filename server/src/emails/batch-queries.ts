// Statements on `recipient_batches`: the recipients of a campaign that have no row in `emails` yet, 40 to a row.
// Before it: campaign-emails.ts fixes recipients, claims.ts claims, lease.ts settles. After it: desk-queries.ts lets them leave and books them.
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { plannedOften, type Database, type Tx } from "../platform/database.ts";
import type { CampaignKey } from "./campaign-queries.ts";
import { parkedAt } from "./paused-queries.ts";
import type { ClaimedRow, PausedDomains } from "./sender-queries.ts";

/** Recipients of one batch: as many as a sender claims at a time. */
export const BATCH_SIZE = 40;

/** The recipients `r` (id, contact, address) of batches `b`. */
const recipientsOf = (batches: RawBuilder<unknown>) => sql`
  ${batches} b cross join lateral unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)`;

/** Whether a recipient has no row in `emails` yet. */
const hasNoRow = sql`not exists (select 1 from emails e where e.project_id = b.project_id and e.id = r.id)`;

/** Puts each contact `c` that matches into a batch, all in one statement; answers how many. */
export async function insertRecipientBatches(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  contentId: string,
  matches: RawBuilder<SqlBool>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with matching as materialized (
      select c.id as contact_id, c.email, row_number() over (order by c.id) - 1 as place
      from contacts c where c.project_id = ${projectId} and ${matches}
    ), ids as materialized (
      select new_id() as id from matching
    ), placed as (
      -- Mails in the order of their contacts: what is indexed by either grows at its end.
      select id, row_number() over (order by id) - 1 as place from ids
    ), added as (
      insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
      select ${projectId}::uuid, (array_agg(id order by place))[1], ${campaignId}::uuid, ${contentId}::uuid,
        array_agg(id order by place), array_agg(contact_id order by place), array_agg(email order by place),
        array_agg(distinct split_part(email, '@', 2))
      from matching join placed using (place) group by place / ${sql.lit(BATCH_SIZE)}
      returning cardinality(email_ids) as size
    )
    select coalesce(sum(size), 0)::float8 as count from added`.execute(tx);
  return rows[0]?.count ?? 0;
}

export interface ClaimedBatch {
  /** null: there was none to claim. */
  batchId: string | null;
  rows: ClaimedRow[];
}

/**
 * Claims the next batch of a campaign, and answers its recipients whose mail has not ended. Those beyond the limit, or at one
 * of the domains of which enough wait at this sender, get rows that wait in the queue instead; those at paused ones are parked.
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
  },
): Promise<ClaimedBatch> {
  const { projectId, campaignId, withoutDomains } = claim;
  const paused = (claim.paused ?? []).flatMap(({ domains, number }) =>
    domains.map((domain) => ({ domain, number })),
  );
  const pausedDomains = paused.map(({ domain }) => domain);
  const { rows } = await sql<Omit<ClaimedRow, "id"> & { id: string | null; batch_id: string }>`
    ${plannedOften} with next as materialized (
      select id from recipient_batches
      where project_id = ${projectId} and campaign_id = ${campaignId} and sender_id is null and due_at <= now()
        and not (domains <@ ${withoutDomains}::text[])
      order by id limit 1
      for update skip locked
    ), claimed as (
      update recipient_batches b set sender_id = ${claim.senderId}, claims = claims + 1 from next
      where b.project_id = ${projectId} and b.id = next.id
      returning b.*
    ), waiting as (
      select b.content_id, b.created_at, r.id, c.id as contact_id, r.address,
        not w.is_crowded and row_number() over (partition by w.is_crowded order by r.id) <= ${claim.limit} as is_taken
      from ${recipientsOf(sql`claimed`)}
      cross join lateral (select split_part(r.address, '@', 2) = any(${[...withoutDomains, ...pausedDomains]}::text[]) as is_crowded) w
      left join contacts c on c.project_id = b.project_id and c.id = r.contact_id
      where ${hasNoRow}
    ), laid as (
      insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, created_at, due_at)
      select ${projectId}::uuid, id, contact_id, content_id, ${campaignId}::uuid, 3, address, created_at,
        coalesce((
          select ${parkedAt(sql`p.number`)}
          from unnest(${pausedDomains}::text[], ${paused.map(({ number }) => number)}::bigint[]) as p (domain, number)
          where p.domain = split_part(address, '@', 2)), now())
      from waiting where not is_taken
    )
    select b.project_id, b.id as batch_id, b.claims as batch_claim, b.content_id, b.campaign_id, w.id, w.contact_id, w.address as to_address,
      3::smallint as priority, null as to_name, null as copies, null as variables, 0::smallint as attempts,
      null as template_id, null::boolean as is_test, (select tracking from projects where id = ${projectId}) as tracking
    from claimed b left join waiting w on w.is_taken`.execute(database);
  const taken = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { batchId: rows[0]?.batch_id ?? null, rows: taken };
}

/** Ends a batch this sender holds: it is gone if each of its mails has ended, else whoever is left of it waits again, for a second. */
export async function finishBatch(
  database: Database,
  senderId: string,
  projectId: string,
  batchId: string,
): Promise<void> {
  const isOurs = sql`b.project_id = ${projectId} and b.id = ${batchId} and b.sender_id is not distinct from ${senderId}`;
  await sql`
    ${plannedOften} with ended as (
      delete from recipient_batches b where ${isOurs} and cardinality(b.email_ids) = (
        select count(*) from emails e where e.project_id = ${projectId} and e.id = any(b.email_ids))
      returning b.id
    )
    update recipient_batches b set sender_id = null, due_at = now() + interval '1 second'
    where ${isOurs} and not exists (select 1 from ended)`.execute(database);
}

/** Gives back batches that a sender holds beside these. */
export async function releaseBatches(
  database: Database,
  senderId: string,
  kept: readonly string[],
): Promise<void> {
  await sql`
    update recipient_batches set sender_id = null
    where sender_id = ${senderId} and not (id = any(${kept}::uuid[]))`.execute(database);
}

/**
 * Gives rows of their own to the mails of a dead sender that may have left, as mails in its hands, and gives its batches
 * back. `inDoubt`: what the sender had committed to hand over.
 */
export async function layOutInDoubt(tx: Tx, senderId: string, inDoubt: readonly string[]): Promise<void> {
  // First the locks: whoever booked one of these mails before has done so when the next statement looks.
  await sql`select 1 from recipient_batches where sender_id = ${senderId} order by project_id, id for update`.execute(
    tx,
  );
  await layOut(
    sql`b.sender_id = ${senderId} and r.id = any(${inDoubt}::uuid[])`,
    sql`select b.sender_id`,
  ).execute(tx);
  await releaseBatches(tx, senderId, []);
}

/**
 * Gives rows of their own to recipients whom somebody asks for, in the state they are in, and takes them out of their
 * batches. Named by their contacts or by their mails.
 */
export async function layOutRecipients(
  tx: Tx,
  projectId: string,
  { by, ids }: { by: "id" | "contact_id"; ids: readonly string[] },
): Promise<void> {
  const wanted = sql<SqlBool>`r.${sql.ref(by)} = any(${ids}::uuid[])`;
  const meant = sql<SqlBool>`b.project_id = ${projectId} and exists (
    select 1 from unnest(b.email_ids, b.contact_ids) as r (id, contact_id) where ${wanted})`;
  const { rows } = await sql<{ id: string }>`
    select b.id from recipient_batches b where ${meant} order by b.id for update`.execute(tx);
  if (rows.length === 0) return;
  const locked = sql<SqlBool>`b.project_id = ${projectId} and b.id = any(${rows.map(({ id }) => id)}::uuid[])`;
  // Only now, with the batches locked, it is certain which of their mails a sender has committed to hand over. The others
  // wait again: whoever has them in hand asks before they leave, and is told no.
  await layOut(
    sql`${locked} and ${wanted}`,
    sql`select b.sender_id where r.id in (select unnest(s.in_doubt) from senders s where s.id = b.sender_id)`,
  ).execute(tx);
  const rest = (values: RawBuilder<unknown>) => sql`array(
    select ${values} from unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)
    where not (${wanted}) order by r.id)`;
  await sql`
    update recipient_batches b set email_ids = ${rest(sql`r.id`)}, contact_ids = ${rest(sql`r.contact_id`)},
      addresses = ${rest(sql`r.address`)}
    where ${locked}`.execute(tx);
}

/** Rows for recipients, in handover by the sender that `sender` is a query of; without one they wait. */
const layOut = (wanted: RawBuilder<SqlBool>, sender: RawBuilder<unknown>) => sql`
  insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, sender_id, created_at)
  select b.project_id, r.id, c.id, b.content_id, b.campaign_id, 3, r.address,
    case when d.sender_id is null then 'QUEUED' else 'SENDING' end, d.sender_id, b.created_at
  from ${recipientsOf(sql`recipient_batches`)}
  left join lateral (${sender}) d on true
  left join contacts c on c.project_id = b.project_id and c.id = r.contact_id
  where ${wanted}
  on conflict do nothing`;

/** Drops the recipients of up to so many batches of a campaign that nobody has in hand; answers how many mails that were. */
export async function skipBatches(
  tx: Tx,
  { projectId, campaignId }: CampaignKey,
  reason: string,
  limit: number,
): Promise<number> {
  const result = await sql`
    with dropped as (
      delete from recipient_batches where project_id = ${projectId} and id in (
        select id from recipient_batches
        where project_id = ${projectId} and campaign_id = ${campaignId} and sender_id is null
        order by id limit ${limit} for update skip locked)
      returning *
    )
    insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, reason, created_at)
    select b.project_id, r.id, c.id, b.content_id, b.campaign_id, 3, r.address, 'SKIPPED', ${reason}, b.created_at
    from ${recipientsOf(sql`dropped`)}
    left join contacts c on c.project_id = b.project_id and c.id = r.contact_id
    on conflict do nothing`.execute(tx);
  return Number(result.numAffectedRows ?? 0);
}
