// Numbers over a period, by days of the viewer's zone (spec §4.11, decisions §10).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { issue, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import {
  DIMENSIONS,
  mailFilter,
  mailQuery,
  period,
  periodQuery,
  refuseSecondFilter,
} from "./report-queries.ts";

const ID_ERRORS = ["CAMPAIGN_NOT_FOUND", "TEMPLATE_NOT_FOUND", "WORKFLOW_NOT_FOUND"] as const;

const percent = z
  .number()
  .describe(
    "Percent of the mails that were sent in the period. What happened to mails of before is counted too, so a period with few mails may have more than 100.",
  );

const mailCounts = z.object({
  emails: z.int().describe("Mails that were sent."),
  delivered: z.int(),
  opens: z.int().describe("Mails a person opened for the first time."),
  clicks: z.int().describe("Mails in which a person followed a link for the first time."),
  machineOpens: z.int().describe("Mails that a privacy proxy or a scanner opened; not among the opens."),
  machineClicks: z.int().describe("Links that machines followed, each once a mail; not among the clicks."),
  bounces: z.int().describe("Hard bounces, refused at once or reported later."),
  softBounces: z.int(),
  complaints: z.int(),
  refused: z
    .int()
    .describe(
      "Of what bounced, hard or soft, the mails that were refused at once: they never left and are not among `emails`.",
    ),
});
const rates = z.object({
  openRate: percent,
  clickRate: percent,
  bounceRate: percent.describe("Percent of the mails that were sent in the period or refused at once."),
  complaintRate: percent,
});
const date = z.string().describe("The day in `tz`, as 2027-01-31.");

const ABOUT_TIME =
  "Each count is of what happened in that time: a mail that was sent on one day and opened on the next counts on both. What happened seconds ago is in it. With a deleted contact its events go, and with them its part of the numbers; test mails never count.";

