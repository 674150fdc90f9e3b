// Maintains counts per quarter of an hour. A background loop counts in batches, and transactions that change counted data update the counts
// themselves (docs/decisions/0044-event-counts.md).
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { advanceCounts, findCountable, listUncounted } from "./count-queries.ts";

export { DIMENSION_NUMBERS, MAIL_NAMES, type MailColumn, type Span } from "./count-queries.ts";
export {
  addLateSent,
  countEventsOfDeleted,
  keepMailCounts,
  subtractContacts,
  type EventOfDeleted,
} from "./count-changes-queries.ts";
export { sentMails, sumMails, sumOthers, type MailFilter } from "./counted-queries.ts";

/** Younger events are not counted yet, because their transaction may be open and clocks differ. */
const LAG_SECONDS = 10;
/** Events and emails counted per transaction. Other transactions of the project wait only if they change counted data. */
const STEP_SIZE = 20_000;
const PROJECTS_A_RUN = 500;
const EVERY_MS = 10_000;
/** Limits the loop's share of time, so that it runs less often when there are very many projects. */
const TIMES_IDLE = 20;
const LONGEST_WAIT_MS = 60_000;

/**
 * Counts events up to `lagSeconds` ago in every project with new ones.
 * @returns whether there is more to count immediately
 */
export async function countNews(
  database: Database,
  {
    lagSeconds = LAG_SECONDS,
    stepSize = STEP_SIZE,
    signal,
  }: { lagSeconds?: number; stepSize?: number; signal?: AbortSignal } = {},
): Promise<boolean> {
  const until = await findCountable(database, lagSeconds);
  const projectIds = await listUncounted(database, PROJECTS_A_RUN);
  let hasMore = projectIds.length === PROJECTS_A_RUN;
  for (const projectId of projectIds) {
    if (signal?.aborted === true) return false;
    const step = { until, limit: stepSize };
    if (await transaction(database, (tx) => advanceCounts(tx, projectId, step))) hasMore = true;
  }
  return hasMore;
}

/** Counts in the background until it is stopped. */
export function startCounting({
  database,
  log,
  metrics,
}: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): Loop {
  return startLoop({
    name: "counts of events",
    async runOnce(signal) {
      const startedMs = performance.now();
      if (await countNews(database, { signal })) return 0;
      return Math.max(EVERY_MS, (performance.now() - startedMs) * TIMES_IDLE);
    },
    everyMs: LONGEST_WAIT_MS,
    log,
    metrics,
  });
}
