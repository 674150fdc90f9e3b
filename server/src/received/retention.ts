// Deletes received emails after the project's retention of emails (docs/decisions/0094-email-retention.md).
import { takeTurns } from "../platform/background/project-turns.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { firstIdAt } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { findRetentionDays, listRetentions } from "../emails/retention/retention.ts";
import { deleteOldReceived } from "./queries.ts";

const DAY_MS = 86_400_000;
const EVERY_MS = 60 * 60_000;
/** A message can have 10 MB, so a batch is small. */
const BATCH_SIZE = 200;

/**
 * Deletes expired emails in batches. Their events have a retention of their own.
 * @returns whether there is more
 */
export async function deleteExpiredReceived(
  database: Database,
  { at = now(), signal }: { at?: Date; signal?: AbortSignal } = {},
): Promise<boolean> {
  return takeTurns({
    listProjects: (after, limit) => listRetentions(database, after, limit),
    runBatch: (projectId) =>
      transaction(database, async (tx) => {
        const days = await findRetentionDays(tx, projectId);
        if (days === undefined) return false;
        const belowId = firstIdAt(at.getTime() - days * DAY_MS);
        return (await deleteOldReceived(tx, projectId, belowId, BATCH_SIZE)) === BATCH_SIZE;
      }),
    signal,
  });
}

/** Starts the background loop that deletes old received emails. */
export function startDeletingReceived({
  database,
  log,
  metrics,
}: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "retention of received emails",
    async runOnce(signal) {
      if (await deleteExpiredReceived(database, { signal })) return 0;
    },
    everyMs: EVERY_MS,
    log,
    metrics,
  });
}
