// What is done with a campaign, and what came of it (spec §3.2, 4.7; decisions §8).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { CONFIRMABLE_FINDINGS, findingPart } from "./campaign-findings.ts";
import { campaign, confirmedFindings, counters } from "./campaigns.ts";
import { EMAIL_STATUSES, RESOLUTIONS } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, emailAddress, id, instant, pageQuery, pathId, givenInstant } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { PROVIDERS } from "./report-queries.ts";
import { contentWarning } from "./templates.ts";

const byId = z.object({ id: pathId });

const scheduledFor = givenInstant.describe("An instant in the future with its offset or Z (ISO 8601).");

export const sendCampaign = endpoint({
  name: "campaigns.send",
  method: "POST",
  path: "/campaigns/:id/send",
  summary: "Send a campaign now or schedule it",
  description:
    "Sends now only if no time is given: a time that is null, invalid or misspelled is 422, and nothing is sent. Everyone exactly once: the recipients are fixed in one snapshot when sending starts. Of many calls at once one starts it, the others get 409. A campaign that is not finished is refused: merge tags of other services, placeholder text, links to example.com, an unsubscribe link without an address, an empty body. `confirm` sends it anyway.",
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
  answers: { 200: campaign },
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
    answers: { 200: campaign },
    errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
  });
}

export const cancelCampaign = action(
  "cancel",
  "Cancel a campaign",
  "A scheduled one is a draft again. Of one that is sending, what has not left is dropped; the counts stay true.",
);
export const pauseCampaign = action("pause", "Pause a campaign that is sending", "What is in handover ends.");
export const resumeCampaign = action(
  "resume",
  "Go on with a paused campaign",
  "Where it stopped; also one that paused by itself, once what its heldReason says is mended.",
);
export const retryFailedCampaign = action(
  "retry-failed",
  "Send again to the recipients that failed",
  "Only those; nobody who was sent the mail, or may have been, gets it again. Mails that are forgotten (`emailRetentionDays`) are left out and stay FAILED.",
);

