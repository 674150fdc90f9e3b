// Statements on `paused_destinations`, and on the mails that are parked there.
// Before it: paused-destinations.ts. After it: sender-queries.ts and batch-queries.ts leave them out of claims.
import { sql, type RawBuilder } from "kysely";
import type { Database, Tx } from "../platform/database.ts";
import type { CampaignKey } from "./campaign-queries.ts";

/** From here on nothing is due by itself. */
export const PARKED = sql`timestamptz '9999-01-01 00:00:00Z'`;

/** When mails are due that are parked at a paused destination of this number. */
export function parkedAt(number: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${PARKED} + ${number} * interval '1 second')`;
}

export interface PausedRow {
  project_id: string;
  campaign_id: string;
  destination: string;
  domains: string[];
  /** As text: it is a bigint. */
  number: string;
  answer: string;
  since: Date;
  try_at: Date;
  failed_tries: number;
  trial_ids: string[];
  told_at: Date | null;
  released_at: Date | null;
}

const ofCampaign = ({ projectId, campaignId }: CampaignKey) =>
  sql`project_id = ${projectId} and campaign_id = ${campaignId}`;
const isOne = (row: PausedRow) =>
  sql`project_id = ${row.project_id} and campaign_id = ${row.campaign_id} and destination = ${row.destination}`;

/** Mails of the campaign that are looked at for whether it goes anywhere else. */
const LOOKED_AT = 1_000;

/** Pauses a destination of a campaign that is sending and goes to others too; whether it is paused now. */
export async function insertPaused(
  tx: Tx,
  key: CampaignKey,
  paused: { destination: string; domains: readonly string[]; answer: string; waitSeconds: number },
): Promise<boolean> {
  const isThere = sql`split_part(to_address, '@', 2) = any(${paused.domains}::text[])`;
  await sql`
    insert into paused_destinations as p (project_id, campaign_id, destination, domains, answer, try_at)
    select c.project_id, c.id, ${paused.destination}, ${paused.domains}::text[], ${paused.answer},
      now() + make_interval(secs => ${paused.waitSeconds})
    from campaigns c
    where c.project_id = ${key.projectId} and c.id = ${key.campaignId} and c.status = 'SENDING' and (
      exists (select 1 from recipient_batches b where ${ofCampaign(key)} and not (b.domains <@ ${paused.domains}::text[]))
      or exists (select 1 from (
          select to_address from emails where ${ofCampaign(key)} limit ${sql.lit(LOOKED_AT)}) e where not ${isThere}))
    on conflict (project_id, campaign_id, destination) do update set answer = excluded.answer, since = now(),
      try_at = excluded.try_at, failed_tries = 0, trial_ids = '{}', released_at = null
    where p.released_at is not null`.execute(tx);
  const { rows } = await sql`
    select 1 from paused_destinations
    where ${ofCampaign(key)} and destination = ${paused.destination} and released_at is null`.execute(tx);
  return rows.length > 0;
}

/** Those of campaigns that are sending, with what is only parked no more. */
export async function listPausedOfSending(database: Database): Promise<PausedRow[]> {
  const { rows } = await sql<PausedRow>`
    select p.* from paused_destinations p
    join campaigns c on c.project_id = p.project_id and c.id = p.campaign_id
    where c.status = 'SENDING' and c.finished_at is null
    order by p.number`.execute(database);
  return rows;
}

/** Those of a campaign that are paused. */
export async function listPaused(database: Database, key: CampaignKey): Promise<PausedRow[]> {
  const { rows } = await sql<PausedRow>`
    select * from paused_destinations where ${ofCampaign(key)} and released_at is null order by number`.execute(
    database,
  );
  return rows;
}

/** Ends the pause of a destination, or of all of a campaign; answers which. */
export async function updateReleased(
  tx: Database,
  key: CampaignKey,
  destination: string | null,
): Promise<string[]> {
  const only = destination === null ? sql`` : sql`and destination = ${destination}`;
  const { rows } = await sql<{ destination: string }>`
    update paused_destinations set released_at = now(), trial_ids = '{}'
    where ${ofCampaign(key)} and released_at is null ${only} returning destination`.execute(tx);
  return rows.map((row) => row.destination);
}

/** Whether this call is the one that tells the members. */
export async function updateTold(tx: Tx, row: PausedRow): Promise<boolean> {
  const result = await sql`
    update paused_destinations set told_at = now() where ${isOne(row)} and told_at is null`.execute(tx);
  return result.numAffectedRows === 1n;
}

/** Sets when mails of a campaign are due that wait and match; up to `limit`, without those that somebody has in hand. Answers which. */
async function updateDue(
  tx: Database,
  row: PausedRow,
  matching: RawBuilder<unknown>,
  dueAt: RawBuilder<unknown>,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with waiting as materialized (
      select id from emails
      where project_id = ${row.project_id} and campaign_id = ${row.campaign_id} and status = 'QUEUED' and ${matching}
      order by due_at limit ${limit} for update skip locked
    )
    update emails e set due_at = ${dueAt} from waiting
    where e.project_id = ${row.project_id} and e.id = waiting.id returning e.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Parks mails that wait for a paused destination; answers how many. */
export async function parkMails(database: Database, row: PausedRow, limit: number): Promise<number> {
  const matching = sql`due_at < ${PARKED} and split_part(to_address, '@', 2) = any(${row.domains}::text[])
    and not (id = any(${row.trial_ids}::uuid[]))`;
  return (await updateDue(database, row, matching, parkedAt(sql`${row.number}::bigint`), limit)).length;
}

/** Lets parked mails go on; answers which. */
export async function unparkMails(database: Database, row: PausedRow, limit: number): Promise<string[]> {
  return updateDue(database, row, sql`due_at = ${parkedAt(sql`${row.number}::bigint`)}`, sql`now()`, limit);
}

/** Paused destinations that are due for a try, each this transaction's. */
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
  /** Those that came to an end, and those of them that were refused again. */
  ended: number;
  refused: number;
  pending: number;
  is_over: boolean;
  answer: string | null;
}

/** How the mails that tried fare; the row is this transaction's. Undefined when none tries. */
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
      select e.status in ('QUEUED', 'CLAIMED', 'SENDING') as is_pending, case when e.status = 'FAILED' then (
          select a.answer from email_attempts a
          where a.project_id = e.project_id and a.email_id = e.id and a.meaning = 'policy' and a.created_at >= p.tried_at
          order by a.created_at desc limit 1) end as answer
      from emails e where e.project_id = p.project_id and e.id = any(p.trial_ids)
    ) t
    group by p.tried_at`.execute(tx);
  return rows[0];
}

/** It goes on waiting, and tries again later. */
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
