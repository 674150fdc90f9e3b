// Deletes files without a row, left by crashed uploads, deleted images and deleted projects.
import { now } from "../platform/clock.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { findKnownFiles, hasUploads } from "./queries.ts";
import { pathOf, readPath } from "./rules.ts";
import type { Storage, StoredFile } from "./storage.ts";

/** Longer than any upload takes between its file and its commit. */
const YOUNG_MS = 3_600_000;
const SWEEP_MS = 6 * 3_600_000;
const FIRST_SWEEP_MS = 600_000;
const FILES_AT_ONCE = 500;

/** Skips unknown files, and all files while there are no rows, because this may be another database. */
export async function sweepFiles(
  { database, storage }: { database: Database; storage: Storage },
  signal?: AbortSignal,
): Promise<number> {
  if (!(await hasUploads(database))) return 0;
  let removed = 0;
  let batch: StoredFile[] = [];
  const removeOrphans = async () => {
    const orphans = await orphansOf(database, batch);
    batch = [];
    for (const path of orphans) await storage.remove(path);
    removed += orphans.length;
  };
  for await (const file of storage.list()) {
    if (signal?.aborted === true) return removed;
    if (now().getTime() - file.writtenAt.getTime() < YOUNG_MS) continue;
    batch.push(file);
    if (batch.length === FILES_AT_ONCE) await removeOrphans();
  }
  await removeOrphans();
  return removed;
}

async function orphansOf(database: Database, files: readonly StoredFile[]): Promise<string[]> {
  const named = files.flatMap(({ path }) => {
    const name = readPath(path);
    return name === null ? [] : [{ path, name }];
  });
  if (named.length === 0) return [];
  const rows = await findKnownFiles(
    database,
    named.map(({ name }) => name),
  );
  // An unfinished file never matches, because its path has a suffix.
  const known = new Set(rows.map(({ projectId, file }) => pathOf({ projectId, file })));
  return named.map(({ path }) => path).filter((path) => !known.has(path));
}

export function startSweepingFiles(parts: {
  database: Database;
  storage: Storage;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "sweep of image files",
    runOnce: async (signal) => {
      const removed = await sweepFiles(parts, signal);
      if (removed > 0) parts.log.info({ removed }, "deleted image files without a row");
    },
    everyMs: SWEEP_MS,
    delayMs: FIRST_SWEEP_MS,
    log: parts.log,
    metrics: parts.metrics,
  });
}
