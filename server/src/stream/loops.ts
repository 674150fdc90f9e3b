// Starts the background work on numbered events and webhook endpoints.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Loop } from "../platform/background/background.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { createWebhookCaller } from "../webhooks/call-webhook.ts";
import type { CallTargets } from "../webhooks/networks.ts";
import { startNumberingEvents } from "./assign-numbers.ts";
import { startDeliveringEvents } from "./call-endpoints.ts";
import { sweepDeliveries } from "./delivery-log.ts";
import { sweepEventLog } from "./numbered-log.ts";

export interface StreamDependencies {
  database: Database;
  sealer: Sealer;
  dns: Dns;
  /** Networks outside the public internet that webhooks may call. */
  webhookTargets: CallTargets;
  /** The address of the installation, for links in emails. */
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}

/** Starts the loops that number events and call webhook endpoints with them. */
export function startEventStream(deps: StreamDependencies): Loop[] {
  const { database, sealer, dns, webhookTargets: targets, baseUrl, log, metrics } = deps;
  const call = createWebhookCaller({ dns, targets, longestWaitSeconds: LIMITS.eventRetryWait.value });
  return [
    startNumberingEvents({ database, log, metrics }),
    startDeliveringEvents({ database, sealer, call, baseUrl, log, metrics }),
  ];
}

/** Deletes events and ended deliveries that are older than their retention. */
export async function sweepStream(database: Database): Promise<void> {
  await sweepEventLog(database);
  await sweepDeliveries(database);
}
