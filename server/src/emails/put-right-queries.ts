// Statements that put mails back into the hands of the sender that handed them over, where the database forgot how far they were.
// Before it: put-right.ts. After it: their outcomes are booked as ever.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import type { ClaimedRow } from "./sender-queries.ts";

type Handed = Pick<ClaimedRow, "project_id" | "id" | "campaign_id">;

const keys = (rows: readonly Handed[]) => sql`unnest(
  ${rows.map((row) => row.project_id)}::uuid[], ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.campaign_id)}::uuid[]
) as i (project_id, id, campaign_id)`;

/** Each of these mails `i` that stands in a batch `b` of its campaign: ids go up from batch to batch, and a batch has that of its first. */
const inBatches = (rows: readonly Handed[]) => sql`
  ${keys(rows)}
  cross join lateral (
    select * from recipient_batches
    where project_id = i.project_id and campaign_id = i.campaign_id and id <= i.id
    order by id desc limit 1
  ) b
  where i.id = any(b.email_ids)`;

/**
 * Gives back what the database says this sender has in hand, and the batches of these mails: it may be a state from before they were
 * claimed or ended. Whoever still has one in hand is told no at the gate. A batch of which a mail has left counts as claimed.
 */
export async function giveBackAll(tx: Tx, senderId: string, rows: readonly Handed[]): Promise<void> {
  await sql`
    update recipient_batches b set sender_id = null, claims = claims + 1
    where b.sender_id = ${senderId}
      or (b.project_id, b.id) in (select b.project_id, b.id from ${inBatches(rows)})`.execute(tx);
  await sql`update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status = 'CLAIMED'`.execute(tx);
}

/**
 * Mails that wait, or are in whosoever's hands, are in handover by this sender again; recipients in batches get rows for it. Answers
 * the ids: what the database had forgotten, and what it knows to be on its way.
 */
export async function takeBack(tx: Tx, senderId: string, rows: readonly Handed[]): Promise<Set<string>> {
  await sql`
    insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, sender_id, created_at)
    select m.project_id, m.id, c.id, m.content_id, m.campaign_id, 3, m.address, 'SENDING', ${senderId}::uuid, m.created_at
    from (
      select b.project_id, i.id, b.contact_ids[array_position(b.email_ids, i.id)] as contact_id,
        b.addresses[array_position(b.email_ids, i.id)] as address, b.content_id, b.campaign_id, b.created_at
      from ${inBatches(rows)}
    ) m
    left join contacts c on c.project_id = m.project_id and c.id = m.contact_id
    on conflict do nothing`.execute(tx);
  const { rows: taken } = await sql<{ id: string }>`
    update emails e set status = 'SENDING', sender_id = ${senderId}::uuid, due_at = now(), reason = null
    from ${keys(rows)}
    where e.project_id = i.project_id and e.id = i.id and e.status in ('QUEUED', 'CLAIMED', 'SENDING')
    returning e.id`.execute(tx);
  return new Set(taken.map(({ id }) => id));
}

/** Which of these have no row at all: with them the call that queued them is gone, or the start of their campaign. */
export async function listWithoutRow(tx: Tx, rows: readonly Handed[]): Promise<Set<string>> {
  const { rows: gone } = await sql<{ id: string }>`
    select i.id from ${keys(rows)}
    where not exists (select 1 from emails e where e.project_id = i.project_id and e.id = i.id)
      and exists (select 1 from projects p where p.id = i.project_id)`.execute(tx);
  return new Set(gone.map(({ id }) => id));
}

/**
 * Whether every sender that lived knows of the database as it is now: one that has not come by yet may remember handovers that the
 * database forgot. Whoever has not after so many seconds is taken for dead.
 */
export async function haveAllCome(database: Database, graceSeconds: number): Promise<boolean> {
  const { rows } = await sql<{ all_came: boolean }>`
    select i.incarnation_since < now() - make_interval(secs => ${graceSeconds})
      or not exists (select 1 from senders s where s.incarnation < i.incarnation) as all_came
    from installation i`.execute(database);
  return rows[0]?.all_came ?? true;
}
