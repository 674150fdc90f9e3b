// Campaign endpoints: one message to many contacts, now or later (spec §2.6, 3.2, 4.7; decisions §8).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { CONFIRMABLE_FINDINGS } from "./campaign-findings.ts";
import { bodyText, previewText, shownPreviewText, subject } from "./content.ts";
import { pausedDestination } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import {
  displayName,
  emailAddress,
  expectedUpdatedAt,
  id,
  instant,
  issue,
  pageQuery,
  pathId,
} from "./field.ts";
import { nameText } from "./name-text.ts";
import { filter, type Filter } from "./filters.ts";
import { heldReasonPart } from "./held-reasons.ts";
import { LIMITS } from "./limits/limits.ts";
import { bodyMissing, contentWarning, design, hasBody, storedDesign, TEMPLATE_TYPES } from "./templates.ts";

/** The same three kinds as for templates. */
export const CAMPAIGN_KINDS = TEMPLATE_TYPES;
export type CampaignKind = (typeof CAMPAIGN_KINDS)[number];

export const AUDIENCE_TYPES = ["ALL", "SEGMENT", "FILTERED"] as const;
export type AudienceType = (typeof AUDIENCE_TYPES)[number];

export const CAMPAIGN_STATUSES = ["DRAFT", "SCHEDULED", "SENDING", "PAUSED", "SENT", "CANCELLED"] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const counters = z.object({
  totalRecipients: z.int().describe("Always sent + failed + skipped + unconfirmed + pending."),
  sentCount: z.int(),
  failedCount: z.int(),
  skippedCount: z.int(),
  unconfirmedCount: z
    .int()
    .describe("Submitted without a confirmation, so it is unknown whether they were accepted."),
  pendingCount: z.int(),
  deliveredCount: z
    .int()
    .describe(
      "Reported as delivered. The local mailbox and Amazon SES with notifications report deliveries, SMTP servers don't.",
    ),
  openedCount: z.int(),
  clickedCount: z.int(),
  bouncedCount: z.int().describe("Hard bounces, rejected immediately or reported later, as in analytics."),
  refusedCount: z
    .int()
    .describe(
      "Hard or soft bounces that were rejected immediately. These emails were never delivered and are part of `failedCount`.",
    ),
  complainedCount: z.int(),
  unsubscribedCount: z.int(),
});

