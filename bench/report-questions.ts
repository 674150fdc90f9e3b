// The queries of `npm run bench reports`: each report next to hand-written SQL, and pages of the activity feed.
import { sql, type RawBuilder } from "kysely";
import type { Dimension } from "@postloft/contract/report-queries.ts";
import { plannedEachTime, type Database } from "../server/src/platform/database/database.ts";
import { readPage } from "../server/src/platform/http/page.ts";
import { DIMENSION_NUMBERS, MAIL_NAMES } from "../server/src/events/counts.ts";
import { isEmailSent, sentEventId } from "../server/src/emails/rows/sent-events.ts";
import { countRecentActivity, listActivity, listUpcoming } from "../server/src/reports/activity.ts";
import * as analytics from "../server/src/reports/analytics.ts";
import { readPeriod, spanOf } from "../server/src/reports/period.ts";
import type { ReportProject } from "./reports-fixture.ts";

export const ZONE = "Europe/Berlin";

type Expression = RawBuilder<unknown>;

export interface Question {
  name: string;
  ask: () => Promise<unknown>;
  /** Null if the query reads no counts. */
  plain: PlainSql | null;
}

/** The simplest SQL for the same numbers. */
interface PlainSql {
  counted: Expression;
  /** Returns queries for rows not counted yet, those after a position (an id). */
  since: (position: string) => readonly Expression[];
}

const MAIL_SUMS = sql`sum(sent) as sent, sum(delivered) as delivered, sum(opened) as opened, sum(clicked) as clicked,
  sum(machine_opened) as machine_opened, sum(machine_clicked) as machine_clicked, sum(bounced) as bounced,
  sum(soft_bounced) as soft_bounced, sum(complained) as complained, sum(refused) as refused`;
/** Values of an email `e`. */
const VALUES: Readonly<Record<Dimension, Expression>> = {
  kind: sql`e.priority`,
  campaign: sql`e.campaign_id`,
  template: sql`e.template_id`,
  workflow: sql`e.workflow_id`,
  provider: sql`split_part(e.to_address, '@', 2)`,
};

/** Tables with the name of each value. */
const NAMED: Partial<Record<Dimension, string>> = {
  campaign: "campaigns",
  template: "templates",
  workflow: "workflows",
};

const localDay = (at: Expression) => sql`(${at} at time zone ${sql.lit(ZONE)})::date`;
const localHour = (at: Expression) => sql`date_trunc('hour', ${at} at time zone ${sql.lit(ZONE)})`;

/** Hand-written SQL for a project up to a given time. */
function plainSql(id: string, to: Date) {
  const within = (at: Expression, start: Date) =>
    sql`project_id = ${id} and ${at} >= ${start} and ${at} < ${to}`;
  const counts = (dimension: Dimension, by: Expression, start: Date, only = sql`true`) => sql`
    select ${by} as by, ${MAIL_SUMS} from mail_counts
    where ${within(sql`quarter`, start)} and dimension = ${DIMENSION_NUMBERS[dimension]} and ${only} group by 1`;
  const mailsSince = (
    position: string,
    by: (at: Expression) => Expression,
    start: Date,
    only = sql`true`,
  ) => sql`
    ${plannedEachTime} select by, what, is_refusal, count(*) from (
      select ${by(sql`v.created_at`)} as by, v.name as what, v.data -> 'atOnce' = 'true' as is_refusal from events v join emails e on e.id = v.email_id and e.project_id = v.project_id
      where v.${within(sql`v.created_at`, start)} and v.id >= ${position} and v.name = any(${MAIL_NAMES}::text[]) and ${only}
      union all
      select ${by(sql`e.sent_at`)}, 'sent', false from emails e
      where e.${within(sql`e.sent_at`, start)} and ${isEmailSent(null)} and ${sentEventId()} >= ${position} and ${only}
    ) f group by 1, 2, 3`;
  return {
    /** Emails grouped by an expression of the time. */
    mailsBy: (by: (at: Expression) => Expression, start: Date): PlainSql => ({
      counted: counts("kind", by(sql`quarter`), start),
      since: (position) => [mailsSince(position, by, start)],
    }),
    mailsByValue: (dimension: Dimension, start: Date): PlainSql => ({
      counted: sql`select v.value as by, g.*${NAMED[dimension] === undefined ? sql`` : sql`, n.name`}
        from (${counts(dimension, sql`value`, start)}) g
        join count_values v on v.project_id = ${id} and v.dimension = ${DIMENSION_NUMBERS[dimension]} and v.id = g.by
        ${NAMED[dimension] === undefined ? sql`` : sql`left join ${sql.table(NAMED[dimension])} n on n.project_id = ${id} and n.id = v.value::uuid`}`,
      since: (position) => [mailsSince(position, () => VALUES[dimension], start)],
    }),
    mailsOfCampaign: (campaignId: string, start: Date): PlainSql => ({
      counted: counts(
        "campaign",
        localDay(sql`quarter`),
        start,
        sql`value = (select id from count_values where project_id = ${id} and dimension = ${DIMENSION_NUMBERS.campaign} and value = ${campaignId})`,
      ),
      since: (position) => [mailsSince(position, localDay, start, sql`e.campaign_id = ${campaignId}`)],
    }),
    /** Non-email events, grouped by their columns. */
    eventsBy: (columns: (at: Expression) => Expression, start: Date, only = sql`true`): PlainSql => ({
      counted: sql`select ${columns(sql`quarter`)}, sum(count) from event_counts where ${within(sql`quarter`, start)} and ${only} group by 1, 2, 3`,
      since: (position) => [
        sql`
        ${plannedEachTime} select ${columns(sql`created_at`)}, count(*) from (
          select name, created_at, data ->> 'reason' as detail from events
          where ${within(sql`created_at`, start)} and id >= ${position} and name <> all(${MAIL_NAMES}::text[]) and ${only}
        ) v group by 1, 2, 3`,
      ],
    }),
  };
}

