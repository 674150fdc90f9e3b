// What a member of a project wants to be told, by mail and by a webhook (docs/decisions/0061, 0077).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** Each kind: what it tells, and whether it does by mail where nobody chose. */
export const NOTIFICATIONS = {
  "domain-lost": { about: "A sender domain lost its DNS proof.", isUsual: true },
  "campaign-paused": { about: "A campaign, or mail to one provider, paused by itself.", isUsual: true },
  "reputation-warning": {
    about: "Bounces or complaints come near to what disables the project; once a week at most.",
    isUsual: true,
  },
  "cap-near": {
    about: "A cap on the mails of a month is reached to 80 %, or in full; each once a month.",
    isUsual: true,
  },
  "job-failed": {
    about: "An import, a bulk change or another job failed; of each sort once an hour at most.",
    isUsual: true,
  },
  "weekly-summary": { about: "What was sent in the last week, on Mondays.", isUsual: false },
} as const;
export type NotificationKind = keyof typeof NOTIFICATIONS;
export const NOTIFICATION_KINDS = Object.keys(NOTIFICATIONS) as NotificationKind[];

const ofProject = z.object({ projectId: pathId });
const kind = z.enum(NOTIFICATION_KINDS);
const choice = z.boolean().optional();
const byKind = {
  "domain-lost": choice,
  "campaign-paused": choice,
  "reputation-warning": choice,
  "cap-near": choice,
  "job-failed": choice,
  "weekly-summary": choice,
} satisfies Record<NotificationKind, z.ZodType>;
const choices = z.array(z.object({ kind, about: z.string(), byMail: z.boolean(), byWebhook: z.boolean() }));

export const listNotifications = endpoint({
  name: "notifications.list",
  method: "GET",
  path: "/projects/:projectId/notifications",
  summary: "List what you are told of a project, and how",
  description:
    "Your own choices. That a project was disabled is told to all members by mail, whatever they chose.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  answers: { 200: choices },
});

export const updateNotifications = endpoint({
  name: "notifications.update",
  method: "PUT",
  path: "/projects/:projectId/notifications",
  summary: "Choose what you are told of a project, and how",
  description:
    "What is left out stays as it is. A kind by itself is about mail; `webhook` holds the same kinds for your webhook, which must have an address before (`PUT …/notifications/webhook`).",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  body: z.object({ ...byKind, webhook: z.object(byKind).optional() }),
  envelope: "wrapped",
  answers: { 200: choices },
});

const calls = z
  .array(
    z.object({
      id: z.uuid().describe("The `webhook-id` that the endpoint saw."),
      kind,
      state: z
        .enum(["waiting", "done", "failed"])
        .describe("`waiting`: it is called at once, or again after a try that failed."),
      tries: z.int(),
      status: z.int().nullable().describe("Of the last try; null where no answer came."),
      error: z.string().nullable().describe("Why the last try failed."),
      createdAt: instant,
      endedAt: instant.nullable(),
    }),
  )
  .describe(
    `The last ones first, at most ${LIMITS.notificationCalls.value}; kept for ${LIMITS.webhookDays.value} days.`,
  );
const webhook = z.object({ url: z.string().nullable(), calls });

export const getNotificationWebhook = endpoint({
  name: "notifications.webhook",
  method: "GET",
  path: "/projects/:projectId/notifications/webhook",
  summary: "Read where you are called about a project, and what came of it",
  description:
    "Your own address, and the calls of the last days. Calls are guarded, signed with the project's secret and tried again as those of workflows are: see `docs/webhooks.md`.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  answers: { 200: webhook },
});

export const setNotificationWebhook = endpoint({
  name: "notifications.setWebhook",
  method: "PUT",
  path: "/projects/:projectId/notifications/webhook",
  summary: "Say where you want to be called about a project",
  description:
    "With `url: null` nobody is called any more, and calls that wait are dropped. Of addresses only those of the public internet are taken (422).",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  body: z.object({ url: z.string().nullable() }),
  envelope: "wrapped",
  answers: { 200: webhook },
});

export const testNotificationWebhook = endpoint({
  name: "notifications.testWebhook",
  method: "POST",
  path: "/projects/:projectId/notifications/webhook/test",
  summary: "Call your webhook now, once",
  description: `Sends \`{"type": "test", …}\` to your address, signed as always, and says what came of it. It is not tried again. At most ${LIMITS.webhookTests.value} an hour and project.`,
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  answers: {
    200: z.object({
      status: z.int().nullable().describe("null: no answer came."),
      error: z.string().nullable().describe("Why it counts as failed; null: an answer with 2xx came."),
    }),
  },
  errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

/** In the order of the documentation. */
export const NOTIFICATION_ENDPOINTS = [
  listNotifications,
  updateNotifications,
  getNotificationWebhook,
  setNotificationWebhook,
  testNotificationWebhook,
] as const;
