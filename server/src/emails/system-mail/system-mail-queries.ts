// Statements on system mail alone; in the outbox it is claimed, handed over and booked by those of all other mail.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database.ts";
import { SYSTEM_CONTENT_ID, SYSTEM_PROJECT_ID } from "./system-project.ts";

export interface NewSystemMailRow {
  id: string;
  priority: number;
  to: string;
  subject: string;
  variables: string;
}

export async function insertSystemMails(tx: Tx, mails: readonly NewSystemMailRow[]): Promise<void> {
  await sql`
    insert into emails (project_id, content_id, id, priority, to_address, subject, variables)
    select ${SYSTEM_PROJECT_ID}::uuid, ${SYSTEM_CONTENT_ID}::uuid, * from unnest(
      ${mails.map((mail) => mail.id)}::uuid[],
      ${mails.map((mail) => mail.priority)}::smallint[],
      ${mails.map((mail) => mail.to)}::text[],
      ${mails.map((mail) => mail.subject)}::text[],
      ${mails.map((mail) => mail.variables)}::jsonb[]
    )`.execute(tx);
}

/** What the last attempt was told stands at the mail when it was sent, and otherwise as the reason why it was not. */
export async function findSystemMailState(database: Database, id: string) {
  const { rows } = await sql<{ status: string; answer: string | null; transport: string | null }>`
    select case when sent_at is null then status else 'SENT' end as status, coalesce(answer, reason) as answer, transport
    from emails where project_id = ${SYSTEM_PROJECT_ID} and id = ${id}`.execute(database);
  return rows[0];
}

/** Deletes what came to an end and was queued so many days ago. */
export async function deleteOldSystemMails(database: Database, days: number): Promise<void> {
  await sql`
    delete from emails
    where project_id = ${SYSTEM_PROJECT_ID} and status not in ('QUEUED', 'CLAIMED')
      and created_at < now() - make_interval(days => ${days}::integer)`.execute(database);
}
