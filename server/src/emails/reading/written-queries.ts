// Query for the content and recipient of an email.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { ListKind } from "../../message/message-headers.ts";

export async function findWritten(database: Database, projectId: string, id: string) {
  const { rows } = await sql<{
    id: string;
    contactId: string | null;
    campaignId: string | null;
    priority: number;
    toAddress: string;
    toName: string | null;
    copies: unknown;
    isTest: boolean | null;
    variables: unknown;
    sentAt: Date | null;
    scheduledFor: Date | null;
    isForgotten: boolean;
    subject: string;
    html: string;
    text: string | null;
    raw: Buffer | null;
    fromAddress: string;
    fromName: string | null;
    replyTo: string | null;
    headers: unknown;
    listKind: ListKind | null;
  }>`
    select e.id, e.contact_id, e.campaign_id, e.priority, e.to_address, e.to_name, e.copies, e.is_test, e.variables, e.sent_at, e.scheduled_for,
      e.forgotten_at is not null as is_forgotten, c.subject, c.html, c.text, c.raw, c.from_address, c.from_name, c.reply_to, c.headers, c.list_kind
    from emails e join email_contents c on c.project_id = e.project_id and c.id = e.content_id
    where e.project_id = ${projectId} and e.id = ${id}`.execute(database);
  return rows[0];
}
