// Email endpoints and statuses (decisions §7, §8).
import { z } from "zod";
import { emailTag } from "./email-labels.ts";
import { endpoint } from "./endpoint.ts";
import { cursorList, id, instant, issue, pageQuery, pathId, inputInstant, queryBoolean } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { PROVIDERS } from "./receiving-providers.ts";

/** QUEUED → CLAIMED → SENDING → SENT | FAILED | SKIPPED | UNCONFIRMED, then the reports about it; forward only (decisions §8). */
export const EMAIL_STATUSES = [
  "QUEUED",
  "CLAIMED",
  "SENDING",
  "SENT",
  "FAILED",
  "SKIPPED",
  "UNCONFIRMED",
  "DELIVERED",
  "OPENED",
  "CLICKED",
  "BOUNCED",
  "COMPLAINED",
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** Decisions about an email in doubt, made by a person. */
export const RESOLUTIONS = ["sent", "failed", "retry"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** In sending order when several kinds wait. */
export const EMAIL_KINDS = ["TRANSACTIONAL", "WORKFLOW", "CAMPAIGN"] as const;
export type EmailKind = (typeof EMAIL_KINDS)[number];

export const email = z.object({
  id: z.uuid(),
  contactId: z.uuid().nullable(),
  campaignId: z.uuid().nullable(),
  workflowId: z.uuid().nullable(),
  kind: z.enum(EMAIL_KINDS),
  status: z.enum(EMAIL_STATUSES),
  to: z.string(),
  from: z.string(),
  subject: z.string().describe("The sent subject; until then the original with unfilled variables."),
  reason: z
    .string()
    .nullable()
    .describe("The reason why it was not sent, or the response to the last attempt."),
  attempts: z.int(),
  nextAttemptAt: instant.nullable(),
  scheduledFor: instant
    .nullable()
    .describe("The time requested with `scheduledFor`. Until then the email is QUEUED."),
  createdAt: instant,
  sentAt: instant.nullable(),
  tags: z.array(z.string()).describe("Empty without tags, and after `forgottenAt`."),
  metadata: z.record(z.string(), z.string()).describe("Empty without metadata, and after `forgottenAt`."),
  forgottenAt: instant
    .nullable()
    .describe(
      "The time when the project's `emailRetentionDays` ended and `to`, `subject` and all content were deleted. Status, times and reports are kept.",
    ),
});

export const timelineItem = z.object({
  type: z.string().describe("queued, attempt, resolved, or the name of an event such as email.sent"),
  at: instant,
  detail: z.string().nullable(),
  cause: z
    .string()
    .optional()
    .describe("The reason for the rejection, one of docs/answers.md: `unknown-user`, `reputation`, …"),
  refusedBy: z
    .string()
    .optional()
    .describe(
      "The source of the rejection: the provider's name if known, otherwise the host or the recipient's domain.",
    ),
  advice: z.string().optional().describe("Recommended action."),
});

/** An email with its content and history. */
export const fullEmail = email.extend({
  messageId: z.string(),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  locale: z
    .string()
    .nullable()
    .describe("The language of the template's variant that was used; null for any other content."),
  replyTo: z
    .string()
    .nullable()
    .describe(
      'One address, or several mailboxes as in a header: `"Ada" <ada@example.com>, help@example.com`.',
    ),
  body: z.string().describe("The original HTML, before variables are filled in."),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), sizeBytes: z.int() })),
  returnedMessages: z
    .int()
    .describe("Number of returned messages in free text; `GET /emails/:id/returned` lists them."),
  timeline: z.array(timelineItem),
});

const searchText = (meaning: string) =>
  z.string().trim().min(1).max(LIMITS.searchLength.value).optional().describe(meaning);

/** Filters of the email list. An email must match all of them. */
const emailFilter = {
  to: searchText(
    "The recipient's address, or the beginning of it. A whole address matches only itself. Redacted emails don't match.",
  ),
  subject: searchText("A part of the sent subject, case-insensitive. Redacted emails don't match."),
  messageId: searchText(
    "The Message-ID, with or without angle brackets: `messageId` of the email, the one that a program gave it over SMTP, or the one that an external sending service gave it.",
  ),
  status: z.enum(EMAIL_STATUSES).optional(),
  kind: z.enum(EMAIL_KINDS).optional(),
  tag: emailTag.optional().describe("One of the email's `tags`. Redacted emails don't match."),
  contactId: id.optional(),
  campaignId: id.optional(),
  workflowId: id.optional(),
  provider: z.enum(PROVIDERS).optional().describe("The provider of the recipient's address."),
  transport: searchText(
    "The transport that sent the email, as in its timeline: `smtp`, `ses`, `mailbox` or the name of one of several.",
  ),
  since: inputInstant.optional().describe("Only emails created at or after this time (ISO 8601)."),
  until: inputInstant.optional().describe("Only emails created before this time (ISO 8601)."),
};

