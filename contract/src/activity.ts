// Activity feed endpoints for emails, contacts, campaigns and workflows (spec §4.11, decisions §10).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import * as eventNames from "./event-names.ts";
import { inputInstant, id, instant, issue, pageQuery, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { withValues } from "./translation.ts";

/** Maps the service's own event names to activity types. All other recorded events are `event.triggered`. */
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
  "workflow.failed",
] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

const isActivityType = (text: string): text is ActivityType =>
  (ACTIVITY_TYPES as readonly string[]).includes(text);

/** One type, or several separated by commas. */
const types = z
  .string()
  .max(LIMITS.activityTypesLength.value)
  .transform((text, context): ActivityType[] => {
    const named = text.split(",").map((name) => name.trim());
    const unknown = named.find((name) => !isActivityType(name));
    if (unknown !== undefined)
      context.issues.push(
        issue(
          withValues('Unknown type "{unknown}". `GET /activity/types` lists all types.', { unknown }),
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
      "For an email, its event's data and `emailId`; for a skipped one also `reason` (`PUBLIC_KEY_LIMIT`, `FIRST_EMAIL_LIMIT` or `PUBLIC_KEY_RECIPIENT`), `workflowId`, `workflowName` and `stepId`. For an event, `eventName` and `data`. For a campaign, its name, subject and recipients. For a workflow, its name, execution and result, for a failed one also `stepId`, and for a completed one that skipped emails their number as `skippedEmails`, and `skipReason` if all have the same reason.",
    ),
});

export const listActivity = endpoint({
  name: "activity.list",
  method: "GET",
  path: "/activity",
  summary: "List activity, newest first",
  description: `Emails, events, subscriptions, campaigns and workflows in one list. A page of rare items can be short or empty and still have a \`cursor\`, because each kind scans at most ${LIMITS.activityScan.value} rows. A campaign is listed as scheduled while it waits, and as sent once every recipient has a final state. An execution is listed as failed until it is retried or skipped. A deleted contact's activity is deleted with it, except its executions.`,
  caller: "project",
  query: pageQuery.extend({
    type: types.optional().describe("One of `GET /activity/types`, or several separated by commas."),
    contactId: id.optional(),
    campaignId: id.optional(),
    workflowId: id.optional(),
    eventName: z
      .string()
      .max(LIMITS.eventNameLength.value)
      .optional()
      .describe("The name of a recorded event, such as `signed-up` or `email.open`."),
    since: inputInstant.optional().describe("Only activity at or after this time (ISO 8601)."),
    until: inputInstant.optional().describe("Only activity before this time (ISO 8601)."),
  }),
  responses: {
    200: z.object({ data: z.array(activity), cursor: z.string().nullable(), hasMore: z.boolean() }),
  },
  errors: ["CONTACT_NOT_FOUND", "CAMPAIGN_NOT_FOUND", "WORKFLOW_NOT_FOUND"],
});

export const streamActivity = endpoint({
  name: "activity.stream",
  method: "GET",
  path: "/activity/stream",
  summary: "Stream activity as it happens",
  description: `Server-sent events. \`activity\` has one item in the format of \`GET /activity\`, about a second after it happened. \`more\` is sent if a second had more than ${LIMITS.liveActivities.value} items; read them with \`GET /activity\`. The stream starts now. With \`Last-Event-ID\` (the last \`id\` you received) it starts a few seconds before that event, because rows can be committed late. After reconnecting you may therefore receive some items twice; deduplicate by the \`id\` and \`type\` in their data. An event's \`id\` is the highest so far, and not always that of its item. Each connection ends after ${LIMITS.liveStreamSeconds.value} seconds, or within a second after its caller lost access; standard clients reconnect automatically. Each process polls a project once a second, regardless of the number of streams.`,
  caller: "project",
  envelope: "raw",
  contentType: "text/event-stream",
  responses: { 200: z.string() },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const countRecentActivity = endpoint({
  name: "activity.recentCount",
  method: "GET",
  path: "/activity/recent-count",
  summary: "Count recent activity",
  description: `Counts the items that \`GET /activity\` shows: sent emails, recorded events, scheduled or finished campaigns, and started, completed or failed executions. Counting stops at ${LIMITS.activityScan.value} per kind, and \`isMore\` is then true.`,
  caller: "project",
  query: z.object({
    minutes: queryInteger(
      1,
      LIMITS.recentMinutes.value,
      "Number of minutes to look back; default 5.",
    ).optional(),
  }),
  responses: { 200: z.object({ count: z.int(), minutes: z.int(), isMore: z.boolean() }) },
});

export const listActivityTypes = endpoint({
  name: "activity.types",
  method: "GET",
  path: "/activity/types",
  summary: "List activity types",
  description: "All types, in the order a filter would show them.",
  caller: "project",
  responses: { 200: z.object({ types: z.array(z.enum(ACTIVITY_TYPES)) }) },
});

export const listUpcomingActivity = endpoint({
  name: "activity.upcoming",
  method: "GET",
  path: "/activity/upcoming",
  summary: "List upcoming activity, soonest first",
  description: `The next ${LIMITS.upcomingActivities.value} scheduled campaigns and workflow executions that wait for a time.`,
  caller: "project",
  responses: {
    200: z.object({
      activities: z.array(activity.extend({ type: z.enum(["campaign.scheduled", "workflow.waiting"]) })),
    }),
  },
});
