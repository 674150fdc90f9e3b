// Corrects counts after the fact, for deleted contacts, deleted event names, and emails found late to have been sent.
import { sql } from "kysely";
import type { Tx } from "../platform/database/database.ts";
import { lockPosition, SENT_ID, upsertEventCounts, upsertMailCounts, type Counted } from "./count-queries.ts";
import { deleteNameCounts, upsertNameCounts } from "./name-count-queries.ts";

/**
 * Subtracts the events of contacts from the counts before they are deleted. Sent emails still count, and `keepMailCounts` adds the events of
 * emails again. Events deleted by retention stay counted.
 */
export async function subtractContacts(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const from = keptFrom(projectId);
  const recorded = sql`v.contact_id = any(${contactIds}::uuid[]) and v.id < ${position} and v.id >= ${from}`;
  await upsertMailCounts(tx, projectId, { recorded: [recorded], sent: [sql`false`] }, { sign: -1 });
  await upsertEventCounts(tx, projectId, [recorded], -1);
  // Names count what lists show. Emails from before the kept events still exist as rows.
  const sent = sql`e.contact_id = any(${contactIds}::uuid[]) and ${SENT_ID} < ${position}`;
  await upsertNameCounts(tx, projectId, { recorded, sent }, -1);
}

/**
 * Counts the events of emails to these contacts as events of deleted contacts. Call it when no more of them can appear, in the transaction
 * that deletes them.
 */
export async function keepMailCounts(
  tx: Tx,
  projectId: string,
  contactIds: readonly string[],
): Promise<void> {
  const recorded = [sql`v.contact_id = any(${contactIds}::uuid[]) and v.id >= ${keptFrom(projectId)}`];
  await addOfDeleted(tx, projectId, { recorded, sent: [sql`false`] });
}

/** An event of an email to a contact that was deleted before. It is counted and not recorded. */
export interface EventOfDeleted {
  projectId: string;
  emailId: string;
  name: string;
  data: Readonly<Record<string, unknown>>;
}

/** Counts events of emails whose contact was deleted before. */
export async function countEventsOfDeleted(tx: Tx, events: readonly EventOfDeleted[]): Promise<void> {
  const byProject = Map.groupBy(events, ({ projectId }) => projectId);
  for (const projectId of [...byProject.keys()].toSorted()) {
    const own = byProject.get(projectId) ?? [];
    const rows = sql`(
      select ${projectId}::uuid as project_id, i.email_id, i.name, i.data, now() as created_at
      from unnest(
        ${own.map(({ emailId }) => emailId)}::uuid[], ${own.map(({ name }) => name)}::text[],
        ${own.map(({ data }) => JSON.stringify(data))}::jsonb[]
      ) as i (email_id, name, data))`;
    await addOfDeleted(tx, projectId, { recorded: [sql`true`], sent: [sql`false`], recordedIn: rows });
  }
}

/** The lock orders these transactions, which could otherwise insert the same new values or wait for each other's rows. */
async function addOfDeleted(tx: Tx, projectId: string, counted: Counted): Promise<void> {
  await lockPosition(tx, projectId);
  await upsertMailCounts(tx, projectId, counted, { sign: 1, ofDeleted: true });
}

const keptFrom = (projectId: string) =>
  sql`(select kept_from from count_positions where project_id = ${projectId})`;

/** Adds emails that were found late to have been sent, if the counts are already past their time. */
export async function addLateSent(tx: Tx, projectId: string, emailIds: readonly string[]): Promise<void> {
  const position = await lockPosition(tx, projectId);
  const sent = sql`e.id = any(${emailIds}::uuid[]) and ${SENT_ID} < ${position}`;
  await upsertMailCounts(tx, projectId, { recorded: [sql`false`], sent: [sent] }, { sign: 1 });
  await upsertNameCounts(tx, projectId, { recorded: sql`false`, sent }, 1);
}

/** Removes all events of a name from the counts. */
export async function deleteCountsOfName(tx: Tx, projectId: string, name: string): Promise<void> {
  await lockPosition(tx, projectId);
  await sql`delete from event_counts where project_id = ${projectId} and name = ${name}`.execute(tx);
  await deleteNameCounts(tx, projectId, name);
}
