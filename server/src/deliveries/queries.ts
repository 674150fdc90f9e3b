// Statements on `notices`, the inbox of delivery reports.
import { sql } from "kysely";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Row } from "../platform/database/row.ts";
import { notify } from "../platform/notify.ts";
import type { SenderChecks } from "./sender-checks/proves-domain.ts";

export type NoticeSource = "sns" | "smtp";

export interface NewNotice extends Row<"notices", "id" | "providerId" | "sender" | "recipient"> {
  source: NoticeSource;
  raw: Buffer;
  /** The checks of the sender of a message to a project. */
  authentication?: SenderChecks | null;
  /** The project whose domain accepted it. */
  receiverId?: string | null;
  /** When the sender says it was sent; null means now. */
  toldAt: Date | null;
}

/**
 * Stores new notices that are neither older than `maxAgeSeconds` nor from the future, by the database's clock. Returns that clock and the
 * ids of the stored ones.
 */
export async function insertNotices(
  database: Database,
  notices: readonly NewNotice[],
  { maxAgeSeconds, maxAheadSeconds }: { maxAgeSeconds: number; maxAheadSeconds: number },
): Promise<{ now: Date; ids: Set<string> }> {
  const { rows } = await sql<{ now: Date; ids: string[] | null }>`
    with stored as (
      insert into notices (id, source, provider_id, raw, sender, recipient, authentication, receiver_id)
      select id, source, provider_id, raw, sender, recipient, authentication, receiver_id from unnest(
        ${notices.map((notice) => notice.id)}::uuid[],
        ${notices.map((notice) => notice.source)}::text[],
        ${notices.map((notice) => notice.providerId)}::text[],
        ${notices.map((notice) => notice.raw)}::bytea[],
        ${notices.map((notice) => notice.sender)}::text[],
        ${notices.map((notice) => notice.recipient)}::text[],
        ${notices.map(({ authentication: checks }) => (checks ? JSON.stringify(checks) : null))}::jsonb[],
        ${notices.map(({ receiverId }) => receiverId ?? null)}::uuid[],
        ${notices.map((notice) => notice.toldAt?.toISOString() ?? null)}::timestamptz[]
      ) as i (id, source, provider_id, raw, sender, recipient, authentication, receiver_id, told_at)
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

export interface NoticeRow extends Row<
  "notices",
  "id" | "raw" | "sender" | "recipient" | "receiverId" | "failures"
> {
  source: NoticeSource;
  /** SNS notices are text; SMTP messages are bytes. */
  text: string | null;
  authentication: SenderChecks | null;
  ageSeconds: number;
}

/** Returns the total bytes of unread SMTP messages. */
export async function sumUnreadBytes(database: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(raw)), 0)::float8 as bytes from notices
    where source = 'smtp' and done_at is null`.execute(database);
  return rows[0]?.bytes ?? 0;
}

/** Returns whether any notice is due. */
export async function hasDueNotices(database: Database): Promise<boolean> {
  const { rows } = await sql<{ isDue: boolean }>`
    select exists (select 1 from notices where done_at is null and due_at <= now()) as is_due`.execute(
    database,
  );
  return rows[0]?.isDue === true;
}

/**
 * Claims due notices until the transaction ends, optionally only those with the given `ids`. Leaves those after the one that exceeds
 * `mostBytes` for the next batch.
 */
export async function claimNotices(
  tx: Tx,
  source: NoticeSource,
  { limit, mostBytes }: { limit: number; mostBytes: number },
  ids: readonly string[] | null,
): Promise<NoticeRow[]> {
  const among = ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`;
  const { rows } = await sql<NoticeRow>`
    with due as materialized (
      select id, due_at, octet_length(raw) as bytes from notices
      where source = ${source} and done_at is null and due_at <= now() ${among}
      order by due_at, id limit ${limit}
      for update skip locked
    ), summed as materialized (
      select id, coalesce(sum(bytes) over (order by due_at, id rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from due
    )
    select n.id, n.source, case when n.source = 'sns' then convert_from(n.raw, 'UTF8') end as text,
      case when n.source = 'smtp' then n.raw end as raw, n.sender, n.recipient, n.authentication, n.receiver_id, n.failures,
      extract(epoch from now() - n.received_at)::float8 as age_seconds
    from notices n
    where n.id in (select s.id from summed s where s.bytes_before < ${mostBytes}::float8)
    order by n.due_at, n.id`.execute(tx);
  return rows;
}

export interface NoticeEnd {
  id: string;
  /** null: not done, retry after `waitSeconds`. */
  result: string | null;
  /** Whether the content is kept for a person to read. */
  isKept: boolean;
  waitSeconds: number;
}

/** Records results and erases contents that no person needs to read, or schedules the next attempt. */
export async function updateNotices(tx: Tx, ends: readonly NoticeEnd[]): Promise<void> {
  await sql`
    update notices n set
      done_at = case when i.result is not null then now() end,
      raw = case when i.is_kept then n.raw end,
      sender = case when i.is_kept then n.sender end,
      recipient = case when i.is_kept then n.recipient end,
      authentication = case when i.is_kept then n.authentication end,
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

/** Counts a failure. After the last one the notice is done and keeps its content for a person to check. */
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

/** Deletes done notices with ids below this one. */
export async function deleteDoneNotices(database: Database, belowId: string): Promise<void> {
  await sql`delete from notices where id < ${belowId} and done_at is not null`.execute(database);
}

/** Deletes ignored notices with ids below this one. */
export async function deleteIgnoredNotices(database: Database, belowId: string): Promise<void> {
  await sql`
    delete from notices
    where id < ${belowId} and (result like 'ignored: %' or result = 'no such project') and done_at is not null`.execute(
    database,
  );
}
