// What a member of a project wants to be told by mail (docs/decisions/0061-notifications.md).
// Before it: members.ts. After it: server/src/projects/members/notification-routes.ts.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { pathId } from "./field.ts";

/** Each kind: what it tells, and whether it does where nobody chose. */
export const NOTIFICATIONS = {
  "domain-lost": { about: "A sender domain lost its DNS proof.", isUsual: true },
  "campaign-paused": { about: "A campaign, or mail to one provider, paused by itself.", isUsual: true },
  "reputation-warning": {
    about: "Bounces or complaints come near to what disables the project; once a week at most.",
    isUsual: true,
  },
  "cap-near": {
    about: "A cap on the mails of a month is reached to 80 %; once a month.",
    isUsual: true,
  },
  "weekly-summary": { about: "What was sent in the last week, on Mondays.", isUsual: false },
} as const;
export type NotificationKind = keyof typeof NOTIFICATIONS;
export const NOTIFICATION_KINDS = Object.keys(NOTIFICATIONS) as NotificationKind[];

const ofProject = z.object({ projectId: pathId });
const kind = z.enum(NOTIFICATION_KINDS);
const choice = z.boolean().optional();
const choices = z.array(z.object({ kind, about: z.string(), byMail: z.boolean() }));

export const listNotifications = endpoint({
  name: "notifications.list",
  method: "GET",
  path: "/projects/:projectId/notifications",
  summary: "List what you are told by mail of a project",
  description: "Your own choices. That a project was disabled is told to all members, whatever they chose.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  answers: { 200: choices },
});

export const updateNotifications = endpoint({
  name: "notifications.update",
  method: "PUT",
  path: "/projects/:projectId/notifications",
  summary: "Choose what you are told by mail of a project",
  description: "What is left out stays as it is.",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  body: z.object({
    "domain-lost": choice,
    "campaign-paused": choice,
    "reputation-warning": choice,
    "cap-near": choice,
    "weekly-summary": choice,
  } satisfies Record<NotificationKind, z.ZodType>),
  envelope: "wrapped",
  answers: { 200: choices },
});
