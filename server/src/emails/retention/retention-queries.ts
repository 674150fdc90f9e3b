// Queries on emails past their retention and on emails kept longer.
import { sql, type SqlBool } from "kysely";
import { plannedEachTime, type Database, type Tx } from "../../platform/database/database.ts";
import type { Row } from "../../platform/database/row.ts";
import { NO_ID } from "../../platform/ids.ts";

export async function upsertRetention(tx: Tx, projectId: string, days: number): Promise<void> {
  await sql`
    insert into email_retentions (project_id, days) values (${projectId}, ${days})
    on conflict (project_id) do update set days = excluded.days`.execute(tx);
}

export async function deleteRetention(tx: Tx, projectId: string): Promise<void> {
  await tx.deleteFrom("email_retentions").where("projectId", "=", projectId).execute();
}

/** Returns the projects after `after` that have a retention. */
export async function listRetentions(database: Database, after: string | null, limit: number) {
  const { rows } = await sql<{ projectId: string }>`
    select r.project_id from email_retentions r where r.project_id > coalesce(${after}::uuid, ${NO_ID})
    order by r.project_id limit ${limit}`.execute(database);
  return rows.map(({ projectId }) => projectId);
}

/** Returns how many days a project keeps its emails, or undefined if it keeps them permanently. */
export async function findRetentionDays(tx: Tx, projectId: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom("email_retentions")
    .select("days")
    .where("projectId", "=", projectId)
    .executeTakeFirst();
  return row?.days;
}

export interface Retention {
  projectId: string;
  days: number;
  position: string;
  /** Milliseconds since 1970, or null if no pass has finished or started. */
  contentsUntilMs: number | null;
  /** null: no pass is running. */
  contentsPosition: string | null;
}

/** Locks the retention of a project. Returns undefined if another process has locked it or it was removed. */
export async function lockRetention(tx: Tx, projectId: string): Promise<Retention | undefined> {
  const { rows } = await sql<Retention>`
    select project_id, days, position, nullif(contents_position, ${NO_ID}) as contents_position,
      case when isfinite(contents_until) then extract(epoch from contents_until)::float8 * 1000 end as contents_until_ms
    from email_retentions where project_id = ${projectId} for update skip locked`.execute(tx);
  return rows[0];
}

export async function updatePosition(tx: Tx, projectId: string, position: string): Promise<void> {
  await sql`update email_retentions set position = ${position} where project_id = ${projectId}`.execute(tx);
}

/** An email that may be due for redaction. */
export interface OldMail extends Row<"emails", "id" | "campaignId" | "contentId" | "sentAt"> {
  isForgotten: boolean;
}

const OLD_MAIL = sql`e.id, e.campaign_id, e.content_id, e.sent_at, e.forgotten_at is not null as is_forgotten`;

/** Whether the outcome of email `e` is still open. */
const isOpen = sql<SqlBool>`e.status in ('QUEUED', 'CLAIMED', 'UNCONFIRMED')`;

/** Returns emails after `after` and up to `last` in order, by a range scan of the primary key. */
export async function listOldMails(
  tx: Tx,
  projectId: string,
  { after, last, limit }: { after: string; last: string; limit: number },
): Promise<OldMail[]> {
  const { rows } = await sql<OldMail>`
    ${plannedEachTime} select ${OLD_MAIL} from emails e
    where e.project_id = ${projectId} and e.id > ${after} and e.id <= ${last}
    order by e.project_id, e.id limit ${limit}`.execute(tx);
  return rows;
}

export async function listEmailsById(tx: Tx, projectId: string, ids: readonly string[]): Promise<OldMail[]> {
  const { rows } = await sql<OldMail>`
    select ${OLD_MAIL} from emails e where e.project_id = ${projectId} and e.id = any(${ids}::uuid[])`.execute(
    tx,
  );
  return rows;
}

