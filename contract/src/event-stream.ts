// The numbered events of a project as a stream to read and as the payload of webhook endpoints (docs/decisions/0128-event-log.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { instant, queryInteger } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

/** The version of the payload. A change that could break a consumer gets a new one. */
export const EVENT_VERSION = 1;

/** The largest accepted number of an event. */
export const LARGEST_NUMBER = 999_999_999_999_999;

export const numberedEvent = z.object({
  id: z
    .uuid()
    .describe("The same in the stream and in all deliveries of this event. Use it to recognize repeats."),
  type: z
    .string()
    .describe(
      "Such as `email.delivery`, `contact.subscribed`, an event that you track, or an event of the project itself such as `campaign.sent`.",
    ),
  version: z.literal(EVENT_VERSION).describe("The version of this format."),
  number: z.int().describe("The position among all events of the project, without gaps."),
  previous: z
    .int()
    .describe(
      "The number before this one that you should already have. In the stream it is `number` - 1, in webhooks it is the previous event for the endpoint.",
    ),
  createdAt: instant,
  project: z.uuid(),
  redacted: z
    .boolean()
    .describe("Whether the data is gone because the contact or the event was deleted. `data` is then null."),
  data: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      "For events of contacts: `contact` (`id`, `email`), `emailId`, and `properties`, which is the `data` of `GET /events`. For events of the project itself: `campaign`, `domain` or `workflow`. See `docs/event-stream.md`.",
    ),
});

export const streamEvents = endpoint({
  name: "events.stream",
  method: "GET",
  path: "/events/stream",
  summary: "Read all events of the project forward by number",
  description:
    "Returns events with a number above `after`, oldest first, in the format of webhook endpoints. Numbers have no gaps, so nothing is missing between two pages. " +
    "Recording starts with the first call or the first webhook endpoint and stays on; earlier events are in `GET /events`. An event gets its number within about a second. " +
    `Events are kept for ${LIMITS.eventLogDays.value} days. A call for older ones fails and names the first number. See \`docs/event-stream.md\`.`,
  caller: "project",
  query: z.object({
    after: queryInteger(
      0,
      LARGEST_NUMBER,
      "The last number you have; 0 for the beginning. Default: the last number before the first kept event.",
    ).optional(),
    limit: queryInteger(
      1,
      LIMITS.eventStreamPage.value,
      `Events per page; default ${LIMITS.eventStreamPageDefault.value}. Large pages end early.`,
    ).optional(),
  }),
  responses: {
    200: z.object({
      events: z.array(numberedEvent),
      firstNumber: z.int().describe("The first kept number, or the next one if there are no events."),
      lastNumber: z.int().describe("The last number of the project; 0 before the first event."),
      hasMore: z
        .boolean()
        .describe("Whether another page follows now. Read it with `after` set to the last `number`."),
    }),
  },
});

export const streamLiveEvents = endpoint({
  name: "events.streamLive",
  method: "GET",
  path: "/events/stream/live",
  summary: "Stream all events of the project as they get their numbers",
  description:
    "Server-sent events without gaps. The `data` of each is an event in the format of `GET /events/stream`, and its `id` is the number. " +
    "The stream begins after the number in `Last-Event-ID`, which standard clients send when they reconnect, or after `after`, or else now. " +
    `Each connection ends after ${LIMITS.liveStreamSeconds.value} seconds, or within a second after its caller lost access. Continue with the last number you have.`,
  caller: "project",
  query: z.object({
    after: queryInteger(0, LARGEST_NUMBER, "The last number you have; 0 for the beginning.").optional(),
  }),
  envelope: "raw",
  contentType: "text/event-stream",
  responses: { 200: z.string() },
  errors: ["RATE_LIMIT_EXCEEDED"],
});

export const EVENT_STREAM_ENDPOINTS = [streamEvents, streamLiveEvents] as const;
