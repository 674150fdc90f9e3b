// Reports over a period, by days in the viewer's time zone (spec §4.11, decisions §10).
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
    "Percentage of the emails sent in the period. Activity of earlier emails counts too, so a period with few emails can exceed 100.",
  );

const mailCounts = z.object({
  emails: z.int().describe("Emails sent."),
  delivered: z.int(),
  opens: z.int().describe("Emails opened by a person for the first time."),
  clicks: z.int().describe("Emails in which a person clicked a link for the first time."),
  machineOpens: z.int().describe("Emails opened by a privacy proxy or scanner; not included in opens."),
  machineClicks: z.int().describe("Links followed by machines, each once per email; not included in clicks."),
  bounces: z.int().describe("Hard bounces, rejected immediately or reported later."),
  softBounces: z.int(),
  complaints: z.int(),
  refused: z
    .int()
    .describe(
      "Hard or soft bounces that were rejected immediately. These emails were never delivered and are not included in `emails`.",
    ),
});
const rates = z.object({
  openRate: percent,
  clickRate: percent,
  bounceRate: percent.describe(
    "Percentage of the emails that were sent in the period or rejected immediately.",
  ),
  complaintRate: percent,
});
const date = z.string().describe("The day in `tz`, such as 2027-01-31.");

const ABOUT_TIME =
  "Each number counts what happened in that time, so an email sent on one day and opened on the next counts on both. Numbers are up to date within seconds. Numbers of emails stay when a contact is deleted. Test emails are never counted.";

export const getTimeseries = endpoint({
  name: "analytics.timeseries",
  method: "GET",
  path: "/analytics/timeseries",
  summary: "Count emails by day",
  description: `Every day of the period, oldest first. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  responses: { 200: z.array(mailCounts.extend({ date })) },
  errors: ID_ERRORS,
});

const summary = mailCounts.extend(rates.shape).extend({ startDate: date, endDate: date });

export const getSummary = endpoint({
  name: "analytics.summary",
  method: "GET",
  path: "/analytics/summary",
  summary: "Count the emails of a period and of the previous one",
  description: `\`previous\` covers the same number of days, ending on the day before the period. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  responses: { 200: z.object({ current: summary, previous: summary }) },
  errors: ID_ERRORS,
});

export const breakdownRow = mailCounts.extend(rates.shape).extend({
  value: z.string().describe("A kind, a provider or an id."),
  name: z.string().nullable().describe("The current name for an id, or null if it was deleted."),
});

export const getBreakdown = endpoint({
  name: "analytics.breakdown",
  method: "GET",
  path: "/analytics/breakdown",
  summary: "Count emails by kind, campaign, template, workflow or receiving provider",
  description: `Values with the most emails first, up to ${LIMITS.reportRows.value}. ${ABOUT_TIME}`,
  caller: "project",
  query: periodQuery.extend({ dimension: z.enum(DIMENSIONS) }),
  responses: {
    200: z.array(breakdownRow),
  },
});

export const CAMPAIGN_METRICS = ["sent", "opened", "clicked", "openRate", "clickRate"] as const;

export const listTopCampaigns = endpoint({
  name: "analytics.topCampaigns",
  method: "GET",
  path: "/analytics/top-campaigns",
  summary: "List the best campaigns",
  description: `Ranked by activity in the period, best first. ${ABOUT_TIME}`,
  caller: "project",
  query: periodQuery.extend({
    metric: z.enum(CAMPAIGN_METRICS).optional().describe("The metric to rank by; default `opened`."),
    limit: queryInteger(1, LIMITS.pageSizeMaximum.value, "Number of campaigns; default 10.").optional(),
  }),
  responses: {
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
  summary: "Count campaigns and average their rates",
  description:
    "`total`, `active` (scheduled, sending or paused) and `completed` cover all campaigns as of now. The averages cover the campaigns that sent email in the period, with equal weight.",
  caller: "project",
  query: periodQuery,
  responses: {
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
    "Tracked events, subscriptions and segment entries. Email activity is in the other reports. Events of deleted contacts are not included.",
  caller: "project",
  query: periodQuery.extend({
    limit: queryInteger(1, LIMITS.pageSizeMaximum.value, "Number of events; default 10.").optional(),
  }),
  responses: {
    200: z.array(
      z.object({
        name: z.string(),
        count: z.int(),
        previousCount: z.int(),
        trend: z
          .number()
          .nullable()
          .describe("Percentage of change since the previous period; null if that period had none."),
      }),
    ),
  },
});

export const getAudience = endpoint({
  name: "analytics.audience",
  method: "GET",
  path: "/analytics/audience",
  summary: "Count subscriptions by day, and reasons for unsubscribing",
  description: `Every day of the period, oldest first, for contacts that still exist. If its new contacts have more than ${LIMITS.countedArrivals.value.toLocaleString("en")} entries in their consent logs, \`added\` and \`growth\` of its first days are null.`,
  caller: "project",
  query: periodQuery,
  responses: {
    200: z.array(
      z.object({
        date,
        added: z.int().nullable().describe("Contacts that were added as subscribed. Null if not counted."),
        subscribed: z.int().describe("Existing contacts that became subscribed."),
        unsubscribed: z.int().describe("Contacts that became unsubscribed, for any reason."),
        byBounce: z.int(),
        byComplaint: z.int(),
        byChoice: z.int().describe("By a page, a link, the API or a project member."),
        growth: z.int().nullable().describe("Added plus subscribed minus unsubscribed."),
      }),
    ),
  },
});

export const getHours = endpoint({
  name: "analytics.hours",
  method: "GET",
  path: "/analytics/hours",
  summary: "Count emails by weekday and hour",
  description: `All 168 hours of a week in \`tz\`, starting Monday at 0. ${ABOUT_TIME}`,
  caller: "project",
  query: mailQuery,
  responses: {
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
  summary: "Export a report as CSV",
  description:
    "The rows and columns of the named report; the rows of `summary` are `current` and `previous`. A report without rows contains only column names. `dimension` applies to `breakdown`, `metric` to `top-campaigns`, and `limit` to `top-campaigns` and `top-events`. Filters apply to `timeseries`, `summary` and `hours`.",
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
        `Number of rows; default ${LIMITS.pageSizeMaximum.value}.`,
      ).optional(),
    })
    .superRefine((query, context) => {
      refuseSecondFilter(query, context);
      if (query.report === "breakdown" && query.dimension === undefined)
        context.addIssue(issue("Required for this report.", "required", undefined, ["dimension"]));
    }),
  envelope: "raw",
  contentType: "text/csv",
  responses: { 200: z.string() },
  errors: ID_ERRORS,
});

export const getActivityStats = endpoint({
  name: "activity.stats",
  method: "GET",
  path: "/activity/stats",
  summary: "Count the activity of a period",
  description: ABOUT_TIME,
  caller: "project",
  query: periodQuery,
  responses: {
    200: z.object({
      totalEvents: z.int().describe("Tracked events, subscriptions and segment entries."),
      totalEmailsSent: z.int(),
      totalEmailsOpened: z.int(),
      totalEmailsClicked: z.int(),
      totalWorkflowsStarted: z.int(),
      openRate: percent,
      clickRate: percent,
    }),
  },
});
