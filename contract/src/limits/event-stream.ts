// The limits of the event stream and of webhook endpoints.
import { limit, type Limit } from "./limit.ts";

export const EVENT_STREAM_LIMITS = {
  eventLogDays: limit(30, "days", "Retention of numbered events, for the event stream."),
  eventStreamPage: limit(1_000, "events", "Largest page of `GET /events/stream`."),
  eventStreamPageDefault: limit(100, "events", "Page of `GET /events/stream` without `limit`."),
  webhookEndpoints: limit(20, "endpoints", "Webhook endpoints per project."),
  webhookEventTypes: limit(50, "types", "Event types of one webhook endpoint."),
  webhookAddresses: limit(
    20,
    "addresses",
    "Addresses of received emails that one webhook endpoint is limited to.",
  ),
  eventBatch: limit(500, "events", "Events in one call of a webhook endpoint."),
  eventBatchBytes: limit(
    1_000_000,
    "bytes",
    "Data of the events in one call, except for a single larger event.",
  ),
  endpointRate: limit(1_000, "calls per second", "Largest rate of a webhook endpoint."),
  endpointCalls: limit(
    8,
    "calls",
    "Concurrent calls of one webhook endpoint per process. An endpoint that fails or is ordered gets one at a time.",
  ),
  eventCalls: limit(64, "calls", "Concurrent calls of webhook endpoints per process."),
  eventCallsKept: limit(
    16,
    "calls",
    "Concurrent calls reserved for webhook endpoints without a running call.",
  ),
  waitingDeliveries: limit(
    1_000,
    "deliveries",
    "Prepared deliveries of one webhook endpoint. Later events wait in the log.",
  ),
  eventRetryDays: limit(
    3,
    "days",
    "Time during which an event is sent to a webhook endpoint again, and after which an endpoint without any success is disabled.",
  ),
  eventRetryWait: limit(
    4 * 3_600,
    "seconds",
    "Longest wait between two attempts to deliver an event, also with `Retry-After`.",
  ),
  eventDeliveryDays: limit(7, "days", "Retention of ended deliveries of events."),
  eventResponseLength: limit(
    4_000,
    "characters",
    "The stored response of a webhook endpoint to an event; the rest is cut off.",
  ),
} as const satisfies Record<string, Limit>;
