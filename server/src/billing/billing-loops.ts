// Starts the background loops of billing if it is on. They follow subscriptions and report usage.
import type { Loop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { startFollowingSubscriptions } from "./follow-subscriptions.ts";
import { startReportingUsage } from "./report-usage.ts";
import type { Billing } from "./stripe.ts";

export function startBillingLoops({
  billing,
  database,
  log,
  metrics,
}: {
  billing: Billing | null;
  database: Database;
  log: Log;
  metrics: Metrics;
}): Loop[] {
  if (billing === null) return [];
  const parts = { database, billing, log, metrics };
  const following = startFollowingSubscriptions(parts);
  return billing.settings.usage === null ? [following] : [following, startReportingUsage(parts)];
}
