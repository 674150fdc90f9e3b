// Lists this process on the installation page while it runs, whatever its roles.
import { startLoop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import {
  deleteProcess,
  deleteSilentProcesses,
  upsertProcess,
  type ReportingProcess,
} from "./process-queries.ts";

const EVERY_MS = 15_000;
/** Three reports, so that one slow report is no alarm. */
export const ALIVE_SECONDS = 45;
/** Crashed processes stay on the page for this long, so that an admin sees them. */
const SILENT_SECONDS = 3_600;

interface ReportOptions {
  database: Database;
  process: ReportingProcess;
  log: Log;
  metrics: Metrics;
}

/**
 * Reports now and every 15 seconds. The stop removes the process from the page.
 * @throws the error of the first report
 */
export async function startListingProcess({ database, process, log, metrics }: ReportOptions) {
  const report = async () => {
    await upsertProcess(database, process);
    await deleteSilentProcesses(database, SILENT_SECONDS);
  };
  await report();
  const name = "process report";
  const loop = startLoop({ name, runOnce: report, everyMs: EVERY_MS, delayMs: EVERY_MS, log, metrics });
  return {
    async stop(): Promise<void> {
      await loop.stop();
      // Without a database the process stays listed as not responding.
      await deleteProcess(database, process.id).catch((error: unknown) =>
        log.debug({ err: error }, "failed to remove the process from the list"),
      );
    },
  };
}
