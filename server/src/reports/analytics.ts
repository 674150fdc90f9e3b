// Statistics over a period: emails by day, dimension, weekday and hour, and campaigns, events and the audience.
import type { CAMPAIGN_METRICS } from "@postloft/contract/analytics.ts";
import { DIMENSIONS, type Dimension } from "@postloft/contract/report-queries.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Database } from "../platform/database/database.ts";
import type { MailFilter } from "../events/counts.ts";
import { percentOf } from "../campaigns/rules.ts";
import {
  countArrivals,
  countCampaigns,
  countStarted,
  readCampaigns,
  readNames,
  sumEvents,
  sumMailsByDay,
  sumMailsByStep,
  sumMailsByValue,
  sumNames,
  sumSubscriptionsByDay,
  type MailSums,
} from "./analytics-queries.ts";
import { hourSteps, previousPeriod, spanOf, weekHours, type Period } from "./period.ts";
import { requireExisting } from "./refuse-missing.ts";

/** A query as in the contract, with at most one of these. */
export interface AskedMails {
  kind?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
  provider?: string | undefined;
}

/**
 * Returns the filter of a query. Every email has a kind, so the default covers all emails by kind.
 * @throws AppError CAMPAIGN_NOT_FOUND, TEMPLATE_NOT_FOUND, WORKFLOW_NOT_FOUND for ids outside the project
 */
export async function readMailFilter(
  database: Database,
  projectId: string,
  asked: AskedMails,
): Promise<MailFilter> {
  const { kind, campaignId, templateId, workflowId, provider } = asked;
  await requireExisting(database, projectId, { campaignId, templateId, workflowId });
  const values = { kind, campaign: campaignId, template: templateId, workflow: workflowId, provider };
  const dimension = DIMENSIONS.find((name) => values[name] !== undefined) ?? "kind";
  return { dimension, value: values[dimension] ?? null };
}

const presentCounts = (sums: MailSums | undefined) => ({
  emails: sums?.sent ?? 0,
  delivered: sums?.delivered ?? 0,
  opens: sums?.opened ?? 0,
  clicks: sums?.clicked ?? 0,
  machineOpens: sums?.machineOpened ?? 0,
  machineClicks: sums?.machineClicked ?? 0,
  bounces: sums?.bounced ?? 0,
  softBounces: sums?.softBounced ?? 0,
  complaints: sums?.complained ?? 0,
  refused: sums?.refused ?? 0,
});

function withRates(counts: ReturnType<typeof presentCounts>) {
  return {
    ...counts,
    openRate: percentOf(counts.opens, counts.emails),
    clickRate: percentOf(counts.clicks, counts.emails),
    bounceRate: percentOf(counts.bounces, counts.emails + counts.refused),
    complaintRate: percentOf(counts.complaints, counts.emails),
  };
}

/** Returns emails by day, including days without any. */
export async function getTimeseries(
  database: Database,
  projectId: string,
  filter: MailFilter,
  period: Period,
) {
  const byDay = await sumMailsByDay(database, projectId, filter, {
    span: spanOf(period),
    bounds: period.bounds,
  });
  return period.days.map((date, at) => ({ date, ...presentCounts(byDay.get(at + 1)) }));
}

/** Returns the sums of a period and of the previous one. */
export async function getSummary(database: Database, projectId: string, filter: MailFilter, period: Period) {
  const previous = previousPeriod(period);
  const spans = [spanOf(previous), spanOf(period)] as const;
  const [before, within] = [spans[0].from, spans[1].from];
  const span = { from: before, to: spans[1].to };
  const sums = await sumMailsByDay(database, projectId, filter, { span, bounds: [before, within] });
  const of = ({ firstDay, lastDay }: Period, day: number) => ({
    startDate: firstDay,
    endDate: lastDay,
    ...withRates(presentCounts(sums.get(day))),
  });
  return { current: of(period, 2), previous: of(previous, 1) };
}

/** Returns the row of a provider without any sent or returned email. */
export const emptyRowOf = (provider: string) => ({
  value: provider,
  name: null,
  ...withRates(presentCounts(undefined)),
});

/** Returns emails by the values of a dimension, largest first. */
export async function getBreakdown(
  database: Database,
  projectId: string,
  dimension: Dimension,
  period: Period,
) {
  const rows = await sumMailsByValue(database, projectId, dimension, spanOf(period));
  const shown = rows.slice(0, LIMITS.reportRows.value);
  const names =
    dimension === "kind" || dimension === "provider"
      ? new Map<string, string>()
      : await readNames(
          database,
          projectId,
          dimension,
          shown.map(({ value }) => value),
        );
  return shown.map((row) => ({
    value: row.value,
    name: names.get(row.value) ?? null,
    ...withRates(presentCounts(row)),
  }));
}

const presentCampaign = (row: MailSums) => ({
  sentCount: row.sent,
  openedCount: row.opened,
  clickedCount: row.clicked,
  openRate: percentOf(row.opened, row.sent),
  clickRate: percentOf(row.clicked, row.sent),
});

