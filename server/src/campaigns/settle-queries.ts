// Statements of what campaigns do by themselves: which are due, which are not over, which books are looked over.
import type { HeldReason } from "@postloft/contract/held-reasons.ts";
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { isEmailSent } from "../emails/rows/sent-events.ts";
import { storedReason } from "./held-queries.ts";

export interface CampaignRef {
  projectId: string;
  id: string;
}

/** Scheduled campaigns whose time has come, by the clock of the database, with how late they are. */
export async function listDueCampaigns(database: Database, limit: number) {
  const { rows } = await sql<CampaignRef & { lateMs: number }>`
    select project_id, id, (extract(epoch from now() - scheduled_for) * 1000)::float8 as late_ms from campaigns
    where status = 'SCHEDULED' and scheduled_for <= now() and held_reason_parts is null
    order by scheduled_for limit ${limit}`.execute(database);
  return rows;
}

/** Holds a scheduled campaign that nothing holds yet; its status stays. */
export async function updateHeld(
  database: Database,
  { projectId, id }: CampaignRef,
  reason: HeldReason,
): Promise<boolean> {
  const result = await sql`
    update campaigns set held_reason_parts = ${storedReason(reason)}, updated_at = now()
    where project_id = ${projectId} and id = ${id} and status = 'SCHEDULED' and held_reason_parts is null`.execute(
    database,
  );
  return result.numAffectedRows === 1n;
}

export interface RefusedCampaign extends CampaignRef {
  name: string;
  sendingSince: Date;
  /** What the newest of its refused mails was answered. */
  answer: string;
  /** The domains that refused them. */
  domains: string[];
}

/** Which refusals are too many: `refused` of the `last` mails. */
export interface RefusalLimit {
  refused: number;
  last: number;
}

/** So many refusals of other mail in the project are passed by. */
const PASSED_BY = 1_000;

/**
 * Campaigns that are sending and had as many mails refused by policy among the last that ended since they began to send.
 * It reads the newest refusals, and only where there are enough of them what else ended since the oldest of these, up to
 * as many as would make them few: however large the campaign is, that is a few hundred rows.
 */
export async function listRefusedCampaigns(
  database: Database,
  limit: RefusalLimit,
): Promise<RefusedCampaign[]> {
  // Literals: with parameters the planner does not know how few these are.
  const refused = sql.lit(limit.refused);
  const others = sql.lit(limit.last - limit.refused + 1);
  const { rows } = await sql<RefusedCampaign>`
    select c.project_id, c.id, c.name, c.sending_since, r.answer, r.domains from campaigns c
    cross join lateral (
      select count(*) as count, min(created_at) as since, (array_agg(answer order by created_at desc))[1] as answer,
        array_agg(domain) as domains
      from (
        select a.created_at, a.answer, split_part(e.to_address, '@', 2) as domain from (
          select email_id, created_at, answer from email_attempts
          where project_id = c.project_id and meaning = 'policy' and created_at > c.sending_since
          order by created_at desc limit ${sql.lit(PASSED_BY)}
        ) a
        join emails e on e.project_id = c.project_id and e.id = a.email_id and e.campaign_id = c.id
        -- Those that are paused by themselves are not held against the others.
        where not (split_part(e.to_address, '@', 2) = any(array(
          select unnest(p.domains) from paused_destinations p where p.project_id = c.project_id and p.campaign_id = c.id)))
        order by a.created_at desc limit ${refused}
      ) newest
    ) r
    cross join lateral (
      select count(*) as count from (
        (select 1 from emails e
         where e.project_id = c.project_id and e.campaign_id = c.id and ${isEmailSent(sql`r.since`)}
         order by sent_event_id(e.id, e.sent_at) limit ${others})
        union all
        (select 1 from email_attempts a
         join emails e on e.project_id = a.project_id and e.id = a.email_id and e.campaign_id = c.id
         where a.project_id = c.project_id and a.meaning in ('hard-bounce', 'soft-bounce', 'message')
           and a.created_at >= r.since
         order by a.meaning, a.created_at limit ${others})
      ) other
      where r.count = ${refused}
    ) o
    where c.status = 'SENDING' and c.finished_at is null and r.count = ${refused} and o.count < ${others}`.execute(
    database,
  );
  return rows;
}

/**
 * In how many milliseconds there is something to do for a campaign or for paused list mail of none: none while one is under way or
 * late, or list mail is paused somewhere; null: nothing is known of.
 */
export async function readNextDueMs(database: Database): Promise<number | null> {
  const { rows } = await sql<{ nextMs: number | null }>`
    select case
      when exists (select 1 from campaigns where status in ('SENDING', 'CANCELLED') and finished_at is null)
        or exists (select 1 from paused_destinations where campaign_id is null) then 0
      else (
        select ceil(extract(epoch from min(scheduled_for) - now()) * 1000) from campaigns
        where status = 'SCHEDULED' and held_reason_parts is null)
    end::float8 as next_ms`.execute(database);
  return rows[0]?.nextMs ?? null;
}

/** Campaigns that are not over: their recipients are fixed, and something may still wait. */
export async function listUnfinished(database: Database): Promise<Array<CampaignRef & { status: string }>> {
  const { rows } = await sql<CampaignRef & { status: string }>`
    select project_id, id, status from campaigns
    where status in ('SENDING', 'CANCELLED') and finished_at is null
      and (snapshot_at is not null or status = 'CANCELLED')`.execute(database);
  return rows;
}

/** Campaigns whose books are looked over: those that run and those that ended within a day. */
export async function listToAudit(
  database: Database,
): Promise<Array<CampaignRef & { totalRecipients: number; status: string }>> {
  const { rows } = await sql<CampaignRef & { totalRecipients: number; status: string }>`
    select project_id, id, total_recipients, status from campaigns
    where snapshot_at is not null and (finished_at is null or finished_at > now() - interval '1 day')`.execute(
    database,
  );
  return rows;
}
