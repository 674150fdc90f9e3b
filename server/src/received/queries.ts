// SQL statements on `received_emails`.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { authentication } from "@postloft/contract/received-emails.ts";
import { sql, type RawBuilder, type SqlBool } from "kysely";
import type { z } from "zod";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { containing, type PageRequest } from "../platform/http/page.ts";

export type Authentication = z.output<typeof authentication>;

export interface NewReceived extends Row<
  "received_emails",
  | "projectId"
  | "id"
  | "contactId"
  | "threadId"
  | "emailId"
  | "recipient"
  | "fromAddress"
  | "fromName"
  | "replyTo"
  | "subject"
  | "messageId"
> {
  referenceIds: readonly string[];
  raw: Buffer;
  authentication: Authentication | null;
}

/** Inserts messages. An id that exists is skipped, because a notice brings one message. */
export async function insertReceived(tx: Tx, rows: readonly NewReceived[]): Promise<void> {
  await sql`
    insert into received_emails (project_id, id, contact_id, thread_id, email_id, recipient, from_address, from_name, reply_to,
      subject, message_id, reference_ids, raw, authentication)
    select project_id, id, contact_id, thread_id, email_id, recipient, from_address, from_name, reply_to,
      subject, message_id, array(select jsonb_array_elements_text(reference_ids)), raw, authentication
    from unnest(
      ${rows.map((row) => row.projectId)}::uuid[],
      ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.contactId)}::uuid[],
      ${rows.map((row) => row.threadId)}::uuid[],
      ${rows.map((row) => row.emailId)}::uuid[],
      ${rows.map((row) => row.recipient)}::text[],
      ${rows.map((row) => row.fromAddress)}::text[],
      ${rows.map((row) => row.fromName)}::text[],
      ${rows.map((row) => row.replyTo)}::text[],
      ${rows.map((row) => row.subject)}::text[],
      ${rows.map((row) => row.messageId)}::text[],
      ${rows.map((row) => JSON.stringify(row.referenceIds))}::jsonb[],
      ${rows.map((row) => row.raw)}::bytea[],
      ${rows.map(({ authentication: checks }) => (checks === null ? null : JSON.stringify(checks)))}::jsonb[]
    ) as i (project_id, id, contact_id, thread_id, email_id, recipient, from_address, from_name, reply_to,
      subject, message_id, reference_ids, raw, authentication)
    on conflict (project_id, id) do nothing`.execute(tx);
}

interface InProject {
  projectId: string;
  value: string;
}

const asTable = (keys: readonly InProject[]) =>
  sql`unnest(${keys.map(({ projectId }) => projectId)}::uuid[], ${keys.map(({ value }) => value)}::text[]) as i (project_id, value)`;

/** Returns the threads of received emails by project and Message-ID. */
export async function findThreads(tx: Tx, messageIds: readonly InProject[]) {
  const { rows } = await sql<InProject & { threadId: string }>`
    select r.project_id, r.message_id as value, min(r.thread_id::text)::uuid as thread_id
    from ${asTable(messageIds)}
    join received_emails r on r.project_id = i.project_id and r.message_id = i.value
    group by 1, 2`.execute(tx);
  return rows;
}

/** Returns which of these emails exist in their projects. */
export async function findEmailsById(tx: Tx, ids: readonly InProject[]) {
  const { rows } = await sql<InProject & { id: string }>`
    select e.project_id, i.value, e.id
    from ${asTable(ids)} join emails e on e.project_id = i.project_id and e.id = i.value::uuid`.execute(tx);
  return rows;
}

/** Returns the emails with these ids of an external sending service. */
export async function findEmailsByProviderId(tx: Tx, ids: readonly InProject[]) {
  const { rows } = await sql<InProject & { id: string }>`
    select e.project_id, e.provider_message_id as value, e.id from emails e
    where e.provider_message_id = any(${ids.map(({ value }) => value)}::text[])
      and e.project_id = any(${ids.map(({ projectId }) => projectId)}::uuid[])`.execute(tx);
  return rows;
}

/** A Message-ID that a message references, with the address that wrote the message. */
export interface Referenced extends InProject {
  from: string;
}

