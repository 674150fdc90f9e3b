// The limits of the event stream.
import { limit, type Limit } from "./limit.ts";

export const EVENT_STREAM_LIMITS = {
  eventLogDays: limit(30, "days", "Retention of numbered events, for the event stream."),
  eventStreamPage: limit(1_000, "events", "Largest page of `GET /events/stream`."),
  eventStreamPageDefault: limit(100, "events", "Page of `GET /events/stream` without `limit`."),
} as const satisfies Record<string, Limit>;
