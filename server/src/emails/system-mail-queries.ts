// Statements on `system_mails`. A mail is held by a sender as long as that sender's lease is there: what a gone sender held is free again.
// Before it: system-mail.ts, system-sender.ts. After it: nothing.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import { containing } from "../platform/page.ts";

export interface NewSystemMailRow {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

export async function insertSystemMails(tx: Tx, mails: readonly NewSystemMailRow[]): Promise<void> {
  await sql`
    insert into system_mails (id, to_address, subject, text, html)
    select * from unnest(
      ${mails.map((mail) => mail.id)}::uuid[],
      ${mails.map((mail) => mail.to)}::text[],
      ${mails.map((mail) => mail.subject)}::text[],
      ${mails.map((mail) => mail.text)}::text[],
      ${mails.map((mail) => mail.html)}::text[]
    )`.execute(tx);
}

export interface SystemMailRow {
  id: string;
  to_address: string;
  subject: string;
  text: string | null;
  html: string | null;
  attempts: number;
}

/** Ends what gone senders left in handover for the last time they may; answers the ids. */
export async function settleLostSystemMails(
  database: Database,
  maxAttempts: number,
  answer: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update system_mails m set status = 'UNCONFIRMED', sender_id = null, answer = ${answer}, ended_at = now(),
      text = null, html = null
    where m.status = 'SENDING' and m.attempts >= ${maxAttempts}
      and not exists (select 1 from senders s where s.id = m.sender_id)
    returning m.id`.execute(database);
  return rows.map((row) => row.id);
}

/** Claims mails that are due, and those of senders that are gone. An attempt counts from here on. */
export async function claimSystemMails(
  database: Database,
  senderId: string,
  limit: number,
): Promise<SystemMailRow[]> {
  const { rows } = await sql<SystemMailRow>`
    with q as materialized (
      select id from system_mails o
      where (o.status = 'QUEUED' and o.due_at <= now())
         or (o.status in ('CLAIMED', 'SENDING') and not exists (select 1 from senders s where s.id = o.sender_id))
      order by o.due_at limit ${limit}
      for update skip locked
    )
    update system_mails m set status = 'CLAIMED', sender_id = ${senderId},
      attempts = m.attempts + (m.status <> 'CLAIMED')::integer
    from q where m.id = q.id
    returning m.id, m.to_address, m.subject, m.text, m.html, m.attempts`.execute(database);
  return rows;
}

/** Commits "handover is imminent"; false when the mail is not this sender's any more. */
export async function markSystemMailSending(
  database: Database,
  senderId: string,
  id: string,
): Promise<boolean> {
  const result = await sql`
    update system_mails m set status = 'SENDING'
    where m.id = ${id} and m.status in ('CLAIMED', 'SENDING') and m.sender_id = ${senderId}
      and exists (select 1 from senders s where s.id = ${senderId} and s.lease_until > clock_timestamp())`.execute(
    database,
  );
  return result.numAffectedRows === 1n;
}

export interface SystemMailEnd {
  id: string;
  status: "SENT" | "QUEUED" | "FAILED" | "UNCONFIRMED";
  answer: string;
  transport: string;
  waitMs: number;
  /** Whether its text stays to be read. */
  isKept: boolean;
}

/** Ends an attempt of a mail this sender holds. A mail that comes to its end loses its text, unless that is kept to be read. */
export async function endSystemMail(database: Database, senderId: string, end: SystemMailEnd): Promise<void> {
  const isOver = end.status !== "QUEUED";
  const erased = isOver && !end.isKept ? { text: null, html: null } : {};
  await database
    .updateTable("system_mails")
    .set({
      status: end.status,
      answer: end.answer,
      transport: end.transport,
      sender_id: null,
      due_at: sql`now() + make_interval(secs => ${end.waitMs / 1000})`,
      ...(isOver ? { ended_at: sql`now()` } : {}),
      ...erased,
    })
    .where("id", "=", end.id)
    .where("sender_id", "=", senderId)
    .where("status", "in", ["CLAIMED", "SENDING"])
    .execute();
}

/**
 * After a failover: mails that the database forgot were handed over are this sender's again, in handover; what else it says this sender
 * claimed waits again. Returns the ids of the former.
 */
export async function takeBackSystemMails(
  tx: Tx,
  senderId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  await sql`
    update system_mails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status = 'CLAIMED' and not (id = any(${ids}::uuid[]))`.execute(tx);
  const { rows } = await sql<{ id: string }>`
    update system_mails set status = 'SENDING', sender_id = ${senderId}, due_at = now()
    where id = any(${ids}::uuid[]) and status in ('QUEUED', 'CLAIMED', 'SENDING')
    returning id`.execute(tx);
  return new Set(rows.map(({ id }) => id));
}

/** Gives back what this sender claimed and did not hand over. */
export async function releaseSystemMail(database: Database, senderId: string, id: string): Promise<void> {
  await sql`update system_mails set status = 'QUEUED', sender_id = null, attempts = attempts - 1
    where id = ${id} and sender_id = ${senderId} and status in ('CLAIMED', 'SENDING')`.execute(database);
}

/** Mails that the local mailbox took, with a text in the subject or the address where one is asked for. */
function kept(database: Database, search: string | undefined) {
  const query = database
    .selectFrom("system_mails")
    .where("status", "=", "SENT")
    .where("transport", "=", "mailbox");
  if (search === undefined) return query;
  const pattern = containing(search);
  return query.where((where) =>
    where.or([where("subject", "ilike", pattern), where("to_address", "ilike", pattern)]),
  );
}

/** Newest first. */
export async function listKeptSystemMails(
  database: Database,
  search: string | undefined,
  page: { limit: number; before: string | null },
) {
  const query = kept(database, search).select([
    "id",
    "to_address",
    "subject",
    "text",
    "html",
    "created_at",
    "ended_at",
  ]);
  return (page.before === null ? query : query.where("id", "<", page.before))
    .orderBy("id", "desc")
    .limit(page.limit + 1)
    .execute();
}

export async function countKeptSystemMails(database: Database, search: string | undefined): Promise<number> {
  const row = await kept(database, search)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function deleteOldSystemMails(database: Database, days: number): Promise<void> {
  await sql`delete from system_mails where ended_at < now() - make_interval(days => ${days}::integer)`.execute(
    database,
  );
}

export async function findSystemMailState(database: Database, id: string) {
  return database
    .selectFrom("system_mails")
    .select(["status", "answer", "transport"])
    .where("id", "=", id)
    .executeTakeFirst();
}
