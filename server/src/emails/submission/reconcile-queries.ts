// Restores emails to the sender that submitted them after the database lost their latest state.
import { sql } from "kysely";
import type { Tx } from "../../platform/database/database.ts";
import { takeOutRecipients } from "../outbox/batch-queries.ts";
import type { ContactsThere } from "../rows/recipients.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

type Handed = Pick<ClaimedRow, "projectId" | "id" | "campaignId">;

const keys = (rows: readonly Handed[]) => sql`unnest(
  ${rows.map((row) => row.projectId)}::uuid[], ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.campaignId)}::uuid[]
) as i (project_id, id, campaign_id)`;

/**
 * Requeues all emails that the database assigns to this sender, because its data may predate their claim or end. An email that the sender
 * is still processing fails the pre-send check.
 */
export async function requeueAll(tx: Tx, senderId: string): Promise<void> {
  await sql`update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status = 'CLAIMED'`.execute(tx);
}

/**
 * Assigns queued and claimed emails to this sender, even if another sender held them. Recipients in batches get rows first. Returns the ids
 * of these emails, including ones whose state was correct.
 */
export async function takeBack(
  tx: Tx,
  senderId: string,
  rows: readonly Handed[],
  contactsThere: ContactsThere,
): Promise<Set<string>> {
  const ofCampaigns = rows.filter(({ campaignId }) => campaignId !== null);
  const byProject = Map.groupBy(ofCampaigns, (row) => row.projectId);
  // Sorted, like all locks, to prevent deadlocks.
  for (const projectId of [...byProject.keys()].toSorted())
    await takeOutRecipients(
      tx,
      projectId,
      { by: "id", ids: byProject.get(projectId)?.map(({ id }) => id) ?? [] },
      contactsThere,
    );
  const { rows: taken } = await sql<{ id: string }>`
    update emails e set status = 'CLAIMED', sender_id = ${senderId}::uuid, due_at = now(), reason = null
    from ${keys(rows)}
    where e.project_id = i.project_id and e.id = i.id and e.status in ('QUEUED', 'CLAIMED')
    returning e.id`.execute(tx);
  return new Set(taken.map(({ id }) => id));
}

/** Returns emails without a row. The database lost the call that queued them or the start of their campaign. */
export async function listWithoutRow(tx: Tx, rows: readonly Handed[]): Promise<Set<string>> {
  const { rows: gone } = await sql<{ id: string }>`
    select i.id from ${keys(rows)}
    where not exists (select 1 from emails e where e.project_id = i.project_id and e.id = i.id)
      and exists (select 1 from project_queues p where p.project_id = i.project_id)`.execute(tx);
  return new Set(gone.map(({ id }) => id));
}