/** Locks emails in id order. Returns the ones that have ended. */
export async function lockEnded(tx: Tx, projectId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from emails e
    where e.project_id = ${projectId} and e.id = any(${ids}::uuid[]) and not (${isOpen}) and e.forgotten_at is null
    order by e.id for update`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Returns campaigns with batches in a range of ids, unless they are kept longer already. `lastId` is the highest id that their emails will
 * get.
 */
export async function listWaitingCampaigns(
  tx: Tx,
  projectId: string,
  { after, last }: { after: string; last: string },
) {
  const { rows } = await sql<{ campaignId: string; contentId: string; lastId: string }>`
    select w.campaign_id, b.content_id, b.last_id
    from (
      select distinct i.campaign_id from recipient_batches i
      where i.project_id = ${projectId} and i.id > ${after} and i.id <= ${last} and not exists (
        select 1 from emails_kept_longer k where k.project_id = ${projectId} and k.id = i.campaign_id)
    ) w
    cross join lateral (
      select b.content_id, b.email_ids[cardinality(b.email_ids)] as last_id from recipient_batches b
      where b.project_id = ${projectId} and b.campaign_id = w.campaign_id
      order by b.project_id, b.campaign_id, b.id desc limit 1) b`.execute(tx);
  return rows;
}

/** Returns the campaigns with an email that has not ended or a recipient that still waits. */
export async function listOpenCampaigns(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ campaignId: string }>`
    select distinct e.campaign_id from emails e
    where e.project_id = ${projectId} and e.campaign_id = any(${ids}::uuid[]) and ${isOpen}
    union
    select distinct b.campaign_id from recipient_batches b
    where b.project_id = ${projectId} and b.campaign_id = any(${ids}::uuid[])`.execute(tx);
  return rows.map(({ campaignId }) => campaignId);
}

/** An email, or a campaign with all its emails, that is kept longer than others of the same age. */
export type KeptLonger = Row<"emails_kept_longer", "id" | "isCampaign" | "contentId" | "afterId" | "lastId">;

/** Inserts new entries, and extends the range of a campaign that exists. */
export async function upsertKeptLonger(
  tx: Tx,
  projectId: string,
  kept: ReadonlyArray<KeptLonger & { dueAt: Date }>,
): Promise<void> {
  await sql`
    insert into emails_kept_longer as known (project_id, id, is_campaign, content_id, after_id, last_id, due_at)
    select ${projectId}::uuid, i.* from unnest(
      ${kept.map(({ id }) => id)}::uuid[],
      ${kept.map(({ isCampaign }) => isCampaign)}::boolean[],
      ${kept.map(({ contentId }) => contentId)}::uuid[],
      ${kept.map(({ afterId }) => afterId)}::uuid[],
      ${kept.map(({ lastId }) => lastId)}::uuid[],
      ${kept.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]
    ) as i
    on conflict (project_id, id) do update set last_id = greatest(known.last_id, excluded.last_id)`.execute(
    tx,
  );
}

/** Returns the campaigns that are kept longer. */
export async function listKeptCampaigns(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from emails_kept_longer where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

export async function listDueKeptLonger(
  tx: Tx,
  projectId: string,
  now: Date,
  limit: number,
): Promise<KeptLonger[]> {
  const { rows } = await sql<KeptLonger>`
    select id, is_campaign, content_id, after_id, last_id from emails_kept_longer
    where project_id = ${projectId} and due_at <= ${now} order by due_at, id limit ${limit}`.execute(tx);
  return rows;
}

/** Sets when entries are checked again. `afterId` is the position up to which a campaign has been redacted. */
export async function updateKeptLonger(
  tx: Tx,
  projectId: string,
  later: ReadonlyArray<{ id: string; afterId: string; dueAt: Date }>,
): Promise<void> {
  await sql`
    update emails_kept_longer k set after_id = i.after_id, due_at = i.due_at
    from unnest(
      ${later.map(({ id }) => id)}::uuid[],
      ${later.map(({ afterId }) => afterId)}::uuid[],
      ${later.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]
    ) as i (id, after_id, due_at)
    where k.project_id = ${projectId} and k.id = i.id`.execute(tx);
}

export async function deleteKeptLonger(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql`delete from emails_kept_longer where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(
    tx,
  );
}
