// Mails and where each stands (decisions §7, §8).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, id, instant, pageQuery, pathId, givenInstant } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** QUEUED → CLAIMED → SENDING → SENT | FAILED | SKIPPED | UNCONFIRMED, then what came back; forward only (decisions §8). */
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

/** What a person says of a mail in doubt, when somebody has found out, or decided. */
export const RESOLUTIONS = ["sent", "failed", "retry"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** In the order in which they are sent when both wait. */
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
  subject: z.string().describe("As it was sent; until then as it was given, its variables not filled in."),
  reason: z.string().nullable().describe("Why it was not sent, or what the last attempt was answered."),
  attempts: z.int(),
  nextAttemptAt: instant.nullable(),
  createdAt: instant,
  sentAt: instant.nullable(),
  forgottenAt: instant
    .nullable()
    .describe(
      "When the project's `emailRetentionDays` were over: `to`, `subject` and whatever it said are empty since. Status, times and what came back stay.",
    ),
});

const timelineItem = z.object({
  type: z.string().describe("queued, attempt, resolved, or the name of an event such as email.sent"),
  at: instant,
  detail: z.string().nullable(),
  cause: z
    .string()
    .optional()
    .describe("Why it was refused, one of docs/answers.md: `unknown-user`, `reputation`, …"),
  refusedBy: z
    .string()
    .optional()
    .describe("Who refused: the provider's name where it is known, else the host or the recipient's domain."),
  advice: z.string().optional().describe("What to do about it."),
});

/** A mail with what it says and what happened to it. */
export const wholeEmail = email.extend({
  messageId: z.string(),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  replyTo: z.string().nullable(),
  body: z.string().describe("HTML as it was given, before variables are filled in."),
  attachments: z.array(z.object({ filename: z.string(), contentType: z.string(), sizeBytes: z.int() })),
  returnedMessages: z
    .int()
    .describe(
      "Messages that came back about it in words for people alone; `GET /emails/:id/returned` has them.",
    ),
  timeline: z.array(timelineItem),
});

export const listEmails = endpoint({
  name: "emails.list",
  method: "GET",
  path: "/emails",
  summary: "List mails, newest first",
  description:
    "A mail of a campaign is here once it has ended, or was asked for by its id or its contact; who still waits for one is among the recipients of the campaign.",
  caller: "project",
  query: pageQuery.extend({
    status: z.enum(EMAIL_STATUSES).optional(),
    contactId: id.optional(),
    campaignId: id.optional(),
    since: givenInstant.optional().describe("Only what came at or after this instant (ISO 8601)."),
  }),
  answers: { 200: cursorList(email) },
});

export const pausedDestination = z.object({
  destination: z.string().describe("A domain, or a provider with all of its domains."),
  domains: z.array(z.string()),
  answer: z.string().describe("What the newest refused mail was told."),
  since: instant,
  nextTryAt: instant.describe("When a few mails try again by themselves."),
  whatToDo: z.string(),
});

export const listPausedDestinations = endpoint({
  name: "emails.pausedDestinations",
  method: "GET",
  path: "/emails/paused-destinations",
  summary: "List the destinations for which list mail of no campaign waits",
  description:
    "They refuse mail made with MARKETING or HEADLESS templates for who sends it or how: such mail for them stays QUEUED, all other mail goes on. A campaign has `pausedDestinations` of its own.",
  caller: "project",
  answers: { 200: z.object({ data: z.array(pausedDestination) }) },
});

export const releaseListMail = endpoint({
  name: "emails.release",
  method: "POST",
  path: "/emails/release",
  summary: "Let list mail go on to destinations that are paused",
  description:
    "To one of `GET /emails/paused-destinations`, or to all of them. The answer lists those that are still paused.",
  caller: "project",
  body: z.object({ destination: z.string().max(LIMITS.addressLength.value).optional() }),
  answers: { 200: z.object({ data: z.array(pausedDestination) }) },
  errors: ["CONFLICT"],
});

export const getEmail = endpoint({
  name: "emails.get",
  method: "GET",
  path: "/emails/:id",
  summary: "Read a mail, its status and timeline",
  description: "Where the mail stands, what each attempt was answered and by whom, and what came back since.",
  caller: "project",
  params: z.object({ id: pathId }),
  answers: { 200: wholeEmail },
  errors: ["EMAIL_NOT_FOUND"],
});

export const previewEmail = endpoint({
  name: "emails.preview",
  method: "GET",
  path: "/emails/:id/preview",
  summary: "See what a mail says to its recipient",
  description:
    "Rendered anew, with its own variables over what the data of its contact are now; nothing is tracked, and its links to unsubscribe lead nowhere. What the local mailbox has kept is there byte for byte: `mailboxMessageId`. Empty for a mail that is forgotten.",
  caller: "project",
  params: z.object({ id: pathId }),
  answers: {
    200: z.object({
      subject: z.string(),
      html: z.string(),
      text: z.string(),
      headers: z
        .array(z.object({ name: z.string(), value: z.string() }))
        .describe(
          "In their order, as they are written into the message: without those of its parts, its signature and the id that proves it came from here. A service that sends may write some anew.",
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
  summary: "Say what became of a mail that is UNCONFIRMED",
  description:
    "`sent`: it counts as sent at the time of its handover. `failed`: it was not taken, and is not tried again. `retry`: it leaves once more under the same Message-ID; a mail of a campaign is sent again by `POST /campaigns/:id/resolve`. Who said so stands in the timeline. Saying the same again changes nothing; of a mail that is not in doubt: 409.",
  caller: "project",
  params: z.object({ id: pathId }),
  body: z.object({ as: z.enum(RESOLUTIONS) }),
  answers: { 200: wholeEmail },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const listReturnedMessages = endpoint({
  name: "emails.returned",
  method: "GET",
  path: "/emails/:id/returned",
  summary: "Read what came back about a mail in words",
  description:
    "Bounces that no program can read for certain, oldest first: the readable part of each, without the mail that came back with it. " +
    `At most ${LIMITS.returnedMessages.value} of a mail, kept for ${LIMITS.returnedMessageDays.value} days.`,
  caller: "project",
  params: z.object({ id: pathId }),
  answers: {
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
