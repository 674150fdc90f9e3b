// Queries on `emails`, their contents, files and attempts. The sender's queries are in sender-queries.ts.
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";
import { SUBJECT, TO_ADDRESS } from "../rows/shown-queries.ts";
import { statusOfEmail } from "../rows/status-queries.ts";

export interface ContentRow extends Row<
  "email_contents",
  | "projectId"
  | "id"
  | "fromAddress"
  | "fromName"
  | "replyTo"
  | "subject"
  | "html"
  | "text"
  | "listKind"
  | "tracked"
  | "locale"
  | "raw"
  | "messageId"
  | "usedUntil"
> {
  headers: string;
  attachments: string;
}

/** Inserts contents. The id is a hash of the content, so an existing row is already identical. */
export async function insertContents(tx: Tx, contents: readonly ContentRow[]): Promise<void> {
  const htmls = pack(contents.map(({ html }) => html));
  const texts = pack(contents.map(({ text }) => text));
  const raws = pack(contents.map(({ raw }) => raw));
  await sql`
    insert into email_contents (project_id, id, from_address, from_name, reply_to, subject, headers, attachments, list_kind,
      tracked, locale, message_id, used_until, html, text, raw)
    select project_id, id, from_address, from_name, reply_to, subject, headers, attachments, list_kind, tracked, locale, message_id, used_until,
           convert_from(substring(${htmls.bytes}::bytea from html_at for html_bytes), 'UTF8'),
           convert_from(substring(${texts.bytes}::bytea from text_at for text_bytes), 'UTF8'),
           substring(${raws.bytes}::bytea from raw_at for raw_bytes)
    from unnest(
      ${contents.map((content) => content.projectId)}::uuid[],
      ${contents.map((content) => content.id)}::uuid[],
      ${contents.map((content) => content.fromAddress)}::text[],
      ${contents.map((content) => content.fromName)}::text[],
      ${contents.map((content) => content.replyTo)}::text[],
      ${contents.map((content) => content.subject)}::text[],
      ${contents.map((content) => content.headers)}::jsonb[],
      ${contents.map((content) => content.attachments)}::jsonb[],
      ${contents.map((content) => content.listKind)}::text[],
      ${contents.map((content) => content.tracked)}::boolean[],
      ${contents.map((content) => content.locale)}::text[],
      ${contents.map((content) => content.messageId)}::text[],
      ${contents.map((content) => content.usedUntil.toISOString())}::timestamptz[],
      ${htmls.starts}::integer[], ${htmls.lengths}::integer[], ${texts.starts}::integer[], ${texts.lengths}::integer[],
      ${raws.starts}::integer[], ${raws.lengths}::integer[]
    ) as i (project_id, id, from_address, from_name, reply_to, subject, headers, attachments, list_kind, tracked, locale, message_id, used_until,
      html_at, html_bytes, text_at, text_bytes, raw_at, raw_bytes)
    on conflict (project_id, id) do nothing`.execute(tx);
}

/**
 * Packs long texts into one block of bytes that the database splits again. A text array would be escaped and parsed character by character.
 * Offsets start at 1, and a missing text has a null length.
 */
function pack(texts: ReadonlyArray<string | Buffer | null>) {
  const parts = texts.map((text) => (Buffer.isBuffer(text) ? text : Buffer.from(text ?? "")));
  const starts: number[] = [];
  let next = 1;
  for (const part of parts) {
    starts.push(next);
    next += part.length;
  }
  const lengths = parts.map((part, at) => (texts[at] === null ? null : part.length));
  return { bytes: Buffer.concat(parts), starts, lengths };
}