export const listEmails = endpoint({
  name: "emails.list",
  method: "GET",
  path: "/emails",
  summary: "List and search emails, newest first",
  description:
    "Emails must match all filters. Waiting recipients of a campaign are listed with the campaign; here they appear if you query their contact or whole address.",
  caller: "project",
  query: pageQuery
    .extend({
      ...emailFilter,
      withTotal: queryBoolean(
        "With `false`, `total` is 0 unless the page has all matches, so that pages of millions of emails load faster.",
      ).optional(),
      shortPages: queryBoolean(
        "With `true`, a page can be short or empty and still have a `cursor`, because each call searches for about a tenth of a second. Without it a page is always full unless it is the last, which takes seconds if few of millions of emails match.",
      ).optional(),
    })
    .superRefine(({ since, until }, context) => {
      if (since !== undefined && until !== undefined && Date.parse(until) <= Date.parse(since))
        context.addIssue(issue("Must be after `since`.", "custom", until, ["until"]));
    }),
  responses: {
    200: cursorList(email).extend({
      searchedTo: instant
        .optional()
        .describe("With `shortPages`, the time back to which emails were searched if time ran out."),
    }),
  },
});

export const pausedDestination = z.object({
  destination: z.string().describe("A domain, or a provider with all its domains."),
  domains: z.array(z.string()),
  answer: z.string().describe("The response to the newest rejected email."),
  since: instant,
  nextTryAt: instant.describe("The time of the next automatic attempt with a few emails."),
  whatToDo: z.string(),
});

export const listPausedDestinations = endpoint({
  name: "emails.pausedDestinations",
  method: "GET",
  path: "/emails/paused-destinations",
  summary: "List throttled domains for non-campaign bulk email",
  description:
    "These receivers reject email from MARKETING or HEADLESS templates because of its sender. Such email stays QUEUED while all other email continues. Each campaign has separate `pausedDestinations`.",
  caller: "project",
  responses: { 200: z.object({ data: z.array(pausedDestination) }) },
});

export const releaseListMail = endpoint({
  name: "emails.release",
  method: "POST",
  path: "/emails/release",
  summary: "Resume sending to throttled domains",
  description:
    "Applies to one of `GET /emails/paused-destinations`, or to all. The response lists domains that are still throttled.",
  caller: "project",
  body: z.object({ destination: z.string().max(LIMITS.addressLength.value).optional() }),
  responses: { 200: z.object({ data: z.array(pausedDestination) }) },
  errors: ["CONFLICT"],
});

export const getEmail = endpoint({
  name: "emails.get",
  method: "GET",
  path: "/emails/:id",
  summary: "Read an email with its status and timeline",
  description: "The status, the response to each attempt and its server, and later reports.",
  caller: "project",
  params: z.object({ id: pathId }),
  responses: { 200: fullEmail },
  errors: ["EMAIL_NOT_FOUND"],
});

export const previewEmail = endpoint({
  name: "emails.preview",
  method: "GET",
  path: "/emails/:id/preview",
  summary: "Preview an email",
  description:
    "Rendered again with the email's variables and the contact's current data. Nothing is tracked, and its unsubscribe links are disabled. `mailboxMessageId` leads to the exact message if the local mailbox stored it. Empty if the email was redacted.",
  caller: "project",
  params: z.object({ id: pathId }),
  responses: {
    200: z.object({
      subject: z.string(),
      html: z.string(),
      text: z.string(),
      headers: z
        .array(z.object({ name: z.string(), value: z.string() }))
        .describe(
          "Header fields in message order, without those of its parts, its signature and the id that proves its origin. An external sending service may rewrite some of them.",
        ),
      mailboxMessageId: z.uuid().nullable(),
    }),
  },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const resolveEmail = endpoint({
  name: "emails.resolve",
  method: "POST",
  path: "/emails/:id/resolve",
  summary: "Resolve an UNCONFIRMED email",
  description:
    "`sent` counts it as sent at the time of its submission. `failed` marks it as not accepted and does not retry. `retry` sends it again with the same Message-ID; use `POST /campaigns/:id/resolve` for campaign emails. The timeline records the author of the decision. Repeating the same call changes nothing. 409 if the email is not in doubt.",
  caller: "project",
  params: z.object({ id: pathId }),
  body: z.object({ as: z.enum(RESOLUTIONS) }),
  responses: { 200: fullEmail },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const listReturnedMessages = endpoint({
  name: "emails.returned",
  method: "GET",
  path: "/emails/:id/returned",
  summary: "Read returned messages about an email",
  description:
    "Bounces that cannot be parsed reliably, oldest first: the readable part of each, without the returned email. " +
    `Up to ${LIMITS.returnedMessages.value} per email, kept for ${LIMITS.returnedMessageDays.value} days.`,
  caller: "project",
  params: z.object({ id: pathId }),
  responses: {
    200: z.object({
      data: z.array(
        z.object({
          receivedAt: instant,
          from: z.string().nullable(),
          subject: z.string().nullable(),
          text: z.string().nullable(),
        }),
      ),
    }),
  },
  errors: ["EMAIL_NOT_FOUND"],
});
