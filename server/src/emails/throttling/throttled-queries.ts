// Queries on `paused_destinations` and their deferred emails.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { notify } from "../../platform/notify.ts";

/** Emails due at or after this time are deferred. */
const DEFERRED = sql`timestamptz '9999-01-01 00:00:00Z'`;

/** Returns the due time of emails deferred for the throttled destination with this number. */
export function deferredUntil(number: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${DEFERRED} + ${number} * interval '1 second')`;
}

/** Identifies the throttled emails by campaign. Null means bulk mail of the project outside campaigns. */
export interface PausedKey {
  projectId: string;
  campaignId: string | null;
}

/** Whether a row of `emails` is bulk mail. */
export const isToList = sql`exists (
  select 1 from email_contents k where k.project_id = emails.project_id and k.id = emails.content_id and k.list_kind is not null)`;

export interface PausedRow extends Row<
  "paused_destinations",
  | "projectId"
  | "campaignId"
  | "destination"
  | "domains"
  | "answer"
  | "since"
  | "tryAt"
  | "failedTries"
  | "trialIds"
  | "toldAt"
  | "releasedAt"
> {
  /** As text because it is a bigint. */
  number: number;
}

const isOf = ({ projectId, campaignId }: PausedKey) =>
  campaignId === null
    ? sql`project_id = ${projectId} and campaign_id is null`
    : sql`project_id = ${projectId} and campaign_id = ${campaignId}`;
const isOne = (row: PausedRow) => sql`${isOf(row)} and destination = ${row.destination}`;

/** How many emails of a campaign are checked for another destination. */
const LOOKED_AT = 1_000;

/** Throttles a destination and returns whether it is throttled now. A campaign must be sending and have other destinations too. */
export async function insertPaused(
  tx: Tx,
  key: PausedKey,
  paused: { destination: string; domains: readonly string[]; answer: string; waitSeconds: number },
): Promise<boolean> {
  const isThere = sql`split_part(to_address, '@', 2) = any(${paused.domains}::text[])`;
  const mayPause =
    key.campaignId === null
      ? sql`true`
      : sql`exists (
          select 1 from campaign_queues q
          where q.project_id = ${key.projectId} and q.campaign_id = ${key.campaignId} and q.state = 'OPEN')
        and (exists (select 1 from recipient_batches b where ${isOf(key)} and not (b.domains <@ ${paused.domains}::text[]))
          or exists (select 1 from (
            select to_address from emails where ${isOf(key)} limit ${sql.lit(LOOKED_AT)}) e where not ${isThere}))`;
  await sql`
    insert into paused_destinations as p (project_id, campaign_id, destination, domains, answer, since, try_at)
    select ${key.projectId}::uuid, ${key.campaignId}::uuid, ${paused.destination}, ${paused.domains}::text[], ${paused.answer},
      now(), now() + make_interval(secs => ${paused.waitSeconds})
    where ${mayPause}
    on conflict (project_id, campaign_id, destination) do update set answer = excluded.answer, since = excluded.since,
      try_at = excluded.try_at, failed_tries = 0, trial_ids = '{}', released_at = null
    where p.released_at is not null`.execute(tx);
  const { rows } = await sql`
    select 1 from paused_destinations
    where ${isOf(key)} and destination = ${paused.destination} and released_at is null`.execute(tx);
  return rows.length > 0;
}

/** Lists the destinations of sending campaigns and of bulk mail outside campaigns, including released ones with deferred emails. */
export async function listTended(database: Database): Promise<PausedRow[]> {
  const { rows } = await sql<PausedRow>`
    select h.* from paused_destinations h
    where h.campaign_id is null or exists (
      select 1 from campaign_queues q
      where q.project_id = h.project_id and q.campaign_id = h.campaign_id and q.state = 'OPEN')
    order by h.number`.execute(database);
  return rows;
}

/** Lists the throttled destinations of a campaign, or of bulk mail outside campaigns. */
export async function listPaused(database: Database, key: PausedKey): Promise<PausedRow[]> {
  const { rows } = await sql<PausedRow>`
    select * from paused_destinations where ${isOf(key)} and released_at is null order by number`.execute(
    database,
  );
  return rows;
}

/** Releases one destination, or all of the key. Returns the released ones. */
export async function updateReleased(
  tx: Database,
  key: PausedKey,
  destination: string | null,
): Promise<string[]> {
  const only = destination === null ? sql`` : sql`and destination = ${destination}`;
  const { rows } = await sql<{ destination: string }>`
    update paused_destinations set released_at = now(), trial_ids = '{}'
    where ${isOf(key)} and released_at is null ${only} returning destination`.execute(tx);
  // Mail that is parked there goes on when campaigns are settled the next time.
  if (rows.length > 0) notify(tx, "campaigns");
  return rows.map((row) => row.destination);
}

/** Returns whether this call is the one that must notify the members. */
export async function updateNotified(tx: Tx, row: PausedRow): Promise<boolean> {
  const result = await sql`
    update paused_destinations set told_at = now() where ${isOne(row)} and told_at is null`.execute(tx);
  return result.numAffectedRows === 1n;
}

/** Includes the priority, so that the index is read in order and only as far as needed. */
const inQueue = ({ campaignId }: PausedRow) =>
  campaignId === null
    ? sql`campaign_id is null and priority = any('{1,2,3}'::smallint[])`
    : sql`campaign_id = ${campaignId}`;

/** Sets the due time of up to `limit` matching queued emails, skipping rows locked by others. Returns their ids. */
async function updateDue(
  tx: Database,
  row: PausedRow,
  matching: RawBuilder<unknown>,
  dueAt: RawBuilder<unknown>,
  limit: number,
): Promise<string[]> {
  const order = row.campaignId === null ? sql`priority, due_at` : sql`due_at`;
  const { rows } = await sql<{ id: string }>`
    with waiting as materialized (
      select id from emails
      where project_id = ${row.projectId} and ${inQueue(row)} and status = 'QUEUED' and ${matching}
      order by ${order} limit ${limit} for update skip locked
    )
    update emails e set due_at = ${dueAt}
    -- As an array, because if PostgreSQL expects few rows, a join compares all pairs.
    where e.project_id = ${row.projectId} and e.id = any (array(select id from waiting)) returning e.id`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** Defers emails that wait for a throttled destination. Outside campaigns only due bulk mail is deferred. Returns how many. */
export async function deferEmails(tx: Tx, row: PausedRow, limit: number): Promise<number> {
  // Lock the destination until this commits, so that a release finds all deferred emails.
  const { rows } = await sql<{ trialIds: string[] }>`
    select trial_ids from paused_destinations where ${isOne(row)} and released_at is null for share`.execute(
    tx,
  );
  const [paused] = rows;
  if (paused === undefined) return 0;
  const which = row.campaignId === null ? sql`due_at <= now() and ${isToList}` : sql`due_at < ${DEFERRED}`;
  const matching = sql`${which} and split_part(to_address, '@', 2) = any(${row.domains}::text[])
    and not (id = any(${paused.trialIds}::uuid[]))`;
  return (await updateDue(tx, row, matching, deferredUntil(numberOf(row)), limit)).length;
}

const numberOf = (row: PausedRow) => sql`${row.number}::bigint`;

/** Requeues deferred emails and returns their ids. */
export async function requeueDeferred(database: Database, row: PausedRow, limit: number): Promise<string[]> {
  const ids = await updateDue(
    database,
    row,
    sql`due_at = ${deferredUntil(numberOf(row))}`,
    sql`now()`,
    limit,
  );
  if (ids.length > 0) notify(database, "emails");
  return ids;
}

/** Deletes a released destination of bulk mail outside campaigns once no email is deferred for it. */
export async function deleteReleased(database: Database, row: PausedRow): Promise<void> {
  await sql`
    delete from paused_destinations where ${isOne(row)} and campaign_id is null and released_at is not null
      and not exists (select 1 from emails
        where project_id = ${row.projectId} and ${inQueue(row)} and status = 'QUEUED' and due_at = ${deferredUntil(numberOf(row))})`.execute(
    database,
  );
}

/** Returns whether a test of the destination is due, and locks its row. */
export async function claimTry(tx: Tx, row: PausedRow): Promise<boolean> {
  const { rows } = await sql`
    select 1 from paused_destinations
    where ${isOne(row)} and released_at is null and cardinality(trial_ids) = 0 and try_at <= now()
    for update skip locked`.execute(tx);
  return rows.length > 0;
}

export async function updateTrial(tx: Tx, row: PausedRow, ids: readonly string[]): Promise<void> {
  await sql`
    update paused_destinations set trial_ids = ${ids}::uuid[], tried_at = now() where ${isOne(row)}`.execute(
    tx,
  );
}

export interface TrialRow {
  /** Canaries with a result, and the ones among them that were rejected again. */
  ended: number;
  refused: number;
  pending: number;
  isOver: boolean;
  answer: string | null;
}

/** Returns the results of the canaries and locks the row. Undefined if no test is running. */
export async function findTrial(
  tx: Tx,
  row: PausedRow,
  patienceSeconds: number,
): Promise<TrialRow | undefined> {
  const { rows } = await sql<TrialRow>`
    with paused as materialized (
      select * from paused_destinations
      where ${isOne(row)} and released_at is null and cardinality(trial_ids) > 0 for update skip locked
    )
    select count(*) filter (where not t.is_pending)::integer as ended, count(t.answer)::integer as refused,
      count(*) filter (where t.is_pending)::integer as pending,
      p.tried_at < now() - make_interval(secs => ${patienceSeconds}) as is_over, max(t.answer) as answer
    from paused p
    cross join lateral (
      select e.status in ('QUEUED', 'CLAIMED') as is_pending, case when e.status in ('FAILED', 'UNCONFIRMED') then (
          select a.answer from email_attempts a
          where a.project_id = e.project_id and a.email_id = e.id and a.meaning = 'policy' and a.created_at >= p.tried_at
          order by a.created_at desc limit 1) end as answer
      from emails e where e.project_id = p.project_id and e.id = any(p.trial_ids)
    ) t
    group by p.tried_at`.execute(tx);
  return rows[0];
}

/** Keeps the destination throttled and schedules the next test. */
export async function updateTryFailed(
  tx: Tx,
  row: PausedRow,
  next: { answer: string; waitSeconds: number },
): Promise<void> {
  await sql`
    update paused_destinations set answer = ${next.answer}, failed_tries = failed_tries + 1, trial_ids = '{}',
      try_at = now() + make_interval(secs => ${next.waitSeconds})
    where ${isOne(row)}`.execute(tx);
}
