// Pieces of statements that say where a mail stands, from its row and the row of its sender.
import { sql, type RawBuilder } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { isCluster } from "../../platform/database/cluster.ts";
import type { Tx } from "../../platform/database/database.ts";

/** Whether email `e` has passed the pre-send check and its result is not recorded yet. */
export const isBeingSubmitted = sql<boolean>`(e.status = 'CLAIMED' and (e.sender_id, e.id) in (
  select s.id, unnest(s.in_doubt) from senders s))`;

/**
 * The same for a statement about one project on a cluster, with the rows of the senders read before. The caller has locked the emails, so none
 * passes the check in between.
 */
export async function isBeingSubmittedIn(tx: Tx): Promise<RawBuilder<boolean>> {
  if (!(await isCluster(tx))) return isBeingSubmitted;
  const { rows } = await sql<{ held: string }>`
    select s.id::text || unnest(s.in_doubt)::text as held from senders s`.execute(tx);
  return sql`(e.status = 'CLAIMED' and e.sender_id::text || e.id::text = any(${rows.map(({ held }) => held)}::text[]))`;
}

/** Returns the visible status of email `e`. It is *SENDING* while the email is in submission, which only the sender's row shows. */
export const visibleStatus = (isSending: RawBuilder<boolean>): RawBuilder<EmailStatus> =>
  sql<EmailStatus>`case when ${isSending} then 'SENDING' else e.status end`;

/** The visible status of email `e`, by the row of its sender. */
export const statusOfEmail = visibleStatus(isBeingSubmitted);
