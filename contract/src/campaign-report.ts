// The report of a campaign over time, by status and compared with earlier campaigns.
import { z } from "zod";
import { campaign } from "./campaigns.ts";
import { EMAIL_STATUSES } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { instant, pathId, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const byId = z.object({ id: pathId });
const percent = z.number().describe("Percentage, 0 to 100.");

export const getCampaignActivity = endpoint({
  name: "campaigns.activity",
  method: "GET",
  path: "/campaigns/:id/activity",
  summary: "Count the first hours of a campaign by the minute",
  description:
    `Every interval from the start until now or for \`hours\`, oldest first. An interval is a minute for up to ${LIMITS.minuteHours.value} hours of a campaign ` +
    `with up to ${LIMITS.minuteRecipients.value.toLocaleString("en")} recipients, and otherwise a quarter of an hour. Empty before the campaign starts. For days, see \`GET /analytics/timeseries\`.`,
  caller: "project",
  params: byId,
  query: z.object({
    hours: queryInteger(1, LIMITS.activityHours.value, "Number of hours; default 3.").optional(),
  }),
  responses: {
    200: z.object({
      stepMinutes: z.int().describe("Minutes in each interval, 1 or 15."),
      points: z.array(
        z.object({
          at: instant.describe("Start of the interval."),
          sent: z.int(),
          opens: z.int().describe("Emails opened by a person for the first time."),
          clicks: z.int().describe("Emails in which a person clicked a link for the first time."),
        }),
      ),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const listPreviousCampaigns = endpoint({
  name: "campaigns.previous",
  method: "GET",
  path: "/campaigns/:id/previous",
  summary: "List the campaigns sent before a campaign, for comparison",
  description: `Sent campaigns of the same kind that started earlier, newest first, up to ${LIMITS.comparedCampaigns.value}. Empty for a campaign that has not started.`,
  caller: "project",
  params: byId,
  responses: {
    200: z.array(
      campaign
        .pick({
          id: true,
          name: true,
          subject: true,
          startedAt: true,
          totalRecipients: true,
          sentCount: true,
        })
        .extend({
          deliveryRate: percent.nullable().describe("Null if no delivery of the campaign was reported."),
          openRate: percent,
          clickRate: percent,
          bounceRate: percent,
          complaintRate: percent,
          unsubscribeRate: percent,
        }),
    ),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const exportCampaignRecipients = endpoint({
  name: "campaigns.exportRecipients",
  method: "GET",
  path: "/campaigns/:id/recipients.csv",
  summary: "Export the recipients of a campaign as CSV",
  description:
    "The columns are the fields of `GET /campaigns/:id/recipients`. The audit log records the export.",
  caller: "project",
  params: byId,
  query: z.object({ status: z.enum(EMAIL_STATUSES).optional() }),
  envelope: "raw",
  contentType: "text/csv",
  responses: { 200: z.string() },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const countCampaignRecipients = endpoint({
  name: "campaigns.recipientCounts",
  method: "GET",
  path: "/campaigns/:id/recipient-counts",
  summary: "Count the recipients of a campaign by status",
  description: `The total of \`GET /campaigns/:id/recipients\` for each \`status\`. Counting stops above ${LIMITS.countedRecipients.value.toLocaleString("en")} recipients of a status.`,
  caller: "project",
  params: byId,
  responses: {
    200: z.array(
      z.object({
        status: z.enum(EMAIL_STATUSES),
        count: z.int(),
        isMore: z.boolean().describe("Whether there are more than `count`."),
      }),
    ),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

/** In the order of the documentation. */
export const CAMPAIGN_REPORT_ENDPOINTS = [
  getCampaignActivity,
  listPreviousCampaigns,
  exportCampaignRecipients,
  countCampaignRecipients,
] as const;
