// Statements of the sender: which projects have work, claim, handover, outcome, and what a dead sender left behind.
// Claims name one project each: fairness wants it, and so does a sharded database (docs/decisions).
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database.ts";

export interface DueProject {
  project_id: string;
  priority: number;
}

/**
 * Projects that have mails due, once per priority, most urgent first. Mails of disabled projects stay where they are.
 * Ordered and limited so that it is one probe of the queue's index per project and priority: as a plain EXISTS the
 * planner reads every waiting mail to find the projects (200 projects, 150,000 due: 370 ms instead of 3 ms).
 */
export async function listDueProjects(database: Database): Promise<DueProject[]> {
  const { rows } = await sql<DueProject>`
    select p.id as project_id, k.priority
    from projects p
    cross join (values (1::smallint), (2::smallint), (3::smallint)) as k (priority)
    cross join lateral (
      select 1 from emails e
      where e.project_id = p.id and e.priority = k.priority and e.status = 'QUEUED' and e.due_at <= now()
      order by e.project_id, e.priority, e.due_at limit 1) due
    where not p.disabled
    order by k.priority`.execute(database);
  return rows;
}

export interface ClaimedRow {
  project_id: string;
  id: string;
  contact_id: string | null;
  content_id: string;
  priority: number;
  to_address: string;
  to_name: string | null;
  copies: unknown;
  variables: unknown;
  attempts: number;
}

export async function claimEmails(
  database: Database,
  claim: { senderId: string; projectId: string; priority: number; limit: number },
): Promise<ClaimedRow[]> {
  const { rows } = await sql<ClaimedRow>`
    update emails e set status = 'CLAIMED', sender_id = ${claim.senderId}
    from (
      select id from emails
      where project_id = ${claim.projectId} and priority = ${claim.priority} and status = 'QUEUED' and due_at <= now()
      order by due_at limit ${claim.limit}
      for update skip locked
    ) q
    where e.project_id = ${claim.projectId} and e.id = q.id
    returning e.project_id, e.id, e.contact_id, e.content_id, e.priority, e.to_address, e.to_name, e.copies, e.variables, e.attempts`.execute(
    database,
  );
  return rows;
}

export async function findContents(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
) {
  const { rows } = await sql<{
    project_id: string;
    id: string;
    from_address: string;
    from_name: string | null;
    reply_to: string | null;
    subject: string;
    html: string;
    text: string | null;
    headers: unknown;
    attachments: unknown;
  }>`
    select c.project_id, c.id, c.from_address, c.from_name, c.reply_to, c.subject, c.html, c.text, c.headers, c.attachments
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    join email_contents c on c.project_id = i.project_id and c.id = i.id`.execute(database);
  return rows;
}

