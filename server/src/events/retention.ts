// How long events are kept: for ever, or for so many days and then by whole months (docs/decisions/0082-events-by-month.md). What was
// counted of them stays in the counts.
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

/** Who must know that events of projects are gone, in the same transaction; they stand further up in the reading order. */
export type EventsExpired = (tx: Tx, projectIds: readonly string[]) => Promise<void>;

/** Says how long a project keeps its events; null: for ever. */
export async function changeEventRetention(tx: Tx, projectId: string, days: number | null): Promise<void> {
  if (days === null) await deleteRetention(tx, projectId);
  else await upsertRetention(tx, projectId, days);
}

/** From when on all events of a project are still there: the beginning of a month, long ago where none ever went. */
export async function readKeptFrom(database: Database, projectId: string): Promise<Date> {
  return new Date(idTimeMs(await findKeptFrom(database, projectId)));
}

/**
 * Drops the months that no project needs any more.
 *
 * @returns the names of what went; `isBusy`: one more would go, but the table was in use
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
 * Deletes what is too old from months that another project still needs, in batches.
 *
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

/** Lets old events go in the background, for as long as it runs. */
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
        log.info({ dropped }, "months of events were deleted: nobody keeps them for longer");
      // A month that is to go as a whole is not emptied row by row meanwhile.
      if (isBusy) return BUSY_RETRY_MS;
      if (await deleteExpired(database, onExpired, { signal })) return 0;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}
