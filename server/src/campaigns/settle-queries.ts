// Statements for the background work of campaigns: due, unfinished and audited ones.
import type { HeldReason } from "@postloft/contract/held-reasons.ts";
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { isEmailSent } from "../emails/rows/sent-events.ts";
import { storedReason } from "./held-queries.ts";

export interface CampaignRef {
  projectId: string;
  id: string;
}

/** Returns due campaigns by the database's clock, with how late they are. */
export async function listDueCampaigns(database: Database, limit: number) {
  const { rows } = await sql<CampaignRef & { lateMs: number }>`
    select project_id, id, (extract(epoch from now() - scheduled_for) * 1000)::float8 as late_ms from campaigns
    where status = 'SCHEDULED' and scheduled_for <= now() and held_reason_parts is null
    order by scheduled_for limit ${limit}`.execute(database);
  return rows;
}

/** Holds a scheduled campaign that is not held yet, without changing its status. */
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
  /** The reply to the newest rejected email. */
  answer: string;
  /** The domains that rejected them. */
  domains: string[];
}

/** Too many rejections: `refused` of the `last` emails. */
export interface RejectionLimit {
  refused: number;
  last: number;
}

/** How many rejections of other emails in the project are skipped while searching. */
const PASSED_BY = 1_000;

/**
 * Returns sending campaigns with this many policy rejections among their last emails since they started sending. Reads the newest
 * rejections, and only if there are enough of them the other outcomes since the oldest one. Both reads are limited, so even for large
 * campaigns it reads a few hundred rows.
 */
export async function listRefusedCampaigns(
  database: Database,
  limit: RejectionLimit,
): Promise<RefusedCampaign[]> {
  // Literals, because the planner can't estimate small parameters.
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
        -- Rejections by throttled destinations do not count against the others.
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
 * Returns the milliseconds until campaigns or throttled bulk mail need work. 0 if something is active or late, null if there is nothing to
 * wait for.
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

/** Returns unfinished campaigns with fixed recipients, and cancelled ones. */
export async function listUnfinished(database: Database): Promise<Array<CampaignRef & { status: string }>> {
  const { rows } = await sql<CampaignRef & { status: string }>`
    select project_id, id, status from campaigns
    where status in ('SENDING', 'CANCELLED') and finished_at is null
      and (snapshot_at is not null or status = 'CANCELLED')`.execute(database);
  return rows;
}

/** Returns the campaigns to audit: running ones and those finished within a day. */
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
