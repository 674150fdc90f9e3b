// Measures the sizes of the database and of its disk once an hour, so that the installation page can project their growth.
import { statfs } from "node:fs/promises";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { projectGrowth, type Projection } from "./project-growth.ts";
import { deleteOldStorageDays, listStorageEnds, upsertStorageDay } from "./storage-queries.ts";

const EVERY_MS = 60 * 60_000;
/** The start of a process has more important work. */
const DELAY_MS = 60_000;
/** More than the page shows, so that a table that becomes large has a history. */
const MEASURED_TABLES = 40;
const KEPT_DAYS = 365;
/** The projection follows the recent growth. */
const PROJECTED_FROM_DAYS = 30;

export interface Disk {
  freeBytes: number;
  totalBytes: number;
}

/** Returns the sizes of the disk that has this folder, or null if they can't be read. */
export async function readDisk(folder: string): Promise<Disk | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** Stores today's sizes. `dataDir` is the folder of an embedded database, and null for a database elsewhere. */
export async function measureStorage(database: Database, dataDir: string | null): Promise<void> {
  const disk = dataDir === null ? null : await readDisk(dataDir);
  const measured = disk && { usedBytes: disk.totalBytes - disk.freeBytes, totalBytes: disk.totalBytes };
  await upsertStorageDay(database, { disk: measured, tables: MEASURED_TABLES });
  await deleteOldStorageDays(database, KEPT_DAYS);
}

export function startMeasuringStorage({
  database,
  dataDir,
  log,
  metrics,
}: {
  database: Database;
  dataDir: string | null;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "storage sizes",
    runOnce: () => measureStorage(database, dataDir),
    everyMs: EVERY_MS,
    delayMs: DELAY_MS,
    log,
    metrics,
  });
}

/** Returns the growth of the last 30 days, or null if the history is too short. */
export async function readProjection(tx: Tx, freeBytes: number | null): Promise<Projection | null> {
  const [first, last] = await listStorageEnds(tx, PROJECTED_FROM_DAYS);
  return first === undefined || last === undefined
    ? null
    : projectGrowth(first, last, { freeBytes, at: now() });
}
