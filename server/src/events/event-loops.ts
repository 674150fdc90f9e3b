// Background loops of events/: counts, future partitions, and retention.
import type { Loop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { startKeepingPartitions } from "../platform/database/partitions.ts";
import { startCounting } from "./counts.ts";
import { startExpiringEvents, type EventsExpired } from "./retention.ts";

/** @param parts.onExpired called with the projects that lost old events */
export function startEventLoops(parts: {
  database: Database;
  onExpired: EventsExpired;
  log: Log;
  metrics: Metrics;
}): Loop[] {
  return [
    startCounting(parts),
    startKeepingPartitions({ ...parts, table: "events" }),
    startExpiringEvents(parts),
  ];
}