/** Returns the queries for numbers over the last `days` days. */
// oxlint-disable-next-line max-lines-per-function -- a list of queries
export function analyticsQuestions(database: Database, project: ReportProject, days: number): Question[] {
  const { id, campaignId } = project;
  const startDate = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
  const period = readPeriod({ startDate, tz: ZONE }, new Date());
  const { from, to } = spanOf(period);
  const all = { dimension: "kind", value: null } as const;
  const ofCampaign = { dimension: "campaign", value: campaignId } as const;
  const plain = plainSql(id, to);
  const twice = new Date(from.getTime() - (to.getTime() - from.getTime()));
  const isNow = (at: Expression) => sql`${at} >= ${from}`;
  const breakdown = (dimension: Dimension): Question => ({
    name: `breakdown by ${dimension}`,
    ask: () => analytics.getBreakdown(database, id, dimension, period),
    plain: plain.mailsByValue(dimension, from),
  });
  const eventsByName = plain.eventsBy(() => sql`name, 1, 1`, from);
  const mailsNowAndBefore = plain.mailsBy(isNow, twice);
  return [
    {
      name: "timeseries",
      ask: () => analytics.getTimeseries(database, id, all, period),
      plain: plain.mailsBy(localDay, from),
    },
    {
      name: "timeseries of a campaign",
      ask: () => analytics.getTimeseries(database, id, ofCampaign, period),
      plain: plain.mailsOfCampaign(campaignId, from),
    },
    {
      name: "summary, with the previous period",
      ask: () => analytics.getSummary(database, id, all, period),
      plain: mailsNowAndBefore,
    },
    ...(["kind", "provider", "campaign", "workflow"] as const).map(breakdown),
    {
      name: "top campaigns",
      ask: () => analytics.listTopCampaigns(database, id, {}, period),
      plain: plain.mailsByValue("campaign", from),
    },
    {
      name: "campaign stats",
      ask: () => analytics.getCampaignTotals(database, id, period),
      plain: plain.mailsByValue("campaign", from),
    },
    {
      name: "top events, with the previous period",
      ask: () => analytics.listTopEvents(database, id, undefined, period),
      plain: plain.eventsBy((at) => sql`name, ${isNow(at)}, 1`, twice),
    },
    {
      name: "audience",
      ask: () => analytics.getAudience(database, id, period),
      plain: plain.eventsBy(
        (at) => sql`${localDay(at)}, name, detail`,
        from,
        sql`name in ('contact.subscribed', 'contact.unsubscribed')`,
      ),
    },
    {
      name: "weekdays and hours",
      ask: () => analytics.getHours(database, id, all, period),
      plain: plain.mailsBy(localHour, from),
    },
    {
      name: "activity stats",
      ask: () => analytics.getActivityStats(database, id, period),
      plain: {
        counted: sql`select m.*, (select sum(sum) from (${eventsByName.counted}) e) from (${mailsNowAndBefore.counted}) m`,
        since: (position) => [...mailsNowAndBefore.since(position), ...eventsByName.since(position)],
      },
    },
  ];
}

/** Returns the queries for the feed, which read no counts. */
export async function feedQuestions(database: Database, project: ReportProject): Promise<Question[]> {
  const { id, campaignId, contactId } = project;
  const page = (asked: Parameters<typeof listActivity>[2], cursor?: string) =>
    listActivity(database, id, asked, readPage("activity", { limit: 50, cursor }));
  const month = new Date(Date.now() - 30 * 86_400_000);
  const deep = (await page({ until: month })).cursor ?? undefined;
  const asks: ReadonlyArray<[string, () => Promise<unknown>]> = [
    ["feed: a page of everything", () => page({})],
    ["feed: a page a month ago", () => page({}, deep)],
    ["feed: of one contact", () => page({ contactId })],
    ["feed: of one campaign", () => page({ campaignId })],
    ["feed: clicks", () => page({ types: ["email.clicked"] })],
    ["feed: sent emails", () => page({ types: ["email.sent"] })],
    ["feed: of an event name", () => page({ eventName: "purchase" })],
    ["feed: of an unused event name", () => page({ eventName: "none" })],
    ["count of recent activity", () => countRecentActivity(database, id)],
    ["upcoming sends", () => listUpcoming(database, id)],
  ];
  return asks.map(([name, ask]) => ({ name, ask, plain: null }));
}
