// Corrects counts after the fact, for deleted contacts, deleted event names, and emails found late to have been sent.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import { lockPosition, SENT_ID, upsertCounts } from "./count-queries.ts";
import { deleteNameCounts, upsertNameCounts } from "./name-count-queries.ts";

/** Subtracts the events and sent emails of contacts from the counts. Events deleted by retention stay counted. */
export async function subtractContacts(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const from = sql`(select kept_from from count_positions where project_id = ${projectId})`;
  const counted = {
    recorded: [sql`v.contact_id = any(${contactIds}::uuid[]) and v.id < ${position} and v.id >= ${from}`],
    sent: [
      sql`e.contact_id = any(${contactIds}::uuid[]) and ${SENT_ID} < ${position} and ${SENT_ID} >= ${from}`,
    ],
  };
  await upsertCounts(tx, projectId, counted, -1);
  // Emails before that id still exist as rows, so their name count includes them until now.
  const older = sql`e.contact_id = any(${contactIds}::uuid[]) and ${SENT_ID} < ${from}`;
  await upsertNameCounts(tx, projectId, { recorded: sql`false`, sent: older }, -1);
}

/** Adds emails that were found late to have been sent, if the counts are already past their time. */
export async function addLateSent(tx: Tx, projectId: string, emailIds: readonly string[]): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const counted = {
    recorded: [sql`false`],
    sent: [sql`e.id = any(${emailIds}::uuid[]) and ${SENT_ID} < ${position}`],
  };
  await upsertCounts(tx, projectId, counted, 1);
}

/** Removes all events of a name from the counts. */
export async function deleteCountsOfName(tx: Tx, projectId: string, name: string): Promise<void> {
  await lockPosition(tx, projectId);
  await sql`delete from event_counts where project_id = ${projectId} and name = ${name}`.execute(tx);
  await deleteNameCounts(tx, projectId, name);
}
