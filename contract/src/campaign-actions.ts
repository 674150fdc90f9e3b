// Campaign actions and results (spec §3.2, 4.7; decisions §8).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { CONFIRMABLE_FINDINGS, findingPart } from "./campaign-findings.ts";
import { campaign, confirmedFindings, counters } from "./campaigns.ts";
import { EMAIL_STATUSES, RESOLUTIONS } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, emailAddress, id, instant, pageQuery, pathId, inputInstant } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { PROVIDERS } from "./receiving-providers.ts";
import { testDraft } from "./template-trials.ts";
import { contentWarning } from "./templates.ts";

const byId = z.object({ id: pathId });

const scheduledFor = inputInstant.describe("A future time with its offset or Z (ISO 8601).");

export const sendCampaign = endpoint({
  name: "campaigns.send",
  method: "POST",
  path: "/campaigns/:id/send",
  summary: "Send a campaign now or schedule it",
  description:
    "Sends now only if no time is given. A time that is null, invalid or misspelled returns 422, and nothing is sent. Each recipient gets the email exactly once, because recipients are fixed in one snapshot when sending starts. If several calls arrive together, one starts the campaign and the others get 409. An unfinished campaign is rejected: merge tags of other services, placeholder text, links to example.com, an unsubscribe link without an address, an empty body. `confirm` sends it anyway.",
  caller: "project",
  sends: true,
  params: byId,
  body: z
    .object({
      scheduledFor: scheduledFor.optional(),
      scheduledAt: scheduledFor.optional().describe("The same as scheduledFor."),
      confirm: confirmedFindings,
    })
    .refine(
      ({ scheduledFor: one, scheduledAt: other }) =>
        one === undefined || other === undefined || one === other,
      { message: "`scheduledFor` and `scheduledAt` name different times.", path: ["scheduledAt"] },
    ),
  unknownFields: "refused",
  responses: { 200: campaign },
  errors: [
    "CAMPAIGN_NOT_FOUND",
    "CAMPAIGN_NOT_READY",
    "CONFLICT",
    "DOMAIN_NOT_VERIFIED",
    "BILLING_LIMIT_EXCEEDED",
    "EMAIL_VERIFICATION_REQUIRED",
  ],
});

function action(verb: "cancel" | "pause" | "resume" | "retry-failed", summary: string, description: string) {
  return endpoint({
    name: `campaigns.${verb === "retry-failed" ? "retryFailed" : verb}`,
    method: "POST",
    path: `/campaigns/:id/${verb}`,
    summary,
    description,
    caller: "project",
    params: byId,
    responses: { 200: campaign },
    errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
  });
}

export const cancelCampaign = action(
  "cancel",
  "Cancel a campaign",
  "A scheduled campaign becomes a draft again. If it is already sending, the remaining emails are dropped and the counts stay correct.",
);
export const pauseCampaign = action(
  "pause",
  "Pause a campaign that is sending",
  "Emails being submitted to the mail server are completed.",
);
export const resumeCampaign = action(
  "resume",
  "Resume a paused campaign",
  "Continues where it stopped. Also resumes a campaign that paused automatically, after you fix its heldReason.",
);
export const retryFailedCampaign = action(
  "retry-failed",
  "Resend to the failed recipients",
  "Recipients that got the email, or may have got it, never get it again. Redacted emails (`emailRetentionDays`) are left out and stay FAILED.",
);

