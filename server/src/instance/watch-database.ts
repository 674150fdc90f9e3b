// Before anything leaves: is it the database that it was? If it went back, everything that waits is held and the start says so.
import { resolve } from "node:path";
import type pg from "pg";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { createStampFile } from "../platform/stamp/stamp-file.ts";
import { watchStamp, type StampWatch } from "../platform/stamp/stamp.ts";
import { describeHeld, HELD_COMMAND, holdEverything, readHeld } from "./held.ts";

/**
 * What it starts is closed with the rest.
 *
 * @throws what keeps it from the database
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
    say(`HELD since ${held.since.toISOString()}: ${describeHeld(held)}. ${held.reason}`);
    say(`  See what it is: ${HELD_COMMAND}. Then let it go on (release) or not be sent (drop).`);
  }
  return watch;
}