/** Returns the ids of contents that are already stored, so that their bytes need not be sent again. */
export async function findContentIds(
  tx: Tx,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select c.id from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_contents c on c.project_id = i.project_id and c.id = i.id`.execute(tx);
  return new Set(rows.map((row) => row.id));
}

export async function insertFile(
  tx: Tx,
  file: { projectId: string; id: string; bytes: Buffer; usedUntil: Date },
): Promise<void> {
  await tx
    .insertInto("email_files")
    .values(file)
    .onConflict((conflict) => conflict.columns(["projectId", "id"]).doNothing())
    .execute();
}

export interface NewEmailRow extends Row<
  "emails",
  | "projectId"
  | "id"
  | "contactId"
  | "contentId"
  | "templateId"
  | "campaignId"
  | "workflowId"
  | "workflowStepId"
  | "priority"
  | "toAddress"
  | "toName"
> {
  fromPublicKey: "FIRST" | "LATER" | null;
  copies: string | null;
  variables: string | null;
  scheduledFor: string | null;
  tags: string | null;
  metadata: string | null;
  isTest: true | null;
  staysHere: true | null;
  submittedMessageId: string | null;
}

export async function insertEmails(tx: Tx, emails: readonly NewEmailRow[]): Promise<void> {
  await sql`
    insert into emails (project_id, id, contact_id, content_id, template_id, campaign_id, workflow_id, workflow_step_id, from_public_key, priority,
      to_address, to_name, copies, variables, tags, metadata, is_test, stays_here, scheduled_for, submitted_message_id, due_at)
    select i.*, coalesce(i.scheduled_for, now()) from unnest(
      ${emails.map((email) => email.projectId)}::uuid[],
      ${emails.map((email) => email.id)}::uuid[],
      ${emails.map((email) => email.contactId)}::uuid[],
      ${emails.map((email) => email.contentId)}::uuid[],
      ${emails.map((email) => email.templateId)}::uuid[],
      ${emails.map((email) => email.campaignId)}::uuid[],
      ${emails.map((email) => email.workflowId)}::uuid[],
      ${emails.map((email) => email.workflowStepId)}::uuid[],
      ${emails.map((email) => email.fromPublicKey)}::text[],
      ${emails.map((email) => email.priority)}::smallint[],
      ${emails.map((email) => email.toAddress)}::text[],
      ${emails.map((email) => email.toName)}::text[],
      ${emails.map((email) => email.copies)}::jsonb[],
      ${emails.map((email) => email.variables)}::jsonb[],
      ${emails.map((email) => email.tags)}::jsonb[],
      ${emails.map((email) => email.metadata)}::jsonb[],
      ${emails.map((email) => email.isTest)}::boolean[],
      ${emails.map((email) => email.staysHere)}::boolean[],
      ${emails.map((email) => email.scheduledFor)}::timestamptz[],
      ${emails.map((email) => email.submittedMessageId)}::text[]
    ) as i (project_id, id, contact_id, content_id, template_id, campaign_id, workflow_id, workflow_step_id, from_public_key, priority,
      to_address, to_name, copies, variables, tags, metadata, is_test, stays_here, scheduled_for, submitted_message_id)`.execute(
    tx,
  );
  notify(tx, "emails");
}

const LIST_COLUMNS = [
  "e.id",
  "e.contactId",
  "e.campaignId",
  "e.workflowId",
  "e.priority",
  "e.reason",
  "e.attempts",
  "e.dueAt",
  "e.scheduledFor",
  "e.createdAt",
  "e.sentAt",
  "e.tags",
  "e.metadata",
  "e.forgottenAt",
  "c.fromAddress",
  "c.fromName",
] as const;
const SHOWN = [TO_ADDRESS.as("toAddress"), SUBJECT.as("subject"), statusOfEmail.as("status")] as const;

export async function findEmail(database: Database, projectId: string, id: string) {
  return database
    .selectFrom("emails as e")
    .innerJoin("email_contents as c", (join) =>
      join.onRef("c.projectId", "=", "e.projectId").onRef("c.id", "=", "e.contentId"),
    )
    .select([...LIST_COLUMNS, ...SHOWN, "e.copies", "e.transport", "e.answer", "e.providerMessageId"])
    .select(["c.replyTo", "c.html", "c.attachments", "c.raw", "c.messageId", "c.locale"])
    .where("e.projectId", "=", projectId)
    .where("e.id", "=", id)
    .executeTakeFirst();
}

export async function listAttempts(database: Database, projectId: string, emailId: string) {
  return database
    .selectFrom("email_attempts")
    .select(["attempt", "outcome", "answer", "transport", "createdAt"])
    .where("projectId", "=", projectId)
    .where("emailId", "=", emailId)
    .orderBy("attempt")
    .execute();
}
