// Statements that put mails back into the hands of the sender that handed them over, where the database forgot how far they were.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";
import { takeOutRecipients } from "../outbox/batch-queries.ts";
import type { ContactIfThere } from "../outbox/recipients.ts";
import type { ClaimedRow } from "../sending/sender-queries.ts";

type Handed = Pick<ClaimedRow, "projectId" | "id" | "campaignId">;

const keys = (rows: readonly Handed[]) => sql`unnest(
  ${rows.map((row) => row.projectId)}::uuid[], ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.campaignId)}::uuid[]
) as i (project_id, id, campaign_id)`;

/**
 * Gives back what the database says this sender has in hand: it may be a state from before that was claimed or ended. Whoever still
 * has one in hand is told no at the handover check.
 */
export async function giveBackAll(tx: Tx, senderId: string): Promise<void> {
  await sql`update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status = 'CLAIMED'`.execute(tx);
}

/**
 * Mails that wait, or are in whosoever's hands, are in this sender's again; recipients who wait in batches get rows for it. Returns
 * the ids: what the database had forgotten, and what it knows to be on its way.
 */
export async function takeBack(
  tx: Tx,
  senderId: string,
  rows: readonly Handed[],
  contactIfThere: ContactIfThere,
): Promise<Set<string>> {
  const ofCampaigns = rows.filter(({ campaignId }) => campaignId !== null);
  const byProject = Map.groupBy(ofCampaigns, (row) => row.projectId);
  // In one order everywhere, as all that is locked.
  for (const projectId of [...byProject.keys()].toSorted())
    await takeOutRecipients(
      tx,
      projectId,
      { by: "id", ids: byProject.get(projectId)?.map(({ id }) => id) ?? [] },
      contactIfThere,
    );
  const { rows: taken } = await sql<{ id: string }>`
    update emails e set status = 'CLAIMED', sender_id = ${senderId}::uuid, due_at = now(), reason = null
    from ${keys(rows)}
    where e.project_id = i.project_id and e.id = i.id and e.status in ('QUEUED', 'CLAIMED')
    returning e.id`.execute(tx);
  return new Set(taken.map(({ id }) => id));
}

/** Which of these have no row at all: with them the call that queued them is gone, or the start of their campaign. */
export async function listWithoutRow(tx: Tx, rows: readonly Handed[]): Promise<Set<string>> {
  const { rows: gone } = await sql<{ id: string }>`
    select i.id from ${keys(rows)}
    where not exists (select 1 from emails e where e.project_id = i.project_id and e.id = i.id)
      and exists (select 1 from project_queues p where p.project_id = i.project_id)`.execute(tx);
  return new Set(gone.map(({ id }) => id));
}

/**
 * Whether every sender that lived knows of the database as it is now: one that has not come by yet may remember handovers that the
 * database forgot. Whoever has not after so many seconds is taken for dead.
 */
export async function haveAllCome(database: Database, graceSeconds: number): Promise<boolean> {
  const { rows } = await sql<{ allCame: boolean }>`
    select i.incarnation_since < now() - make_interval(secs => ${graceSeconds})
      or not exists (select 1 from senders s where s.incarnation < i.incarnation) as all_came
    from installation i`.execute(database);
  return rows[0]?.allCame ?? true;
}