/** Returns the emails that programs submitted with these Message-IDs, preferably the one to the address that wrote. */
export async function findEmailsBySubmittedId(tx: Tx, references: readonly Referenced[]) {
  const { rows } = await sql<Referenced & { id: string }>`
    select distinct on (i.project_id, i.value, i.from_address) i.project_id, i.value, i.from_address as "from", e.id
    from unnest(
      ${references.map(({ projectId }) => projectId)}::uuid[],
      ${references.map(({ value }) => value)}::text[],
      ${references.map(({ from }) => from)}::text[]
    ) as i (project_id, value, from_address)
    join emails e on e.project_id = i.project_id and e.submitted_message_id = i.value
    order by i.project_id, i.value, i.from_address, e.to_address = i.from_address desc, e.id desc`.execute(
    tx,
  );
  return rows;
}

const ITEM = sql`r.id, r.contact_id, r.thread_id, r.email_id, r.recipient, r.from_address, r.from_name, r.subject, r.message_id,
  r.authentication, r.received_at, octet_length(r.raw)::float8 as size_bytes`;

export interface ReceivedRow extends Row<
  "received_emails",
  | "id"
  | "contactId"
  | "threadId"
  | "emailId"
  | "recipient"
  | "fromAddress"
  | "fromName"
  | "subject"
  | "messageId"
  | "receivedAt"
> {
  sizeBytes: number;
  authentication: Authentication | null;
}

export interface ReceivedFilter {
  /** The address of the contact that wrote. */
  from?: string | undefined;
  contactId?: string | undefined;
  threadId?: string | undefined;
  /** A part of the subject. */
  subject?: string | undefined;
}

/** Whether the email `r` matches a filter without a subject. */
function matches(projectId: string, { from, contactId, threadId }: ReceivedFilter): RawBuilder<SqlBool> {
  const conditions = [sql<SqlBool>`r.project_id = ${projectId}`];
  if (contactId !== undefined) conditions.push(sql`r.contact_id = ${contactId}`);
  if (threadId !== undefined) conditions.push(sql`r.thread_id = ${threadId}`);
  if (from !== undefined)
    conditions.push(
      sql`r.contact_id = (select c.id from contacts c where c.project_id = ${projectId} and c.email = ${from})`,
    );
  return sql`${sql.join(conditions, sql` and `)}`;
}

const hasSubject = (subject: string | undefined): RawBuilder<SqlBool> =>
  subject === undefined ? sql`true` : sql`r.subject ilike ${containing(subject)}`;

/** Returns one row more than the page has. A search reads up to a limit of the newest emails, because no index finds parts of texts. */
export async function listReceivedRows(
  database: Database,
  projectId: string,
  filter: ReceivedFilter,
  { limit, before }: PageRequest,
): Promise<ReceivedRow[]> {
  const most = filter.subject === undefined ? limit + 1 : LIMITS.receivedSearched.value;
  const { rows } = await sql<ReceivedRow>`
    select * from (
      select ${ITEM} from received_emails r
      where ${matches(projectId, filter)} and ${before === null ? sql`true` : sql`r.id < ${before}`}
      order by r.id desc limit ${most}
    ) r
    where ${hasSubject(filter.subject)}
    order by r.id desc limit ${limit + 1}`.execute(database);
  return rows;
}

/** Returns how many emails match. A search counts among as many emails as it reads. */
export async function countReceived(
  database: Database,
  projectId: string,
  filter: ReceivedFilter,
): Promise<number> {
  const most = filter.subject === undefined ? null : LIMITS.receivedSearched.value;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select r.subject from received_emails r where ${matches(projectId, filter)} order by r.id desc limit ${most}
    ) r
    where ${hasSubject(filter.subject)}`.execute(database);
  return rows[0]?.count ?? 0;
}

export interface WholeRow extends ReceivedRow, Row<"received_emails", "replyTo" | "referenceIds"> {
  raw: Buffer;
}

export async function findReceived(
  database: Database,
  projectId: string,
  id: string,
): Promise<WholeRow | undefined> {
  const { rows } = await sql<WholeRow>`
    select ${ITEM}, r.reply_to, r.reference_ids, r.raw from received_emails r
    where r.project_id = ${projectId} and r.id = ${id}`.execute(database);
  return rows[0];
}

/** Returns whether the email existed. */
export async function deleteReceivedRow(tx: Tx, projectId: string, id: string): Promise<boolean> {
  const { numAffectedRows } =
    await sql`delete from received_emails where project_id = ${projectId} and id = ${id}`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** Deletes up to `limit` emails with ids below this one. Returns how many there were. */
export async function deleteOldReceived(
  tx: Tx,
  projectId: string,
  belowId: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from received_emails where project_id = ${projectId} and id in (
      select id from received_emails where project_id = ${projectId} and id < ${belowId} order by id limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}
