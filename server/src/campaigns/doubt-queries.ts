// Finds campaigns with too many emails in doubt.
import { sql } from "kysely";
import type { Database } from "../platform/database/database.ts";
import { isEmailSent } from "../emails/rows/sent-events.ts";
import type { CampaignRef } from "./settle-queries.ts";

export interface DoubtfulCampaign extends CampaignRef {
  sendingSince: Date;
  /** Details of the last submission without a reply. */
  answer: string;
}

/** How many unanswered submissions of other emails in the project are skipped while searching. */
const PASSED_BY = 1_000;

/**
 * Returns sending campaigns with too many unanswered submissions among their last emails since they started sending. Emails left by a dead
 * sender do not count. Reads a few hundred rows like `listRefusedCampaigns`, and none if nothing is in doubt.
 */
export async function listDoubtfulCampaigns(
  database: Database,
  limit: { uncertain: number; last: number },
): Promise<DoubtfulCampaign[]> {
  // Literals, because the planner can't estimate small parameters.
  const uncertain = sql.lit(limit.uncertain);
  const others = sql.lit(limit.last - limit.uncertain + 1);
  const { rows } = await sql<DoubtfulCampaign>`
    select c.project_id, c.id, c.sending_since, d.answer from campaigns c
    cross join lateral (
      select count(*) as count, min(created_at) as since, (array_agg(answer order by created_at desc))[1] as answer
      from (
        select a.created_at, a.answer from (
          select email_id, created_at, answer from email_attempts
          where project_id = c.project_id and outcome = 'uncertain' and transport is not null
            and created_at > c.sending_since
          order by created_at desc limit ${sql.lit(PASSED_BY)}
        ) a
        join emails e on e.project_id = c.project_id and e.id = a.email_id and e.campaign_id = c.id
        order by a.created_at desc limit ${uncertain}
      ) newest
    ) d
    cross join lateral (
      select count(*) as count from (
        (select 1 from emails e
         where e.project_id = c.project_id and e.campaign_id = c.id and ${isEmailSent(sql`d.since`)}
         order by sent_event_id(e.id, e.sent_at) limit ${others})
        union all
        (select 1 from email_attempts a
         join emails e on e.project_id = a.project_id and e.id = a.email_id and e.campaign_id = c.id
         where a.project_id = c.project_id and a.meaning in ('hard-bounce', 'soft-bounce', 'policy', 'message')
           and a.created_at >= d.since
         order by a.meaning, a.created_at limit ${others})
      ) other
      where d.count = ${uncertain}
    ) o
    where c.status = 'SENDING' and c.finished_at is null and d.count = ${uncertain} and o.count < ${others}`.execute(
    database,
  );
  return rows;
}
