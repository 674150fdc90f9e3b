// Queries on platform email. The outbox claims, submits and records it with the same queries as all other email.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import { notify } from "../../platform/notify.ts";
import { SYSTEM_CONTENT_ID, SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

export interface NewPlatformEmailRow {
  id: string;
  priority: number;
  to: string;
  subject: string;
  variables: string;
}

export async function insertPlatformEmails(tx: Tx, mails: readonly NewPlatformEmailRow[]): Promise<void> {
  await sql`
    insert into emails (project_id, content_id, id, priority, to_address, subject, variables)
    select ${SYSTEM_PROJECT_ID}::uuid, ${SYSTEM_CONTENT_ID}::uuid, * from unnest(
      ${mails.map((mail) => mail.id)}::uuid[],
      ${mails.map((mail) => mail.priority)}::smallint[],
      ${mails.map((mail) => mail.to)}::text[],
      ${mails.map((mail) => mail.subject)}::text[],
      ${mails.map((mail) => mail.variables)}::jsonb[]
    )`.execute(tx);
  notify(tx, "emails");
}

/**
 * Returns the status of a platform email and the latest reply. The reply is in `answer` if the email was sent and in `reason` otherwise.
 */
export async function findPlatformEmailState(database: Database, id: string) {
  const { rows } = await sql<{ status: string; answer: string | null; transport: string | null }>`
    select case when sent_at is null then status else 'SENT' end as status, coalesce(answer, reason) as answer, transport
    from emails where project_id = ${SYSTEM_PROJECT_ID} and id = ${id}`.execute(database);
  return rows[0];
}

/** Deletes ended emails that were queued more than `days` days ago. */
export async function deleteOldPlatformEmails(database: Database, days: number): Promise<void> {
  await sql`
    delete from emails
    where project_id = ${SYSTEM_PROJECT_ID} and status not in ('QUEUED', 'CLAIMED')
      and created_at < now() - make_interval(days => ${days}::integer)`.execute(database);
}
