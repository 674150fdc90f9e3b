// Detects a rolled-back database before anything is sent. Then holds everything that was waiting and prints it at the start.
import { resolve } from "node:path";
import type pg from "pg";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { createStampFile } from "../platform/stamp/stamp-file.ts";
import { watchStamp, type StampWatch } from "../platform/stamp/stamp.ts";
import { describeHeld, HELD_COMMAND, holdEverything, readHeld } from "./held.ts";

/**
 * Starts the watch and adds its stop to `closing`.
 *
 * @throws an error if the database can't be reached
 */
export async function watchDatabase(
  { database, log, metrics }: { database: Database; log: Log; metrics: Metrics },
  ground: { pool: pg.Pool; say: (line: string) => void; closing: Array<() => Promise<void>> },
  dataDir: string,
): Promise<StampWatch> {
  const { pool, say, closing } = ground;
  const file = createStampFile(resolve(dataDir));
  const watch = await watchStamp({ database, pool, file, hold: holdEverything, log, metrics });
  closing.push(() => watch.stop());
  const held = await readHeld(database);
  if (held !== null) {
    say(`ON HOLD since ${held.since.toISOString()}: ${describeHeld(held)}. ${held.reason}`);
    say(`  Show it with ${HELD_COMMAND}, then release or drop it.`);
  }
  return watch;
}
