// Starts the loops that record what the installation page shows: that this process runs, and how the database grows.
import { hostname } from "node:os";
import type { Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { now } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { InstanceFacts } from "./facts.ts";
import { startMeasuringStorage } from "./measure-storage.ts";
import { startListingProcess } from "./list-process.ts";

/**
 * Starts the loops and adds their stop to `closing`. Only processes with the role `worker` measure.
 * @throws the error of the first report
 */
export async function startRecords(
  parts: { database: Database; log: Log; metrics: Metrics },
  { roles, version, dataDir }: Pick<InstanceFacts, "roles" | "version" | "dataDir">,
  closing: Array<() => Promise<void>>,
): Promise<void> {
  const { database, log, metrics } = parts;
  const process = { id: newId(), roles, host: hostname(), version, startedAt: now() };
  const report = await startListingProcess({ database, process, log, metrics });
  closing.push(() => report.stop());
  if (!roles.includes("worker")) return;
  const measuring = startMeasuringStorage({ database, dataDir, log, metrics });
  closing.push(() => measuring.stop());
}
