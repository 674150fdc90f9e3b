// Measures the cost of the report counts (docs/decisions/0044) by counting a benchmark's events again.
import { availableParallelism } from "node:os";
import { sql } from "kysely";
import type { Database } from "../server/src/platform/database/database.ts";
import { countNews } from "../server/src/events/counts.ts";

/** Counts everything not counted yet, except the last `lagSeconds`, as the loop does. @returns the duration in ms */
export async function countAll(database: Database, lagSeconds?: number): Promise<number> {
  const startedMs = performance.now();
  while (await countNews(database, lagSeconds === undefined ? {} : { lagSeconds }));
  return performance.now() - startedMs;
}

/** Deletes the counts and builds them again, which keeps one core busy. @returns the duration in ms */
export async function recountAll(database: Database): Promise<number> {
  await sql`truncate count_positions, mail_counts, count_values, event_counts, event_name_counts`.execute(
    database,
  );
  return countAll(database, 0);
}

/** Returns the percentage of all cores needed to count, at the same rate, what was produced in `madeMs`. */
export function countingShare(countedMs: number, madeMs: number): string {
  return ((100 * countedMs) / (madeMs * availableParallelism())).toFixed(1);
}
