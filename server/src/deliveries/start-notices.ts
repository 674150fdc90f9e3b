// Starts the reader of returned mail, reports and incoming messages.
import type { Loop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { createReportReader } from "../domains/reports/unpack-apart.ts";
import type { Deliveries } from "./deliveries.ts";
import { createInterpreter } from "./interpret-notices.ts";
import { startNoticeReader } from "./notices.ts";
import type { ReturnPaths } from "./return-path.ts";

/** Stops the thread that unpacks reports together with the loop. */
export function startNotices(options: {
  database: Database;
  deliveries: Deliveries;
  returnPaths: ReturnPaths;
  bounceDomain: string | null;
  inboundDomain: string | null;
  operator: string | null;
  log: Log;
  metrics: Metrics;
}): Loop {
  const { database, deliveries, returnPaths, bounceDomain, inboundDomain, operator } = options;
  const { log, metrics } = options;
  const ownDomains = [bounceDomain, inboundDomain].filter((domain) => domain !== null);
  const reportReader = createReportReader();
  const interpret = createInterpreter({
    deliveries,
    returnPaths,
    ownDomains,
    operator,
    reportReader,
  });
  const loop = startNoticeReader({ database, interpret, log, metrics });
  return {
    ...loop,
    async stop() {
      await loop.stop();
      await reportReader.close();
    },
  };
}
