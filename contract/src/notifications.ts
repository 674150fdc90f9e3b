// Notifications of project members by email and webhook (docs/decisions/0061, 0077).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** The description of each kind, and whether email is its default. */
export const NOTIFICATIONS = {
  "domain-lost": {
    about: "A sender domain lost its verification, or a link domain stopped working.",
    isUsual: true,
  },
  "campaign-paused": {
    about: "A campaign or email to one provider was paused automatically.",
    isUsual: true,
  },
  "reputation-warning": {
    about:
      "The bounce or complaint rate comes close to the limit that disables the project; at most once a week.",
    isUsual: true,
  },
  "cap-near": {
    about: "A monthly email cap has reached 80% or 100%; once a month for each.",
    isUsual: true,
  },
  "job-failed": {
    about: "An import, bulk change or other job failed; at most once an hour per kind.",
    isUsual: true,
  },
  "workflow-failed": {
    about:
      "A workflow failed for a contact, or was paused automatically. The first failure immediately, then at most once a day per workflow.",
    isUsual: true,
  },
  "webhook-disabled": {
    about: "A webhook endpoint was disabled automatically, because it accepted nothing for days.",
    isUsual: true,
  },
  "weekly-summary": { about: "Summary of last week's email, on Mondays.", isUsual: false },
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
  "workflow-failed": choice,
  "webhook-disabled": choice,
  "weekly-summary": choice,
} satisfies Record<NotificationKind, z.ZodType>;
const choices = z.array(z.object({ kind, about: z.string(), byMail: z.boolean(), byWebhook: z.boolean() }));

export const listNotifications = endpoint({
  name: "notifications.list",
  method: "GET",
  path: "/projects/:projectId/notifications",
  summary: "List your notifications for a project",
  description:
    "These settings are your own. All members are emailed if the project is disabled, regardless of their settings.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  responses: { 200: choices },
});

export const updateNotifications = endpoint({
  name: "notifications.update",
  method: "PUT",
  path: "/projects/:projectId/notifications",
  summary: "Change your notifications for a project",
  description:
    "Omitted fields stay unchanged. A kind at the top level is about email. `webhook` has the same kinds for your webhook, which needs a URL first (`PUT …/notifications/webhook`).",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  body: z.object({ ...byKind, webhook: z.object(byKind).optional() }),
  envelope: "wrapped",
  responses: { 200: choices },
});

const calls = z
  .array(
    z.object({
      id: z.uuid().describe("The `webhook-id` sent to the endpoint."),
      kind,
      state: z
        .enum(["waiting", "done", "failed"])
        .describe("`waiting`: the call or its next retry is pending."),
      tries: z.int(),
      status: z
        .int()
        .nullable()
        .describe("Response status of the last attempt; null if there was no response."),
      error: z.string().nullable().describe("The reason why the last attempt failed."),
      createdAt: instant,
      endedAt: instant.nullable(),
    }),
  )
  .describe(
    `Newest first, up to ${LIMITS.notificationCalls.value}; kept for ${LIMITS.webhookDays.value} days.`,
  );
const webhook = z.object({ url: z.string().nullable(), calls });

export const getNotificationWebhook = endpoint({
  name: "notifications.webhook",
  method: "GET",
  path: "/projects/:projectId/notifications/webhook",
  summary: "Read your webhook for a project and its recent calls",
  description:
    "Your own URL, and its calls of the last days. Calls are restricted, signed with the project's secret and retried like those of workflows, see `docs/webhooks.md`.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  responses: { 200: webhook },
});

export const setNotificationWebhook = endpoint({
  name: "notifications.setWebhook",
  method: "PUT",
  path: "/projects/:projectId/notifications/webhook",
  summary: "Set your webhook for a project",
  description:
    "`url: null` removes the webhook and drops waiting calls. Only addresses on the public internet are accepted (422).",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  body: z.object({ url: z.string().nullable() }),
  envelope: "wrapped",
  responses: { 200: webhook },
});

export const testNotificationWebhook = endpoint({
  name: "notifications.testWebhook",
  method: "POST",
  path: "/projects/:projectId/notifications/webhook/test",
  summary: "Test your webhook",
  description: `Sends \`{"type": "test", …}\` to your URL once, with the usual signature, and returns the result. Failed tests are not retried. Up to ${LIMITS.webhookTests.value} per hour and project.`,
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  responses: {
    200: z.object({
      status: z.int().nullable().describe("null if there was no response."),
      error: z.string().nullable().describe("The reason for the failure; null after a 2xx response."),
    }),
  },
  errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
});

export const NOTIFICATION_ENDPOINTS = [
  listNotifications,
  updateNotifications,
  getNotificationWebhook,
  setNotificationWebhook,
  testNotificationWebhook,
] as const;
