// Tracked events over HTTP (spec §2.8, 4.9; decisions §10). `/v1/track` itself is in v1.ts.
// Before it: event-names.ts, field.ts. After it: server/src/events/routes.ts.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { isReservedEventName } from "./event-names.ts";
import { id, instant, issue, pageQuery, pathId, givenInstant } from "./field.ts";
import { LIMITS } from "./limits.ts";

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
