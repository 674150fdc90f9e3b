// Event endpoints (spec §2.8, 4.9; decisions §10). `/v1/track` itself is in v1.ts.
import { z } from "zod";
import { FIELD_TYPES } from "./contact-fields.ts";
import { endpoint } from "./endpoint.ts";
import { isReservedEventName } from "./event-names.ts";
import { id, instant, issue, pageQuery, pathId, pathText, inputInstant } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const event = z.object({
  id: z.uuid(),
  name: z.string(),
  contactId: z.uuid(),
  data: z.record(z.string(), z.unknown()).nullable(),
  emailId: z.uuid().nullable(),
  createdAt: instant,
});

/** The name of an event that callers track; trimmed, and not one of the service's own names. */
export const eventName = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength.value)
  .superRefine((name, context) => {
    if (isReservedEventName(name))
      context.addIssue(
        issue("This event name is reserved for events of the service.", "reserved_event", name),
      );
  });

const eventList = z.object({
  events: z.array(event),
  data: z.array(event),
  cursor: z.string().nullable(),
  hasMore: z.boolean(),
});

export const listEvents = endpoint({
  name: "events.list",
  method: "GET",
  path: "/events",
  summary: "List events, newest first",
  description: "Tracked events and the service's own events. Filter by name, contact and time.",
  caller: "project",
  query: pageQuery.extend({
    eventName: z.string().max(LIMITS.eventNameLength.value).optional(),
    contactId: id.optional(),
    since: inputInstant.optional().describe("Only events at or after this time (ISO 8601)."),
  }),
  responses: { 200: eventList },
});

export const listContactEvents = endpoint({
  name: "events.listByContact",
  method: "GET",
  path: "/events/contact/:contactId",
  summary: "List the events of one contact, newest first",
  description: "The complete history of a contact, including emails and subscription changes.",
  caller: "project",
  params: z.object({ contactId: pathId }),
  query: pageQuery,
  responses: { 200: eventList },
  errors: ["CONTACT_NOT_FOUND"],
});

const eventCount = z.object({ name: z.string(), count: z.int() });

export const getEventStats = endpoint({
  name: "events.stats",
  method: "GET",
  path: "/events/stats",
  summary: "Count events by name, most frequent first",
  description: `Up to ${LIMITS.eventNames.value} names.`,
  caller: "project",
  responses: { 200: z.array(eventCount) },
});

export const listEventNames = endpoint({
  name: "events.names",
  method: "GET",
  path: "/events/names",
  summary: "List event names",
  description: `In alphabetical order, up to ${LIMITS.eventNames.value}. \`names\` has the count of each name and the time of its last event.`,
  caller: "project",
  responses: {
    200: z.object({
      eventNames: z.array(z.string()),
      names: z.array(eventCount.extend({ lastSeenAt: instant })),
    }),
  },
});

const byName = z.object({ eventName: pathText });
const named = z.array(z.object({ id: z.uuid(), name: z.string() }));

export const getEventUsage = endpoint({
  name: "events.usage",
  method: "GET",
  path: "/events/:eventName/usage",
  summary: "Show where an event is used and how often it happened",
  description:
    "An event that was never tracked has a count of 0, because you can use a name before its first event.",
  caller: "project",
  params: byName,
  responses: {
    200: z.object({
      usedInSegments: named,
      usedInWorkflows: named,
      totalCount: z.int(),
      uniqueContacts: z.int(),
      canDelete: z.boolean().describe("Whether the event is unused and not one of the service's own events."),
    }),
  },
});

export type EventFieldType = (typeof FIELD_TYPES)[number];

export const listEventFields = endpoint({
  name: "events.fields",
  method: "GET",
  path: "/events/:eventName/fields",
  summary: "List the data fields of an event",
  description: `The keys in the data of its latest ${LIMITS.eventSample.value} events (fewer if they are large), in alphabetical order, for completion in editors. Empty for an event that was never tracked.`,
  caller: "project",
  params: byName,
  responses: {
    200: z.object({
      fields: z
        .array(
          z.object({
            field: z.string().describe("The key in `data`."),
            type: z.enum(FIELD_TYPES).describe("The type of its latest value that is not null."),
            example: z
              .unknown()
              .optional()
              .describe(
                `The latest value; omitted if it is longer than ${LIMITS.fieldValueLength.value} characters.`,
              ),
          }),
        )
        .describe(`Up to ${LIMITS.eventFields.value}.`),
    }),
  },
});

export const deleteEvents = endpoint({
  name: "events.delete",
  method: "DELETE",
  path: "/events/:eventName",
  summary: "Delete all events with a name",
  description:
    "Deletes the events that exist at the time of the call. They disappear immediately and are deleted from the database in the background. Later events with this name are kept. Not possible while a segment or workflow uses the name, or for the service's own events.",
  caller: "project",
  params: byName,
  responses: { 200: z.object({ deletedCount: z.int() }) },
  errors: ["CONFLICT"],
});

export const EVENT_ENDPOINTS = [
  listEvents,
  listContactEvents,
  getEventStats,
  listEventNames,
  getEventUsage,
  listEventFields,
  deleteEvents,
] as const;
