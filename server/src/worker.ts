// Table of contents of the background: the sender, and what is checked and swept by the clock.
// Before it: main.ts built the parts. After it: emails/sender.ts sends.
import type { Database } from "./platform/database.ts";
import { sweepKeys } from "./platform/idempotency.ts";
import type { Log } from "./platform/log.ts";
import type { Metrics } from "./platform/metrics.ts";
import { sweepRateWindows } from "./platform/rate-limit.ts";
import { createPreparer } from "./emails/prepare-emails.ts";
import type { Transport } from "./emails/providers/transport.ts";
import type { Renderer } from "./emails/rendering/renderer.ts";
import { startSender } from "./emails/sender.ts";
import type { Sessions } from "./users/sessions.ts";
import { startDomainChecks } from "./domains/check-domains.ts";
import type { Domains } from "./domains/domains.ts";
import { readContactsForRendering } from "./contacts/contacts.ts";
import type { ContactLinks } from "./contacts/links.ts";
import { applyFeedback } from "./deliveries/deliveries.ts";

export interface WorkerParts {
  database: Database;
  transport: Transport;
  connections: number;
  renderer: Renderer;
  domains: Domains;
  sessions: Sessions;
  linksOf: (projectId: string, contactId: string) => ContactLinks;
  log: Log;
  metrics: Metrics;
}

export interface Worker {
  wakeSender(): void;
  stop(): Promise<void>;
}

const SWEEP_MS = 10 * 60_000;

export async function startWorker(parts: WorkerParts): Promise<Worker> {
  const { database, transport, renderer, domains, log, metrics } = parts;
  const prepare = createPreparer({
    database,
    renderer,
    surroundings: {
      readContacts: (keys) => readContactsForRendering(database, keys),
      findSigningKeys: (names) => domains.findSigningKeys(names),
      linksOf: parts.linksOf,
    },
  });
  const sender = await startSender({
    database,
    transport,
    prepare,
    applyFeedback,
    connections: parts.connections,
    log,
    metrics,
  });
  const domainChecks = startDomainChecks({ checkDue: domains.checkDue, log });
  const sweeping = setInterval(() => void sweep(parts), SWEEP_MS);
  return {
    wakeSender: () => sender.wake(),
    async stop() {
      clearInterval(sweeping);
      await Promise.all([sender.stop(), domainChecks.stop()]);
      await transport.close();
    },
  };
}

/** Deletes what nobody needs any more; small and safe to run in several processes at once. */
async function sweep({ database, sessions, log }: WorkerParts): Promise<void> {
  try {
    await sweepKeys(database);
    await sweepRateWindows(database);
    await sessions.sweep();
  } catch (error) {
    log.warn({ err: error }, "the sweep failed; it runs again in ten minutes");
  }
}
