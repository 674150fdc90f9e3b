// Statements on `notices`, the inbox of what comes back.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import { notify } from "../platform/notify.ts";

export type NoticeSource = "sns" | "smtp";

export interface NewNotice {
  id: string;
  source: NoticeSource;
  providerId: string;
  raw: Buffer;
  sender: string | null;
  recipient: string | null;
  /** When whoever tells it says it was told; null: now. */
  toldAt: Date | null;
}

/**
 * Stores notices that are not known yet and neither older than `maxAgeSeconds` nor from the future, by the clock of the
 * database; returns that clock, and which were stored.
 */
export async function insertNotices(
  database: Database,
  notices: readonly NewNotice[],
  { maxAgeSeconds, maxAheadSeconds }: { maxAgeSeconds: number; maxAheadSeconds: number },
): Promise<{ now: Date; ids: Set<string> }> {
  const { rows } = await sql<{ now: Date; ids: string[] | null }>`
    with stored as (
      insert into notices (id, source, provider_id, raw, sender, recipient)
      select id, source, provider_id, raw, sender, recipient from unnest(
        ${notices.map((notice) => notice.id)}::uuid[],
        ${notices.map((notice) => notice.source)}::text[],
        ${notices.map((notice) => notice.providerId)}::text[],
        ${notices.map((notice) => notice.raw)}::bytea[],
        ${notices.map((notice) => notice.sender)}::text[],
        ${notices.map((notice) => notice.recipient)}::text[],
        ${notices.map((notice) => notice.toldAt?.toISOString() ?? null)}::timestamptz[]
      ) as i (id, source, provider_id, raw, sender, recipient, told_at)
      where told_at is null or told_at between now() - make_interval(secs => ${maxAgeSeconds})
        and now() + make_interval(secs => ${maxAheadSeconds})
      on conflict (source, provider_id) do nothing
      returning id
    )
    select now() as now, (select array_agg(id) from stored) as ids`.execute(database);
  const ids = new Set(rows[0]?.ids ?? []);
  if (ids.size > 0) notify(database, "notices");
  return { now: rows[0]?.now ?? new Date(Number.NaN), ids };
}

export interface NoticeRow {
  id: string;
  source: NoticeSource;
  /** What SNS told is text; a message is bytes. */
  text: string | null;
  raw: Buffer | null;
  sender: string | null;
  recipient: string | null;
  failures: number;
  ageSeconds: number;
}

/** Bytes of messages over SMTP that nobody has read yet. */
export async function sumUnreadBytes(database: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(raw)), 0)::float8 as bytes from notices
    where source = 'smtp' and done_at is null`.execute(database);
  return rows[0]?.bytes ?? 0;
}

/** Whether any waits to be gone through. */
export async function hasDueNotices(database: Database): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select exists (select 1 from notices where done_at is null and due_at <= now()) as is_due`.execute(
    database,
  );
  return rows[0]?.isDue === true;
}

/** Takes notices that are due; they are this transaction's until it ends. `ids` narrows it to these. */
export async function claimNotices(
  tx: Tx,
  source: NoticeSource,
  limit: number,
  ids: readonly string[] | null,
): Promise<NoticeRow[]> {
  const among = ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`;
  const { rows } = await sql<NoticeRow>`
    select id, source, case when source = 'sns' then convert_from(raw, 'UTF8') end as text,
      case when source = 'smtp' then raw end as raw, sender, recipient, failures,
      extract(epoch from now() - received_at)::float8 as age_seconds
    from notices
    where source = ${source} and done_at is null and due_at <= now() ${among}
    order by due_at limit ${limit}
    for update skip locked`.execute(tx);
  return rows;
}

export interface NoticeEnd {
  id: string;
  /** null: not yet, look again after `waitSeconds`. */
  result: string | null;
  /** Whether what it said stays, for somebody to read. */
  isKept: boolean;
  waitSeconds: number;
}

/** Notes what notices meant and erases what they said, unless a person is to read it; or when to look at them again. */
export async function updateNotices(tx: Tx, ends: readonly NoticeEnd[]): Promise<void> {
  await sql`
    update notices n set
      done_at = case when i.result is not null then now() end,
      raw = case when i.is_kept then n.raw end,
      sender = case when i.is_kept then n.sender end,
      recipient = case when i.is_kept then n.recipient end,
      result = i.result,
      due_at = now() + make_interval(secs => i.wait_seconds)
    from unnest(
      ${ends.map((end) => end.id)}::uuid[],
      ${ends.map((end) => end.result)}::text[],
      ${ends.map((end) => end.isKept)}::boolean[],
      ${ends.map((end) => end.waitSeconds)}::float8[]
    ) as i (id, result, is_kept, wait_seconds)
    where n.id = i.id`.execute(tx);
}

/** Counts a failure; at the last one the notice is given up and kept as it is, for a person to look at. */
export async function updateFailedNotice(
  database: Database,
  failure: { id: string; reason: string; maxFailures: number; firstWaitSeconds: number },
): Promise<void> {
  await sql`
    update notices set
      failures = failures + 1,
      done_at = case when failures + 1 >= ${failure.maxFailures}::integer then now() end,
      result = ${failure.reason},
      due_at = now() + make_interval(secs => ${failure.firstWaitSeconds} * power(2, failures))
    where id = ${failure.id} and done_at is null`.execute(database);
}

/** Deletes what was done by those with ids below this one. */
export async function deleteDoneNotices(database: Database, belowId: string): Promise<void> {
  await sql`delete from notices where id < ${belowId} and done_at is not null`.execute(database);
}

/** Deletes those below this id of which nothing came. */
export async function deleteIgnoredNotices(database: Database, belowId: string): Promise<void> {
  await sql`
    delete from notices
    where id < ${belowId} and (result like 'ignored: %' or result = 'no such project') and done_at is not null`.execute(
    database,
  );
}
