// Event retention, unlimited or a number of days, applied by whole months (docs/decisions/0082-events-by-month.md). The counts of deleted
// events are kept.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { nowMs } from "../platform/clock.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { idTimeMs } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { takeTurns } from "../platform/background/project-turns.ts";
import { BUSY_RETRY_MS, dropPartition, listPartitions, unlessBusy } from "../platform/database/partitions.ts";
import {
  deleteOldEvents,
  deleteRetention,
  findKeptFrom,
  findProjectsOfOldPartition,
  listRetentions,
  raiseKeptFrom,
  upsertRetention,
} from "./retention-queries.ts";

const DAY_MS = 86_400_000;
const BATCH_SIZE = 5_000;
const EVERY_MS = 10 * 60_000;

/** Notifies later folders in the same transaction that events of projects were deleted. */
export type EventsExpired = (tx: Tx, projectIds: readonly string[]) => Promise<void>;

/** Sets the retention of a project's events. null means unlimited. */
export async function changeEventRetention(tx: Tx, projectId: string, days: number | null): Promise<void> {
  if (days === null) await deleteRetention(tx, projectId);
  else await upsertRetention(tx, projectId, days);
}

/**
 * Returns the time from which all events of a project still exist, at the start of a month. A project without deletions gets a time long
 * ago.
 */
export async function readKeptFrom(database: Database, projectId: string): Promise<Date> {
  return new Date(idTimeMs(await findKeptFrom(database, projectId)));
}

/**
 * Drops the months that no project needs.
 * @returns the dropped partitions. `isBusy` is set if another one could not be dropped because the table was in use
 */
export async function dropOldMonths(
  database: Database,
  onExpired: EventsExpired,
): Promise<{ dropped: string[]; isBusy: boolean }> {
  const youngest = nowMs() - LIMITS.eventRetentionMinimum.value * DAY_MS;
  const dropped: string[] = [];
  for (const { name, until } of await listPartitions(database, "events")) {
    if (until === null || idTimeMs(until) > youngest) break;
    const projectIds = await findProjectsOfOldPartition(database, { name, until });
    if (projectIds === null) continue;
    const outcome = await unlessBusy(() =>
      transaction(database, async (tx) => {
        await raiseKeptFrom(tx, projectIds, until);
        await onExpired(tx, projectIds);
        await dropPartition(tx, name);
      }),
    );
    if (outcome === "busy") return { dropped, isBusy: true };
    dropped.push(name);
  }
  return { dropped, isBusy: false };
}

/**
 * Deletes expired events from months that another project still needs, in batches.
 * @returns whether there is more
 */
export async function deleteExpired(
  database: Database,
  onExpired: EventsExpired,
  { batchSize = BATCH_SIZE, signal }: { batchSize?: number; signal?: AbortSignal } = {},
): Promise<boolean> {
  return takeTurns({
    listProjects: (after, limit) => listRetentions(database, after, limit),
    runBatch: (projectId) =>
      transaction(database, async (tx) => {
        const deleted = await deleteOldEvents(tx, projectId, batchSize);
        if (deleted > 0) await onExpired(tx, [projectId]);
        return deleted === batchSize;
      }),
    signal,
  });
}

/** Deletes old events in the background until it is stopped. */
export function startExpiringEvents({
  database,
  onExpired,
  log,
  metrics,
}: {
  database: Database;
  onExpired: EventsExpired;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "retention of events",
    async runOnce(signal) {
      const { dropped, isBusy } = await dropOldMonths(database, onExpired);
      if (dropped.length > 0)
        log.info({ dropped }, "deleted months of events past every project's retention");
      // A month that will be dropped as a whole should not be emptied row by row first.
      if (isBusy) return BUSY_RETRY_MS;
      if (await deleteExpired(database, onExpired, { signal })) return 0;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}
