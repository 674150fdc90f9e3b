// Tracked events over HTTP (spec §2.8, 4.9; decisions §10). `/v1/track` itself is in v1.ts.
import { z } from "zod";
import { FIELD_TYPES } from "./contact-fields.ts";
import { endpoint } from "./endpoint.ts";
import { isReservedEventName } from "./event-names.ts";
import { id, instant, issue, pageQuery, pathId, pathText, givenInstant } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const event = z.object({
  id: z.uuid(),
  name: z.string(),
  contactId: z.uuid(),
  data: z.record(z.string(), z.unknown()).nullable(),
  emailId: z.uuid().nullable(),
  createdAt: instant,
});

/** The name of an event a caller tracks: trimmed, not one of the service's own. */
export const eventName = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength.value)
  .superRefine((name, context) => {
    if (isReservedEventName(name))
      context.addIssue(
        issue("This event name is reserved: the service emits it itself.", "reserved_event", name),
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
  description: "What was tracked, and what the service itself recorded. Filter by name, contact and time.",
  caller: "project",
  query: pageQuery.extend({
    eventName: z.string().max(LIMITS.eventNameLength.value).optional(),
    contactId: id.optional(),
    since: givenInstant.optional().describe("Only what came at or after this instant (ISO 8601)."),
  }),
  answers: { 200: eventList },
});

export const listContactEvents = endpoint({
  name: "events.listByContact",
  method: "GET",
  path: "/events/contact/:contactId",
  summary: "List the events of one contact, newest first",
  description: "The whole history of a contact, mails and subscription changes among it.",
  caller: "project",
  params: z.object({ contactId: pathId }),
  query: pageQuery,
  answers: { 200: eventList },
  errors: ["CONTACT_NOT_FOUND"],
});

const eventCount = z.object({ name: z.string(), count: z.int() });

export const getEventStats = endpoint({
  name: "events.stats",
  method: "GET",
  path: "/events/stats",
  summary: "Count the events of each name, the most frequent first",
  description: `At most ${LIMITS.eventNames.value} names.`,
  caller: "project",
  answers: { 200: z.array(eventCount) },
});

export const listEventNames = endpoint({
  name: "events.names",
  method: "GET",
  path: "/events/names",
  summary: "List the names of events there are",
  description: `In the order of the alphabet, at most ${LIMITS.eventNames.value}; \`names\` says how many there are of each and when the last came.`,
  caller: "project",
  answers: {
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
  summary: "Tell where an event is used, and how much there is of it",
  description: "A name nobody has tracked has a count of 0: it may be used before it comes.",
  caller: "project",
  params: byName,
  answers: {
    200: z.object({
      usedInSegments: named,
      usedInWorkflows: named,
      totalCount: z.int(),
      uniqueContacts: z.int(),
      canDelete: z.boolean().describe("Whether nothing uses it and it is none of the service's own."),
    }),
  },
});

export type EventFieldType = (typeof FIELD_TYPES)[number];

export const listEventFields = endpoint({
  name: "events.fields",
  method: "GET",
  path: "/events/:eventName/fields",
  summary: "List what the data of an event holds",
  description: `The keys in the data of its newest ${LIMITS.eventSample.value} events (fewer where they are large), in the order of the alphabet: for completion in editors. Of a name nobody has tracked there are none.`,
  caller: "project",
  params: byName,
  answers: {
    200: z.object({
      fields: z
        .array(
          z.object({
            field: z.string().describe("The key in `data`."),
            type: z.enum(FIELD_TYPES).describe("Of its newest value that is not null."),
            example: z
              .unknown()
              .optional()
              .describe(
                `That value; left out where it is longer than ${LIMITS.fieldValueLength.value} characters.`,
              ),
          }),
        )
        .describe(`At most ${LIMITS.eventFields.value}.`),
    }),
  },
});

export const deleteEvents = endpoint({
  name: "events.delete",
  method: "DELETE",
  path: "/events/:eventName",
  summary: "Delete every event of a name",
  description:
    "Those that were there when it was asked for: gone at once for every reader, and from the database in the background. What is tracked under the name afterwards stays. Refused while a segment or a workflow uses the name, and for events that the service emits.",
  caller: "project",
  params: byName,
  answers: { 200: z.object({ deletedCount: z.int() }) },
  errors: ["CONFLICT"],
});