export const campaign = counters.extend({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  subject: z.string(),
  previewText: shownPreviewText,
  body: z.string(),
  design: storedDesign,
  from: z.string(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
  kind: z.enum(CAMPAIGN_KINDS),
  type: z.enum(AUDIENCE_TYPES).describe("The same as audienceType."),
  audienceType: z.enum(AUDIENCE_TYPES),
  segmentId: z.uuid().nullable(),
  audienceFilter: z.unknown(),
  status: z.enum(CAMPAIGN_STATUSES),
  scheduledAt: instant.nullable(),
  scheduledFor: instant.nullable().describe("The same as scheduledAt."),
  heldReason: z
    .string()
    .nullable()
    .describe(
      "The reason why a campaign waits for you. Send or reschedule a scheduled campaign. Fix the cause of the rejections and resume a campaign that paused automatically.",
    ),
  heldReasonParts: z.array(heldReasonPart).describe(`${IN_PARTS} Empty if the campaign does not wait.`),
  pausedDestinations: z
    .array(pausedDestination)
    .describe(
      "Providers that reject the campaign because of its sender. Email to them waits (pending) while all other email continues. Only for a single campaign, not in lists.",
    ),
  startedAt: instant.nullable(),
  sentAt: instant.nullable().describe("Time at which every recipient had a final state."),
  createdAt: instant,
  updatedAt: instant,
});
/** Lists leave out the body. */
export const listedCampaign = campaign.omit({
  previewText: true,
  body: true,
  design: true,
  audienceFilter: true,
  pausedDestinations: true,
});
const byId = z.object({ id: pathId });

/** Findings that the caller has seen and accepts. */
export const confirmedFindings = z
  .array(z.enum(CONFIRMABLE_FINDINGS))
  .max(CONFIRMABLE_FINDINGS.length)
  .optional()
  .describe(
    "Codes of blocks from `GET /campaigns/:id/check` that you accept. Any other block fails with `CAMPAIGN_NOT_READY`.",
  );

/** Also accepts the field names of older clients: `type` for the kind, `audienceCondition` for the filter. */
const campaignBody = z
  .object({
    name: nameText,
    description: z
      .string()
      .max(LIMITS.descriptionLength.value)
      .nullable()
      .optional()
      .describe("null for none."),
    subject: subject.describe("Variables are filled in for each recipient."),
    previewText: previewText.optional(),
    body: bodyText
      .optional()
      .describe(
        "HTML; Handlebars variables are filled in for each recipient. Required unless there is a design with blocks.",
      ),
    design: design
      .optional()
      .describe(
        "The editor's data; `body` is what gets sent. With Postloft blocks, the body is generated from them, as for a template.",
      ),
    from: emailAddress.describe("The sender's address at a verified domain."),
    fromName: displayName.nullable().optional().describe("null for none."),
    replyTo: emailAddress.nullable().optional().describe("null for none."),
    kind: z
      .enum(CAMPAIGN_KINDS)
      .optional()
      .describe(
        "MARKETING (default) and HEADLESS go to subscribed contacts only, TRANSACTIONAL goes to everyone.",
      ),
    type: z.string().optional().describe("MARKETING, TRANSACTIONAL and HEADLESS are read as `kind`."),
    audienceType: z.enum(AUDIENCE_TYPES),
    segmentId: id.nullable().optional().describe("Required for the audience SEGMENT; null for none."),
    audienceFilter: filter
      .nullable()
      .optional()
      .describe("Required for the audience FILTERED; null for none."),
    audienceCondition: filter.nullable().optional().describe("The same as audienceFilter."),
  })
  .refine(hasBody, bodyMissing)
  .superRefine((body, context) => {
    if (body.audienceType === "SEGMENT" && (body.segmentId ?? null) === null)
      context.addIssue(issue("Required for the audience SEGMENT.", "required", undefined, ["segmentId"]));
    if (body.audienceType === "FILTERED" && (body.audienceFilter ?? body.audienceCondition ?? null) === null)
      context.addIssue(
        issue("Required for the audience FILTERED.", "required", undefined, ["audienceFilter"]),
      );
  });

/** Returns the kind and the filter of a request in either spelling. `type` can contain the kind and `audienceCondition` the filter. */
export function readSpellings<
  Body extends {
    kind?: CampaignKind | undefined;
    type?: string | undefined;
    audienceFilter?: Filter | null | undefined;
    audienceCondition?: Filter | null | undefined;
  },
>({ type, audienceCondition, ...body }: Body) {
  return {
    ...body,
    kind: body.kind ?? CAMPAIGN_KINDS.find((kind) => kind === type),
    audienceFilter: body.audienceFilter ?? audienceCondition,
  };
}

export const listCampaigns = endpoint({
  name: "campaigns.list",
  method: "GET",
  path: "/campaigns",
  summary: "List campaigns, newest first",
  description: "By pages (`page`), or by the cursor of the previous page.",
  caller: "project",
  query: pageQuery.extend({
    status: z.enum(CAMPAIGN_STATUSES).optional(),
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the name, case-insensitive."),
  }),
  responses: {
    200: z.object({
      campaigns: z.array(listedCampaign),
      data: z.array(listedCampaign).describe("The same as campaigns."),
      cursor: z.string().nullable(),
      hasMore: z.boolean(),
      page: z.int(),
      pageSize: z.int(),
      total: z.int(),
      totalPages: z.int(),
    }),
  },
});

const savedCampaign = campaign.extend({
  warnings: z
    .array(contentWarning)
    .describe("Merge tags of other services, and variables for which no contact has a value."),
});

export const createCampaign = endpoint({
  name: "campaigns.create",
  method: "POST",
  path: "/campaigns",
  summary: "Create a campaign as a draft",
  description:
    "Subject and body are checked, and faults in their variables are returned with line and column. The domain of `from` must be verified.",
  caller: "project",
  body: campaignBody,
  unknownFields: "refused-unless-returned",
  envelope: "wrapped",
  responses: { 201: savedCampaign },
  errors: ["DOMAIN_NOT_VERIFIED"],
});

export const getCampaign = endpoint({
  name: "campaigns.get",
  method: "GET",
  path: "/campaigns/:id",
  summary: "Read a campaign",
  description: "The campaign with its content, audience and counts.",
  caller: "project",
  params: byId,
  responses: { 200: campaign },
  errors: ["CAMPAIGN_NOT_FOUND"],
});

export const replaceCampaign = endpoint({
  name: "campaigns.replace",
  method: "PUT",
  path: "/campaigns/:id",
  summary: "Replace a draft or a scheduled campaign",
  description:
    "Replaces all fields: omitted fields get their defaults, and required fields must be present. A scheduled campaign keeps its time and is checked as when it was scheduled.",
  caller: "project",
  params: byId,
  body: campaignBody.safeExtend({ expectedUpdatedAt, confirm: confirmedFindings }),
  unknownFields: "refused-unless-returned",
  responses: { 200: savedCampaign },
  errors: [
    "CAMPAIGN_NOT_FOUND",
    "CAMPAIGN_NOT_READY",
    "CONFLICT",
    "CHANGED_MEANWHILE",
    "DOMAIN_NOT_VERIFIED",
  ],
});

export const deleteCampaign = endpoint({
  name: "campaigns.delete",
  method: "DELETE",
  path: "/campaigns/:id",
  summary: "Delete a campaign",
  description: "Not possible while it is scheduled, sending or paused. Its emails are kept.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["CAMPAIGN_NOT_FOUND", "CONFLICT"],
});

export const duplicateCampaign = endpoint({
  name: "campaigns.duplicate",
  method: "POST",
  path: "/campaigns/:id/duplicate",
  summary: "Copy a campaign into a new draft",
  description: "Content, sender and audience are copied; the schedule and the recipients are not.",
  caller: "project",
  params: byId,
  responses: { 201: campaign },
  errors: ["CAMPAIGN_NOT_FOUND"],
});
