// What it takes to keep the counts of what happened (docs/decisions/0044): that of a benchmark is counted again, by itself.
import { availableParallelism } from "node:os";
import { sql } from "kysely";
import type { Database } from "../server/src/platform/database/database.ts";
import { countNews } from "../server/src/events/counts.ts";

/** Counts all that is not counted yet, but what came in the last `lagSeconds`, as the loop does it. @returns what it took, ms */
export async function countAll(database: Database, lagSeconds?: number): Promise<number> {
  const startedMs = performance.now();
  while (await countNews(database, lagSeconds === undefined ? {} : { lagSeconds }));
  return performance.now() - startedMs;
}

/** Forgets the counts and makes them anew. @returns what it took, ms; it keeps one core busy */
export async function countAnew(database: Database): Promise<number> {
  await sql`truncate count_positions, mail_counts, count_values, event_counts, event_name_counts`.execute(
    database,
  );
  return countAll(database, 0);
}

/** The share of all cores that counting takes while what took `madeMs` to make is made, in percent. */
export function countingShare(countedMs: number, madeMs: number): string {
  return ((100 * countedMs) / (madeMs * availableParallelism())).toFixed(1);
}