type CampaignMetric = (typeof CAMPAIGN_METRICS)[number];
const METRICS: Readonly<Record<CampaignMetric, keyof ReturnType<typeof presentCampaign>>> = {
  sent: "sentCount",
  opened: "openedCount",
  clicked: "clickedCount",
  openRate: "openRate",
  clickRate: "clickRate",
};

/** Returns the best campaigns of a period, without deleted ones. */
export async function listTopCampaigns(
  database: Database,
  projectId: string,
  {
    metric = "opened",
    limit = LIMITS.topRows.value,
  }: { metric?: CampaignMetric | undefined; limit?: number | undefined },
  period: Period,
) {
  const rows = await sumMailsByValue(database, projectId, "campaign", spanOf(period));
  const known = new Map(
    (
      await readCampaigns(
        database,
        projectId,
        rows.map(({ value }) => value),
      )
    ).map((campaign) => [campaign.id, campaign]),
  );
  return rows
    .flatMap((row) => {
      const campaign = known.get(row.value);
      return campaign === undefined ? [] : [{ ...campaign, ...presentCampaign(row) }];
    })
    .toSorted((one, other) => other[METRICS[metric]] - one[METRICS[metric]])
    .slice(0, limit);
}

export async function getCampaignTotals(database: Database, projectId: string, period: Period) {
  const [counts, rows] = await Promise.all([
    countCampaigns(database, projectId),
    sumMailsByValue(database, projectId, "campaign", spanOf(period)),
  ]);
  const sent = rows.filter((row) => row.sent > 0).map(presentCampaign);
  const average = (rate: "openRate" | "clickRate") =>
    sent.length === 0
      ? 0
      : Math.round((sent.reduce((sum, one) => sum + one[rate], 0) / sent.length) * 100) / 100;
  return { ...counts, averageOpenRate: average("openRate"), averageClickRate: average("clickRate") };
}

export async function listTopEvents(
  database: Database,
  projectId: string,
  limit: number | undefined,
  period: Period,
) {
  const rows = await sumNames(database, projectId, {
    previous: spanOf(previousPeriod(period)),
    current: spanOf(period),
  });
  return rows
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
    .slice(0, limit ?? LIMITS.topRows.value)
    .map(({ name, count, previousCount }) => ({
      name,
      count,
      previousCount,
      trend: previousCount <= 0 ? null : Math.round(((count - previousCount) / previousCount) * 1_000) / 10,
    }));
}

/** Returns subscriptions by day, including days without any. */
export async function getAudience(database: Database, projectId: string, period: Period) {
  const { bounds } = period;
  const span = spanOf(period);
  const most = LIMITS.countedArrivals.value;
  const [byDay, arrivals] = await Promise.all([
    sumSubscriptionsByDay(database, projectId, { span, bounds }),
    countArrivals(database, projectId, { span, bounds, most }),
  ]);
  return period.days.map((date, at) => {
    const row = byDay.get(at + 1);
    const [subscribed, unsubscribed] = [row?.subscribed ?? 0, row?.unsubscribed ?? 0];
    const [byBounce, byComplaint] = [row?.byBounce ?? 0, row?.byComplaint ?? 0];
    const added = at + 1 < arrivals.complete ? null : (arrivals.byDay.get(at + 1) ?? 0);
    return {
      date,
      added,
      subscribed,
      unsubscribed,
      byBounce,
      byComplaint,
      byChoice: unsubscribed - byBounce - byComplaint,
      growth: added === null ? null : added + subscribed - unsubscribed,
    };
  });
}

const WEEK_HOURS = 168;

/** Returns emails by weekday and hour in the zone. */
export async function getHours(database: Database, projectId: string, filter: MailFilter, period: Period) {
  const hours = Array.from({ length: WEEK_HOURS }, (_, at) => ({
    weekday: Math.floor(at / 24) + 1,
    hour: at % 24,
    emails: 0,
    opens: 0,
    clicks: 0,
  }));
  const span = spanOf(period);
  const stepMs = hourSteps(period);
  const placeOf = weekHours(period);
  for (const [step, sum] of await sumMailsByStep(database, projectId, filter, { span, stepMs })) {
    const { weekday, hour } = placeOf(span.from.getTime() + Number(step) * stepMs);
    const slot = hours[weekday * 24 + hour];
    if (slot === undefined) continue;
    slot.emails += sum.sent;
    slot.opens += sum.opened;
    slot.clicks += sum.clicked;
  }
  return hours;
}

export async function getActivityStats(database: Database, projectId: string, period: Period) {
  const span = spanOf(period);
  const all = { dimension: "kind", value: null } as const;
  const [mails, totalEvents, totalWorkflowsStarted] = await Promise.all([
    sumMailsByDay(database, projectId, all, { span, bounds: [span.from] }),
    sumEvents(database, projectId, span),
    countStarted(database, projectId, span),
  ]);
  const current = withRates(presentCounts(mails.get(1)));
  return {
    totalEvents,
    totalEmailsSent: current.emails,
    totalEmailsOpened: current.opens,
    totalEmailsClicked: current.clicks,
    totalWorkflowsStarted,
    openRate: current.openRate,
    clickRate: current.clickRate,
  };
}
