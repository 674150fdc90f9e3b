// Statements of the desk: mails of batches that are about to leave, and those that have left.
// Before it: desk.ts; outcomes.ts for mails that were not sent. After it: rows in `emails`.
import { sql } from "kysely";
import { plannedOften, type Database, type Tx } from "../platform/database.ts";
import { consequences, type OutcomeRow } from "./outcome-queries.ts";

/** A mail of a batch, which has no row unless somebody asked for it. */
export interface BatchedMail {
  projectId: string;
  id: string;
  batchId: string;
  /** Which claim of the batch it is in hand of. */
  batchClaim: number;
  campaignId: string;
  contactId: string | null;
  contentId: string;
  toAddress: string;
}

const columns = (mails: readonly BatchedMail[]) => sql`
  ${mails.map((mail) => mail.id)}::uuid[],
  ${mails.map((mail) => mail.batchId)}::uuid[],
  ${mails.map((mail) => mail.campaignId)}::uuid[],
  ${mails.map((mail) => mail.contactId)}::uuid[]`;

/**
 * Batches of a project, as far as this sender holds them; they stay so until it commits. "Is not distinct from" keeps the planner
 * from the index of what a sender holds: each claim leaves an entry in it until the next vacuum, all under this one sender.
 */
const heldBatches = (senderId: string, projectId: string, mails: readonly BatchedMail[]) => sql`
  select id, claims, email_ids, created_at from recipient_batches
  where project_id = ${projectId} and sender_id is not distinct from ${senderId}
    and id = any(${[...new Set(mails.map((mail) => mail.batchId))]}::uuid[])
  order by id for share`;

/** Gives mails of a project rows in the hands of this sender, so that they can be booked like all others. */
export async function insertBatched(
  tx: Tx,
  senderId: string,
  projectId: string,
  mails: readonly BatchedMail[],
): Promise<void> {
  await sql`
    with held as materialized (${heldBatches(senderId, projectId, mails)})
    insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, created_at, status, sender_id)
    select ${projectId}::uuid, i.id, c.id, i.content_id, i.campaign_id, 3, i.to_address, b.created_at, 'SENDING', ${senderId}::uuid
    from unnest(
      ${columns(mails)},
      ${mails.map((mail) => mail.contentId)}::uuid[],
      ${mails.map((mail) => mail.toAddress)}::text[]
    ) as i (id, batch_id, campaign_id, contact_id, content_id, to_address)
    join held b on b.id = i.batch_id
    left join contacts c on c.project_id = ${projectId} and c.id = i.contact_id
    on conflict do nothing`.execute(tx);
}

/**
 * Both of a project in one statement and so one transaction. `sent` were taken at their first attempt: their rows come into
 * being here, as they stay, with their notes and counts. `asking` want to leave: those may that are still in their batch, by the
 * claim they are in hand of, while the campaign is sending, the lease holds, and, to a list, the contact is subscribed;
 * contacts that are just being changed are not waited for. The sender keeps the ids of these beside `kept`. Answers both.
 */
export async function bookAndPass(
  database: Database,
  senderId: string,
  projectId: string,
  sent: ReadonlyArray<{ mail: BatchedMail; outcome: OutcomeRow }>,
  asking: ReadonlyArray<{ mail: BatchedMail; isToList: boolean }>,
  kept: readonly string[],
): Promise<{ booked: string[]; passed: string[] }> {
  const left = sent.map(({ mail }) => mail);
  const leaving = asking.map(({ mail }) => mail);
  const onLists = asking.flatMap(({ mail, isToList }) => (isToList ? (mail.contactId ?? []) : []));
  const { rows } = await sql<{ id: string; is_booked: boolean }>`
    ${plannedOften} with held as materialized (${heldBatches(senderId, projectId, [...left, ...leaving])}
    ), ended as (
      insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, created_at,
        status, attempts, sent_at, subject, transport, answer, provider_message_id)
      select ${projectId}::uuid, i.id, c.id, i.content_id, i.campaign_id, 3, i.to_address, b.created_at,
        'SENT', 1, now(), case when c.id is not null then i.subject end, i.transport, i.answer, i.provider_message_id
      from unnest(
        ${columns(left)},
        ${left.map((mail) => mail.contentId)}::uuid[],
        ${left.map((mail) => mail.toAddress)}::text[],
        ${sent.map(({ outcome }) => outcome.subject)}::text[],
        ${sent.map(({ outcome }) => outcome.sent?.transport ?? null)}::text[],
        ${sent.map(({ outcome }) => outcome.sent?.answer ?? null)}::text[],
        ${sent.map(({ outcome }) => outcome.sent?.providerMessageId ?? null)}::text[]
      ) as i (id, batch_id, campaign_id, contact_id, content_id, to_address, subject, transport, answer, provider_message_id)
      join held b on b.id = i.batch_id
      left join contacts c on c.project_id = ${projectId} and c.id = i.contact_id
      on conflict do nothing
      returning project_id, id, contact_id, sent_at as left_at
    ), ${consequences}, subscribed as materialized (
      select c.id from contacts c
      where c.project_id = ${projectId} and c.subscribed and c.id = any(${onLists}::uuid[])
      for share skip locked
    ), passed as materialized (
      select i.id
      from unnest(
        ${columns(leaving)},
        ${leaving.map((mail) => mail.batchClaim)}::integer[],
        ${asking.map(({ isToList }) => isToList)}::boolean[]
      ) as i (id, batch_id, campaign_id, contact_id, batch_claim, is_to_list)
      join held b on b.id = i.batch_id and b.claims = i.batch_claim and i.id = any(b.email_ids)
      where exists (select 1 from campaigns p
          where p.project_id = ${projectId} and p.id = i.campaign_id and p.status = 'SENDING')
        and (not i.is_to_list or i.contact_id in (select id from subscribed))
    ), marked as (
      update senders set in_doubt = ${kept}::uuid[] || array(select id from passed)
      where id = ${senderId} and lease_until > clock_timestamp()
      returning id
    )
    select id, true as is_booked from ended
    union all select id, false from passed where exists (select 1 from marked)`.execute(database);
  const idsOf = (isBooked: boolean) =>
    rows.filter(({ is_booked }) => is_booked === isBooked).map(({ id }) => id);
  return { booked: idsOf(true), passed: idsOf(false) };
}