export async function findFiles(
  database: Database,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, Buffer>> {
  const { rows } = await sql<{ id: string; bytes: Buffer }>`
    select id, bytes from email_files where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.id, row.bytes]));
}

/**
 * Commits "handover is imminent" for mails this sender still holds under a live lease, by the clock of the database;
 * answers those that are ours to send. Again for a mail whose first handover surely failed and goes another way.
 */
export async function markSending(
  database: Database,
  senderId: string,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    update emails e set status = 'SENDING'
    from unnest(${keys.map((key) => key.projectId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) as i (project_id, id)
    where e.project_id = i.project_id and e.id = i.id and e.status in ('CLAIMED', 'SENDING') and e.sender_id = ${senderId}
      and exists (select 1 from senders s where s.id = ${senderId} and s.lease_until > clock_timestamp())
    returning e.id`.execute(database);
  return new Set(rows.map((row) => row.id));
}

export interface OutcomeRow {
  projectId: string;
  id: string;
  status: "SENT" | "QUEUED" | "FAILED" | "UNCONFIRMED";
  reason: string | null;
  waitMs: number;
}

/** Ends an attempt for mails this sender holds; answers those it did hold. */
export async function updateOutcomes(tx: Tx, senderId: string, outcomes: readonly OutcomeRow[]) {
  const { rows } = await sql<{
    project_id: string;
    id: string;
    contact_id: string | null;
    status: string;
    attempts: number;
  }>`
    update emails e set
      status = i.status, reason = i.reason, attempts = e.attempts + 1, sender_id = null,
      due_at = now() + make_interval(secs => i.wait_ms / 1000),
      sent_at = case when i.status = 'SENT' then now() end
    from unnest(
      ${outcomes.map((outcome) => outcome.projectId)}::uuid[],
      ${outcomes.map((outcome) => outcome.id)}::uuid[],
      ${outcomes.map((outcome) => outcome.status)}::text[],
      ${outcomes.map((outcome) => outcome.reason)}::text[],
      ${outcomes.map((outcome) => outcome.waitMs)}::float8[]
    ) as i (project_id, id, status, reason, wait_ms)
    where e.project_id = i.project_id and e.id = i.id and e.sender_id = ${senderId} and e.status in ('CLAIMED', 'SENDING')
    returning e.project_id, e.id, e.contact_id, e.status, e.attempts`.execute(tx);
  return rows;
}

export async function insertAttempts(
  tx: Tx,
  attempts: ReadonlyArray<{
    projectId: string;
    emailId: string;
    attempt: number;
    outcome: string;
    answer: string;
  }>,
): Promise<void> {
  await sql`
    insert into email_attempts (project_id, email_id, attempt, outcome, answer)
    select * from unnest(
      ${attempts.map((attempt) => attempt.projectId)}::uuid[],
      ${attempts.map((attempt) => attempt.emailId)}::uuid[],
      ${attempts.map((attempt) => attempt.attempt)}::smallint[],
      ${attempts.map((attempt) => attempt.outcome)}::text[],
      ${attempts.map((attempt) => attempt.answer)}::text[]
    ) on conflict do nothing`.execute(tx);
}

/** Gives back what this sender holds beside these: claims whose answer was lost, gates that closed in between. */
export async function releaseUnknown(
  database: Database,
  senderId: string,
  known: readonly string[],
): Promise<number> {
  const result = await sql`
    update emails set status = 'QUEUED', sender_id = null
    where sender_id = ${senderId} and status in ('CLAIMED', 'SENDING')
      and not (id = any(${known}::uuid[]))`.execute(database);
  return Number(result.numAffectedRows ?? 0);
}

/** Gives back mails that were claimed and not touched. */
export async function releaseClaims(database: Database, senderId: string): Promise<void> {
  await sql`update emails set status = 'QUEUED', sender_id = null where sender_id = ${senderId} and status = 'CLAIMED'`.execute(
    database,
  );
}

export async function insertSender(
  database: Database,
  senderId: string,
  leaseSeconds: number,
): Promise<void> {
  await sql`insert into senders (id, lease_until) values (${senderId}, now() + make_interval(secs => ${leaseSeconds}))`.execute(
    database,
  );
}

/** Whether the lease could be renewed; false when the sender was declared dead. */
export async function renewLease(
  database: Database,
  senderId: string,
  leaseSeconds: number,
): Promise<boolean> {
  const result = await sql`
    update senders set lease_until = now() + make_interval(secs => ${leaseSeconds}) where id = ${senderId}`.execute(
    database,
  );
  return result.numAffectedRows === 1n;
}

/** Removes a sender that ended in order: it holds nothing any more. */
export async function deleteSender(database: Database, senderId: string): Promise<void> {
  await sql`delete from senders where id = ${senderId}
    and not exists (select 1 from emails where sender_id = ${senderId} and status in ('CLAIMED', 'SENDING'))`.execute(
    database,
  );
}

export async function listExpiredSenders(
  database: Database,
): Promise<Array<{ id: string; lease_until: Date }>> {
  return database
    .selectFrom("senders")
    .select(["id", "lease_until"])
    .where(sql<boolean>`lease_until < now()`)
    .execute();
}

/** Declares a sender dead if its lease is still the one that ran out; from here on it can hand over nothing. */
export async function deleteExpiredSender(
  tx: Tx,
  expired: { id: string; lease_until: Date },
): Promise<boolean> {
  const result = await sql`delete from senders where id = ${expired.id} and lease_until < now()`.execute(tx);
  return result.numAffectedRows === 1n;
}

/** What a dead sender had merely claimed goes back as if nothing had been. */
export async function requeueClaimed(tx: Tx, senderId: string): Promise<number> {
  const result =
    await sql`update emails set status = 'QUEUED', sender_id = null where sender_id = ${senderId} and status = 'CLAIMED'`.execute(
      tx,
    );
  return Number(result.numAffectedRows ?? 0);
}

export async function listSendingOf(tx: Tx, senderId: string) {
  return tx
    .selectFrom("emails")
    .select(["project_id", "id", "priority", "attempts"])
    .where("sender_id", "=", senderId)
    .where("status", "=", "SENDING")
    .execute();
}

/** How much waits and since when; counting stops at 10,000. */
export async function measureQueue(database: Database): Promise<{ due: number; oldest_seconds: number }> {
  const { rows } = await sql<{ due: number; oldest_seconds: number }>`
    select count(*)::float8 as due, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest_seconds
    from (select due_at from emails where status = 'QUEUED' and due_at <= now() limit 10000) q`.execute(
    database,
  );
  return rows[0] ?? { due: 0, oldest_seconds: 0 };
}
