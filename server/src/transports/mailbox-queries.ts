// SQL statements on `mailbox_messages`.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { containing } from "../platform/http/page.ts";

export interface NewMessage extends Row<
  "mailbox_messages",
  "projectId" | "id" | "emailId" | "subject" | "raw"
> {
  from: string;
  recipients: readonly string[];
}

/** Stores messages. Skips a message stored by an earlier attempt with a lost result, because both are identical. */
export async function insertMessages(database: Database, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await sql`
    insert into mailbox_messages (project_id, id, email_id, from_address, recipients, subject, raw)
    select project_id, id, email_id, from_address, array(select jsonb_array_elements_text(recipients)), subject, raw from unnest(
      ${messages.map((message) => message.projectId)}::uuid[],
      ${messages.map((message) => message.id)}::uuid[],
      ${messages.map((message) => message.emailId)}::uuid[],
      ${messages.map((message) => message.from)}::text[],
      ${messages.map((message) => JSON.stringify(message.recipients))}::jsonb[],
      ${messages.map((message) => message.subject)}::text[],
      ${messages.map((message) => message.raw)}::bytea[]
    ) as i (project_id, id, email_id, from_address, recipients, subject, raw)
    on conflict (project_id, email_id) do nothing`.execute(database);
}

const ITEM = sql<MessageRow>`id, email_id, from_address, recipients[1] as to_address, subject, received_at, octet_length(raw)::float8 as size_bytes`;

export interface MessageRow extends Row<
  "mailbox_messages",
  "id" | "emailId" | "fromAddress" | "subject" | "receivedAt"
> {
  toAddress: string;
  sizeBytes: number;
}

const toFilter = (to: string | undefined) =>
  to === undefined ? sql`true` : sql`recipients @> array[${to.trim().toLowerCase()}]`;

export interface MessageFilter {
  /** Matches one of the recipients. */
  to?: string | undefined;
  /** Matches text in the subject or an address. */
  search?: string | undefined;
}

/**
 * Returns the messages that match a filter. A search covers only the newest messages up to a limit because no index supports substring
 * search.
 */
function found(projectId: string, { to, search }: MessageFilter, before: string | null) {
  const below = before === null ? sql`true` : sql`id < ${before}`;
  const messages = sql`select * from mailbox_messages where project_id = ${projectId} and ${toFilter(to)} and ${below}`;
  if (search === undefined) return sql`(${messages}) m`;
  const pattern = containing(search);
  return sql`(
    select * from (${messages} order by id desc limit ${LIMITS.mailboxSearched.value}) newest
    where subject ilike ${pattern} or from_address ilike ${pattern} or array_to_string(recipients, ' ') ilike ${pattern}
  ) m`;
}

export async function listMessageRows(
  database: Database,
  projectId: string,
  filter: MessageFilter,
  page: { limit: number; before: string | null },
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${ITEM} from ${found(projectId, filter, page.before)}
    order by id desc limit ${page.limit + 1}`.execute(database);
  return rows;
}

export async function listMessagesWithRaw(
  database: Database,
  projectId: string,
  filter: MessageFilter,
  page: { limit: number; before: string | null },
): Promise<Array<MessageRow & { raw: Buffer }>> {
  const { rows } = await sql<MessageRow & { raw: Buffer }>`
    select ${ITEM}, raw from ${found(projectId, filter, page.before)}
    order by id desc limit ${page.limit + 1}`.execute(database);
  return rows;
}

export async function countMessages(
  database: Database,
  projectId: string,
  filter: MessageFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from ${found(projectId, filter, null)}`.execute(database);
  return rows[0]?.count ?? 0;
}

export async function findMessage(
  database: Database,
  projectId: string,
  id: string,
): Promise<(MessageRow & { raw: Buffer }) | undefined> {
  const { rows } = await sql<MessageRow & { raw: Buffer }>`
    select ${ITEM}, raw from mailbox_messages where project_id = ${projectId} and id = ${id}`.execute(
    database,
  );
  return rows[0];
}

export async function deleteAllMessages(tx: Tx, projectId: string): Promise<void> {
  await tx.deleteFrom("mailbox_messages").where("projectId", "=", projectId).execute();
}

/** Returns the message id of an email, if the mailbox has its message. */
export async function findMessageIdOfEmail(
  database: Database,
  projectId: string,
  emailId: string,
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from mailbox_messages where project_id = ${projectId} and email_id = ${emailId}`.execute(
    database,
  );
  return rows[0]?.id ?? null;
}

export async function deleteMessages(tx: Tx, projectId: string, emailIds: readonly string[]): Promise<void> {
  await sql`
    delete from mailbox_messages where project_id = ${projectId} and email_id = any(${emailIds}::uuid[])`.execute(
    tx,
  );
}

export async function deleteOldMessages(database: Database, projectId: string, days: number): Promise<void> {
  await sql`
    delete from mailbox_messages
    where project_id = ${projectId} and received_at < now() - make_interval(days => ${days}::integer)`.execute(
    database,
  );
}