export const resolveCampaign = endpoint({
  name: "campaigns.resolve",
  method: "POST",
  path: "/campaigns/:id/resolve",
  summary: "Say what became of mails that are UNCONFIRMED",
  description:
    "Of those in `ids`, or of all: `sent` counts them as sent at the time of their handover, `failed` says that they were not taken (`retry-failed` would send them again), `retry` sends them again, so that some may get the mail twice. Others than those in doubt are left alone. Without `ids` the first " +
    `${LIMITS.resolvedAtOnce.value.toLocaleString("en")} are resolved: call again while unconfirmedCount is more than 0. Who said so stands in the timeline of each mail. A campaign that is SENT sends again; one that is paused waits to be resumed; of a cancelled one nothing is sent again (409).`,
  caller: "project",
  params: byId,
  body: z.object({
    as: z.enum(RESOLUTIONS),
    ids: z
      .array(id)
      .min(1)
      .max(LIMITS.resolvedIds.value)
      .optional()
      .describe("The mails, as `GET /campaigns/:id/recipients?status=UNCONFIRMED` names them. Default: all."),
  }),
  unknownFields: "refused",
  answers: {
    200: campaign.extend({
      resolvedCount: z.int().describe("Mails that were in doubt and are not any more."),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
});

export const releaseCampaign = endpoint({
  name: "campaigns.release",
  method: "POST",
  path: "/campaigns/:id/release",
  summary: "Let mail go on to destinations that are paused",
  description: "To one of its `pausedDestinations`, or to all of them.",
  caller: "project",
  params: byId,
  body: z.object({ destination: z.string().max(LIMITS.addressLength.value).optional() }),
  unknownFields: "refused",
  answers: { 200: campaign },
  errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
});

export const testCampaign = endpoint({
  name: "campaigns.test",
  method: "POST",
  path: "/campaigns/:id/test",
  summary: "Send a test mail of a campaign",
  description:
    "With [TEST] before its subject, rendered as the contact of that address or of `contactId`; counted nowhere. For anyone else its links are marked as a test and change nothing.",
  caller: "project",
  sends: true,
  params: byId,
  body: z.object({ email: emailAddress, contactId: id.optional() }),
  unknownFields: "refused",
  answers: { 200: z.object({ success: z.literal(true), email: z.uuid() }) },
  errors: ["CAMPAIGN_NOT_FOUND", "CONTACT_NOT_FOUND", "DOMAIN_NOT_VERIFIED", "EMAIL_VERIFICATION_REQUIRED"],
});

const percent = z.number().describe("Percent, 0 to 100.");

export const getCampaignStats = endpoint({
  name: "campaigns.stats",
  method: "GET",
  path: "/campaigns/:id/stats",
  summary: "Read the counts of a campaign as they are now",
  description:
    "Counted when you ask, so they always add up: `totalRecipients` is what was sent, failed, was skipped, is unconfirmed and is pending.",
  caller: "project",
  params: byId,
  answers: {
    200: counters.extend({
      deliveryRate: percent,
      openRate: percent,
      clickRate: percent,
      bounceRate: percent,
      complaintRate: percent,
      unsubscribeRate: percent,
      links: z
        .array(
          z.object({
            url: z.string().describe("As the author wrote it, variables and all."),
            clicks: z.int(),
            uniqueClicks: z.int().describe("Recipients who followed it at least once."),
            machineClicks: z.int().describe("Times a scanner or a preview did; not among the others."),
          }),
        )
        .describe("The links of the mail, most followed first."),
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
    "Those that got a mail, the most mails first; together they are the counts of `/stats`. Counted when you ask, which takes a second or more for a campaign of a million. Recipients who have been erased since count as `other`.",
  caller: "project",
  params: byId,
  answers: {
    200: z.array(
      counters
        .pick({
          sentCount: true,
          deliveredCount: true,
          openedCount: true,
          clickedCount: true,
          bouncedCount: true,
          complainedCount: true,
        })
        .extend({
          provider: z.enum(PROVIDERS),
          deliveryRate: percent,
          openRate: percent,
          clickRate: percent,
          bounceRate: percent,
          complaintRate: percent,
        }),
    ),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const listCampaignRecipients = endpoint({
  name: "campaigns.recipients",
  method: "GET",
  path: "/campaigns/:id/recipients",
  summary: "List the recipients of a campaign with the state of each mail",
  description:
    "Everybody who was in the audience when the campaign started, also those whose mail still waits.",
  caller: "project",
  params: byId,
  query: pageQuery.extend({ status: z.enum(EMAIL_STATUSES).optional() }),
  answers: {
    200: cursorList(
      z.object({
        id: z.uuid().describe("The mail."),
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
      }),
    ),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const getCampaignAudience = endpoint({
  name: "campaigns.audience",
  method: "GET",
  path: "/campaigns/:id/audience",
  summary: "Count who would get a campaign now",
  description:
    "Counted when you ask, with the reasons for which contacts are left out. It fixes nothing: recipients are fixed when the campaign starts.",
  caller: "project",
  params: byId,
  answers: {
    200: z.object({
      total: z.int(),
      eligible: z.int(),
      excluded: z.object({
        unsubscribed: z.int(),
        suppressed: z.int().describe("Who is on the suppression list, where the project looks at it."),
      }),
    }),
  },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

const finding = z.object({
  code: z.string(),
  message: z.string().describe("What is wrong and what to do."),
  messageParts: z.array(findingPart).describe(`${IN_PARTS} None where there is no code for it.`),
  where: z
    .object({ field: z.string(), line: z.int().nullable(), column: z.int().nullable() })
    .describe("The field, and the place in it where there is one; from 1."),
  replacement: contentWarning.shape.replacement,
});

export const checkCampaign = endpoint({
  name: "campaigns.check",
  method: "GET",
  path: "/campaigns/:id/check",
  summary: "Check a campaign before it is sent",
  description: "Advice on content, sender and audience. It refuses nothing, and nothing is sent.",
  caller: "project",
  params: byId,
  answers: {
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
