// The activity feed over HTTP: what happened to mails, contacts, campaigns and workflows (spec §4.11, decisions §10).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import * as eventNames from "./event-names.ts";
import { givenInstant, id, instant, issue, pageQuery, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** Types of activity that are events under a name of the service; all other recorded events are `event.triggered`. */
export const TYPES_OF_EVENTS = {
  [eventNames.EMAIL_SENT]: "email.sent",
  [eventNames.EMAIL_DELIVERY]: "email.delivered",
  [eventNames.EMAIL_OPEN]: "email.opened",
  [eventNames.EMAIL_CLICK]: "email.clicked",
  [eventNames.EMAIL_MACHINE_OPEN]: "email.machine-opened",
  [eventNames.EMAIL_MACHINE_CLICK]: "email.machine-clicked",
  [eventNames.EMAIL_BOUNCE]: "email.bounced",
  [eventNames.EMAIL_COMPLAINT]: "email.complaint",
  [eventNames.EMAIL_RECEIVED]: "email.received",
  [eventNames.EMAIL_SKIPPED]: "email.skipped",
  [eventNames.CONTACT_SUBSCRIBED]: "contact.subscribed",
  [eventNames.CONTACT_UNSUBSCRIBED]: "contact.unsubscribed",
} as const;

export const ACTIVITY_TYPES = [
  ...Object.values(TYPES_OF_EVENTS),
  "event.triggered",
  "campaign.sent",
  "campaign.scheduled",
  "workflow.started",
  "workflow.completed",
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

const isActivityType = (text: string): text is ActivityType =>
  (ACTIVITY_TYPES as readonly string[]).includes(text);

/** One type, or several with commas between them. */
const types = z
  .string()
  .max(LIMITS.activityTypesLength.value)
  .transform((text, context): ActivityType[] => {
    const named = text.split(",").map((name) => name.trim());
    const unknown = named.find((name) => !isActivityType(name));
    if (unknown !== undefined)
      context.issues.push(
        issue(
          `There is no type "${unknown}": \`GET /activity/types\` lists them.`,
          "invalid_enum_value",
          text,
        ),
      );
    return named.filter(isActivityType);
  });

export const activity = z.object({
  id: z.uuid(),
  type: z.enum(ACTIVITY_TYPES),
  timestamp: instant,
  contactEmail: z.string().nullable(),
  contactId: z.uuid().nullable(),
  metadata: z
    .record(z.string(), z.unknown())
    .describe(
      "Of a mail the data of its event and `emailId`; of a skipped one `reason` (`PUBLIC_KEY_LIMIT` or `FIRST_EMAIL_LIMIT`), `workflowId`, `workflowName` and `stepId`; of an event `eventName` and `data`; of a campaign its name, subject and recipients; of a workflow its name, the execution and how it ended.",
    ),
});

export const listActivity = endpoint({
  name: "activity.list",
  method: "GET",
  path: "/activity",
  summary: "List what happened, newest first",
  description: `Mails, events, subscriptions, campaigns and workflows in one list. A page of rare things may be short, even empty, and still have a \`cursor\`: of each kind it looks at ${LIMITS.activityScan.value} rows at most. A campaign is there as scheduled while it is, and as sent once every recipient had a final state. What concerns a deleted contact is gone with it, but for its executions.`,
  caller: "project",
  query: pageQuery.extend({
    type: types.optional().describe("One of `GET /activity/types`, or several with commas between them."),
    contactId: id.optional(),
    campaignId: id.optional(),
    workflowId: id.optional(),
    eventName: z
      .string()
      .max(LIMITS.eventNameLength.value)
      .optional()
      .describe("The name of a recorded event, such as `signed-up` or `email.open`."),
    since: givenInstant.optional().describe("Only what came at or after this instant (ISO 8601)."),
    until: givenInstant.optional().describe("Only what came before this instant (ISO 8601)."),
  }),
  answers: {
    200: z.object({ data: z.array(activity), cursor: z.string().nullable(), hasMore: z.boolean() }),
  },
  errors: ["CONTACT_NOT_FOUND", "CAMPAIGN_NOT_FOUND", "WORKFLOW_NOT_FOUND"],
});

export const streamActivity = endpoint({
  name: "activity.stream",
  method: "GET",
  path: "/activity/stream",
  summary: "Follow what happens, as it happens",
  description: `Server-sent events: \`activity\` with one activity as \`GET /activity\` shows it, about a second after it happened, and \`more\` where a second had more than ${LIMITS.liveActivities.value}: read those with \`GET /activity\`. It begins with what happens from then on. With \`Last-Event-ID\`, the \`id\` of the last event before, it begins some seconds before that, since rows can be committed late: a client that connects again may see some activities again, and knows them by the \`id\` and \`type\` in their data. The \`id\` of an event is the highest of those it was told so far, and not always that of its activity. Each connection ends after ${LIMITS.liveStreamSeconds.value} seconds, and within a second after its caller lost access; a client that speaks the protocol asks again by itself. However many follow a project, each process reads it once a second.`,
  caller: "project",
  envelope: "raw",
  contentType: "text/event-stream",
  answers: { 200: z.string() },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const countRecentActivity = endpoint({
  name: "activity.recentCount",
  method: "GET",
  path: "/activity/recent-count",
  summary: "Count what happened in the last minutes",
  description: `All that \`GET /activity\` shows of them: mails sent, recorded events, campaigns that were scheduled or are through, and executions that started or were completed. Beyond ${LIMITS.activityScan.value} of a kind counting stops: \`isMore\` says so.`,
  caller: "project",
  query: z.object({
    minutes: queryInteger(1, LIMITS.recentMinutes.value, "How far back; default 5.").optional(),
  }),
  answers: { 200: z.object({ count: z.int(), minutes: z.int(), isMore: z.boolean() }) },
});

export const listActivityTypes = endpoint({
  name: "activity.types",
  method: "GET",
  path: "/activity/types",
  summary: "List the types of activity",
  description: "Every type there can be, in the order in which a filter would show them.",
  caller: "project",
  answers: { 200: z.object({ types: z.array(z.enum(ACTIVITY_TYPES)) }) },
});

export const listUpcomingActivity = endpoint({
  name: "activity.upcoming",
  method: "GET",
  path: "/activity/upcoming",
  summary: "List what comes next, soonest first",
  description: `Scheduled campaigns, and executions of workflows that wait for an instant: the first ${LIMITS.upcomingActivities.value}.`,
  caller: "project",
  answers: {
    200: z.object({
      activities: z.array(activity.extend({ type: z.enum(["campaign.scheduled", "workflow.waiting"]) })),
    }),
  },
});