export const getTimeseries = endpoint({
  name: "analytics.timeseries",
  method: "GET",
  path: "/analytics/timeseries",
  summary: "Count mails day by day",
  description: `Every day of the period, the first one first. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  answers: { 200: z.array(mailCounts.extend({ date })) },
  errors: ID_ERRORS,
});

const summary = mailCounts.extend(rates.shape).extend({ startDate: date, endDate: date });

export const getSummary = endpoint({
  name: "analytics.summary",
  method: "GET",
  path: "/analytics/summary",
  summary: "Count mails of a period and of the one before it",
  description: `\`previous\` is the same number of days, up to the day before the first one. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  answers: { 200: z.object({ current: summary, previous: summary }) },
  errors: ID_ERRORS,
});

export const breakdownRow = mailCounts.extend(rates.shape).extend({
  value: z.string().describe("A kind, a provider, or an id."),
  name: z.string().nullable().describe("Of what has the id, while it is there."),
});

export const getBreakdown = endpoint({
  name: "analytics.breakdown",
  method: "GET",
  path: "/analytics/breakdown",
  summary: "Count mails by kind, campaign, template, workflow or receiving provider",
  description: `The values with the most mails first, at most ${LIMITS.reportRows.value}. ${ABOUT_TIME}`,
  caller: "project",
  query: periodQuery.extend({ dimension: z.enum(DIMENSIONS) }),
  answers: {
    200: z.array(breakdownRow),
  },
});

export const CAMPAIGN_METRICS = ["sent", "opened", "clicked", "openRate", "clickRate"] as const;

export const listTopCampaigns = endpoint({
  name: "analytics.topCampaigns",
  method: "GET",
  path: "/analytics/top-campaigns",
  summary: "List the campaigns that did best",
  description: `By what happened in the period, the best first. ${ABOUT_TIME}`,
  caller: "project",
  query: periodQuery.extend({
    metric: z.enum(CAMPAIGN_METRICS).optional().describe("What counts; default `opened`."),
    limit: queryInteger(1, LIMITS.pageSizeMaximum.value, "How many; default 10.").optional(),
  }),
  answers: {
    200: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        subject: z.string(),
        sentCount: z.int(),
        openedCount: z.int(),
        clickedCount: z.int(),
        openRate: percent,
        clickRate: percent,
      }),
    ),
  },
});

export const getCampaignTotals = endpoint({
  name: "analytics.campaignStats",
  method: "GET",
  path: "/analytics/campaign-stats",
  summary: "Count campaigns, and average their rates",
  description:
    "`total`, `active` (scheduled, sending or paused) and `completed` are of all campaigns as they are now; the averages are over the campaigns of which mail was sent in the period, each with the same weight.",
  caller: "project",
  query: periodQuery,
  answers: {
    200: z.object({
      total: z.int(),
      active: z.int(),
      completed: z.int(),
      averageOpenRate: percent,
      averageClickRate: percent,
    }),
  },
});

export const listTopEvents = endpoint({
  name: "analytics.topEvents",
  method: "GET",
  path: "/analytics/top-events",
  summary: "List the most frequent events",
  description:
    "Tracked events, subscriptions and entries into segments; what happened to mails is in the other reports. The events of a deleted contact are gone.",
  caller: "project",
  query: periodQuery.extend({
    limit: queryInteger(1, LIMITS.pageSizeMaximum.value, "How many; default 10.").optional(),
  }),
  answers: {
    200: z.array(
      z.object({
        name: z.string(),
        count: z.int(),
        previousCount: z.int(),
        trend: z
          .number()
          .nullable()
          .describe("Percent of change since the period before; null where there were none."),
      }),
    ),
  },
});

export const getAudience = endpoint({
  name: "analytics.audience",
  method: "GET",
  path: "/analytics/audience",
  summary: "Count subscriptions day by day, and why they ended",
  description:
    "Every day of the period, the first one first; of contacts that are still there. What counts are changes: a contact that was subscribed when it was made is none.",
  caller: "project",
  query: periodQuery,
  answers: {
    200: z.array(
      z.object({
        date,
        subscribed: z.int().describe("Contacts that were subscribed."),
        unsubscribed: z.int().describe("Contacts that no longer were, for whatever reason."),
        byBounce: z.int(),
        byComplaint: z.int(),
        byChoice: z.int().describe("By a page, a link, the API or a person of the project."),
        growth: z.int().describe("Subscribed less unsubscribed."),
      }),
    ),
  },
});

export const getHours = endpoint({
  name: "analytics.hours",
  method: "GET",
  path: "/analytics/hours",
  summary: "Count mails by weekday and hour",
  description: `All 168 hours of a week in \`tz\`, Monday at 0 first. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  answers: {
    200: z.array(
      z.object({
        weekday: z.int().describe("1 is Monday, 7 is Sunday."),
        hour: z.int(),
        emails: z.int(),
        opens: z.int(),
        clicks: z.int(),
      }),
    ),
  },
  errors: ID_ERRORS,
});

export const REPORTS = [
  "timeseries",
  "summary",
  "breakdown",
  "top-campaigns",
  "campaign-stats",
  "top-events",
  "audience",
  "hours",
] as const;

export const exportReport = endpoint({
  name: "analytics.export",
  method: "GET",
  path: "/analytics/export.csv",
  summary: "A report as CSV",
  description:
    "The rows of the report of that name, with its columns; those of `summary` are `current` and `previous`. A report without rows has the names of its columns. `dimension` is for `breakdown`, `metric` for `top-campaigns`, and `limit` for `top-campaigns` and `top-events`; filters are for `timeseries`, `summary` and `hours`.",
  caller: "project",
  query: z
    .object({
      ...period,
      ...mailFilter,
      report: z.enum(REPORTS),
      dimension: z.enum(DIMENSIONS).optional(),
      metric: z.enum(CAMPAIGN_METRICS).optional(),
      limit: queryInteger(
        1,
        LIMITS.pageSizeMaximum.value,
        `How many rows; default ${LIMITS.pageSizeMaximum.value}.`,
      ).optional(),
    })
    .superRefine((query, context) => {
      refuseSecondFilter(query, context);
      if (query.report === "breakdown" && query.dimension === undefined)
        context.addIssue(issue("Required for this report.", "required", undefined, ["dimension"]));
    }),
  envelope: "raw",
  contentType: "text/csv",
  answers: { 200: z.string() },
  errors: ID_ERRORS,
});

export const getActivityStats = endpoint({
  name: "activity.stats",
  method: "GET",
  path: "/activity/stats",
  summary: "Count what happened in a period",
  description: ABOUT_TIME,
  caller: "project",
  query: periodQuery,
  answers: {
    200: z.object({
      totalEvents: z.int().describe("Tracked events, subscriptions, entries into segments."),
      totalEmailsSent: z.int(),
      totalEmailsOpened: z.int(),
      totalEmailsClicked: z.int(),
      totalWorkflowsStarted: z.int(),
      openRate: percent,
      clickRate: percent,
    }),
  },
});