export const resolveCampaign = endpoint({
  name: "campaigns.resolve",
  method: "POST",
  path: "/campaigns/:id/resolve",
  summary: "Resolve the UNCONFIRMED emails of a campaign",
  description:
    "Applies to the emails in `ids`, or to all. `sent` counts them as sent at the time of their submission. `failed` marks them as not accepted (`retry-failed` would resend them). `retry` sends them again, so some recipients may get the email twice. Emails that are not in doubt are left unchanged. Without `ids` the first " +
    `${LIMITS.resolvedAtOnce.value.toLocaleString("en")} are resolved; call again while unconfirmedCount is above 0. The timeline of each email records the author of the decision. A SENT campaign starts sending again, a paused one waits to be resumed, and a cancelled one never resends (409).`,
  caller: "project",
  params: byId,
  body: z.object({
    as: z.enum(RESOLUTIONS),
    ids: z
      .array(id)
      .min(1)
      .max(LIMITS.resolvedIds.value)
      .optional()
      .describe("Email ids from `GET /campaigns/:id/recipients?status=UNCONFIRMED`. Default: all."),
  }),
  unknownFields: "refused",
  responses: {
    200: campaign.extend({
      resolvedCount: z.int().describe("Emails that are no longer in doubt."),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
});

export const releaseCampaign = endpoint({
  name: "campaigns.release",
  method: "POST",
  path: "/campaigns/:id/release",
  summary: "Resume sending to throttled domains",
  description: "Applies to one of its `pausedDestinations`, or to all of them.",
  caller: "project",
  params: byId,
  body: z.object({ destination: z.string().max(LIMITS.addressLength.value).optional() }),
  unknownFields: "refused",
  responses: { 200: campaign },
  errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
});

export const testCampaign = endpoint({
  name: "campaigns.test",
  method: "POST",
  path: "/campaigns/:id/test",
  summary: "Send a test email of a campaign",
  description:
    "Adds [TEST] to the subject and is left out of reports. Rendered for the contact with that address or for `contactId`. For any other recipient the links are marked as a test and change nothing.",
  caller: "project",
  sends: true,
  params: byId,
  body: z.object({ email: emailAddress, contactId: id.optional(), draft: testDraft }),
  unknownFields: "refused",
  responses: { 200: z.object({ success: z.literal(true), email: z.uuid() }) },
  errors: ["CAMPAIGN_NOT_FOUND", "CONTACT_NOT_FOUND", "DOMAIN_NOT_VERIFIED", "EMAIL_VERIFICATION_REQUIRED"],
});

const percent = z.number().describe("Percentage, 0 to 100.");
const deliveryRate = percent.nullable().describe("Null until a delivery of the campaign is reported.");
const bounceRate = percent.describe("Percentage of the emails that were sent or rejected immediately.");

export const getCampaignStats = endpoint({
  name: "campaigns.stats",
  method: "GET",
  path: "/campaigns/:id/stats",
  summary: "Read the current counts of a campaign",
  description:
    "Counted on request, so they always add up: `totalRecipients` is the sum of sent, failed, skipped, unconfirmed and pending.",
  caller: "project",
  params: byId,
  responses: {
    200: counters.extend({
      deliveryRate,
      openRate: percent,
      clickRate: percent,
      bounceRate,
      complaintRate: percent,
      unsubscribeRate: percent,
      links: z
        .array(
          z.object({
            url: z.string().describe("As written by the author, including variables."),
            clicks: z.int(),
            uniqueClicks: z.int().describe("Recipients that clicked it at least once."),
            machineClicks: z
              .int()
              .describe("Clicks by scanners or previews; not included in the other counts."),
          }),
        )
        .describe("The links of the email, most clicked first."),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const listCampaignProviders = endpoint({
  name: "campaigns.providers",
  method: "GET",
  path: "/campaigns/:id/providers",
  summary: "Count a campaign by receiving provider",
  description:
    "Providers that received or rejected email, most emails first; together they match the counts of `/stats`. Counted on request, which takes a second or more for a million recipients.",
  caller: "project",
  params: byId,
  responses: {
    200: z.array(
      counters
        .pick({
          sentCount: true,
          deliveredCount: true,
          openedCount: true,
          clickedCount: true,
          bouncedCount: true,
          refusedCount: true,
          complainedCount: true,
        })
        .extend({
          provider: z.enum(PROVIDERS),
          deliveryRate,
          openRate: percent,
          clickRate: percent,
          bounceRate,
          complaintRate: percent,
        }),
    ),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const recipient = z.object({
  id: z.uuid().describe("The email's id."),
  contactId: z.uuid().nullable(),
  email: z.string(),
  status: z.enum(EMAIL_STATUSES),
  reason: z.string().nullable(),
  attempts: z.int(),
  sentAt: instant.nullable(),
  deliveredAt: instant.nullable(),
  openedAt: instant.nullable(),
  clickedAt: instant.nullable(),
  bouncedAt: instant.nullable(),
  complainedAt: instant.nullable(),
});

export const listCampaignRecipients = endpoint({
  name: "campaigns.recipients",
  method: "GET",
  path: "/campaigns/:id/recipients",
  summary: "List the recipients of a campaign with the status of each email",
  description:
    "Everyone in the audience when the campaign started, including recipients whose email is still waiting.",
  caller: "project",
  params: byId,
  query: pageQuery.extend({ status: z.enum(EMAIL_STATUSES).optional() }),
  responses: {
    200: cursorList(recipient),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const getCampaignAudience = endpoint({
  name: "campaigns.audience",
  method: "GET",
  path: "/campaigns/:id/audience",
  summary: "Count the current recipients of a campaign",
  description:
    "Counted on request, with the reasons for leaving contacts out. Fixes nothing, because recipients are fixed when the campaign starts.",
  caller: "project",
  params: byId,
  responses: {
    200: z.object({
      total: z.int(),
      eligible: z.int(),
      excluded: z.object({
        unsubscribed: z.int(),
        suppressed: z.int().describe("Contacts on the suppression list, if the project checks it."),
      }),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

const finding = z.object({
  code: z.string(),
  message: z.string().describe("The problem and how to fix it."),
  messageParts: z.array(findingPart).describe(`${IN_PARTS} Empty if the message has no code.`),
  where: z
    .object({ field: z.string(), line: z.int().nullable(), column: z.int().nullable() })
    .describe("The field and the position within it, if there is one, counted from 1."),
  replacement: contentWarning.shape.replacement,
});

export const checkCampaign = endpoint({
  name: "campaigns.check",
  method: "GET",
  path: "/campaigns/:id/check",
  summary: "Check a campaign before it is sent",
  description: "Advice on content, sender and audience. Nothing is sent or blocked.",
  caller: "project",
  params: byId,
  responses: {
    200: z.object({
      ready: z.boolean().describe("Whether nothing blocks sending."),
      blocks: z
        .array(finding)
        .describe(
          `Reasons not to send. Those with the codes ${CONFIRMABLE_FINDINGS.map((code) => `\`${code}\``).join(", ")} can be confirmed.`,
        ),
      warnings: z.array(finding),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});
