// Pieces of statements that say where a mail stands, from its row and the row of its sender.
import { sql } from "kysely";
import type { EmailStatus } from "@postloft/contract/emails.ts";

/** Whether email `e` has passed the pre-send check and its result is not recorded yet. */
export const isBeingSubmitted = sql<boolean>`(e.status = 'CLAIMED' and (e.sender_id, e.id) in (
  select s.id, unnest(s.in_doubt) from senders s))`;

/** The visible status of email `e`. It is *SENDING* while the email is in submission, which only the sender's row shows. */
export const statusOfEmail = sql<EmailStatus>`case when ${isBeingSubmitted} then 'SENDING' else e.status end`;
