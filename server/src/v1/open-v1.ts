// Opens what accepts email and events. HTTP calls and SMTP submission share its batches.
import type { Database } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import type { RecoveryParticipant } from "../platform/stamp/stamp.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import type { Domains } from "../domains/domains.ts";
import { createRecentSends } from "./recent-sends.ts";
import { createNotedSend, v1Routes } from "./routes.ts";
import { createBatchEndpoint } from "./send-batch.ts";
import { createSendEndpoint } from "./send.ts";
import { createTracker } from "./track.ts";
import { createVerifier } from "./verify.ts";

export function openV1(deps: {
  database: Database;
  dns: Dns;
  domains: Domains;
  renderer: AskedRenderer;
  /** Returns the address of this service, for links in errors. */
  origin: () => string;
  /** Registers a component to be asked for recovery after a failover to a different database. */
  addRecoveryParticipant: (participant: RecoveryParticipant) => void;
  log: Log;
}) {
  const { database, dns, domains, renderer, origin, log } = deps;
  const sendEndpoint = createSendEndpoint({ database, renderer, domains });
  const recentSends = createRecentSends(log);
  deps.addRecoveryParticipant(recentSends);
  const sendNoted = createNotedSend(sendEndpoint.send, recentSends);
  const routes = v1Routes({
    database,
    tracker: createTracker(database),
    sendNoted,
    sendBatch: createBatchEndpoint({ database, sendEndpoint, origin }),
    recentSends,
    verify: createVerifier({ dns }),
  });
  return { routes, sendEndpoint, sendNoted, recentSends };
}
