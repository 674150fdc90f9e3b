// Counts of what happened, by the quarter of an hour: kept in batches that know where they stand, and by whoever changes what is counted
// already, in the same transaction (docs/decisions/0044-counts-of-what-happened.md).
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { advanceCounts, findCountable, listUncounted } from "./count-queries.ts";

export { DIMENSION_NUMBERS, MAIL_COLUMNS, MAIL_NAMES, type MailColumn, type Span } from "./count-queries.ts";
export { addLateSent, subtractContacts } from "./count-changes-queries.ts";
export { sentMails, sumMails, sumOthers, type MailFilter } from "./counted-queries.ts";

/** What is younger is not counted yet: its transaction may be under way, and clocks differ. */
const LAG_SECONDS = 10;
/** Events and mails that one transaction counts; others of the project wait for it only when they change what is counted. */
const STEP_SIZE = 20_000;
const PROJECTS_A_RUN = 500;
const EVERY_MS = 10_000;
/** The share of its time that the loop may take: a look at very many projects is worth it more seldom. */
const TIMES_IDLE = 20;
const LONGEST_WAIT_MS = 60_000;

/**
 * Counts what happened up to `lagSeconds` ago, in every project with something new.
 *
 * @returns whether there is more to count at once
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

/** Counts in the background, for as long as it runs. */
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
