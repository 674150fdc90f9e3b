// Tests that watching the database keeps the settings of its connections, such as their time limits.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Pool } from "pg";
import { expect, test } from "vitest";
import { createDatabase, transaction, type Database } from "../database/database.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { createTestDatabase } from "../database/test-database.ts";
import { createStampFile } from "./stamp-file.ts";
import { askToHold, watchStamp } from "./stamp.ts";

const LIMIT = "select current_setting('transaction_timeout', true) as limit";

/** Returns the limits of the existing connections, which end then, and of new ones. */
async function limitsOf(pool: Pool): Promise<unknown[]> {
  return [...(await endAll(pool)), ...(await endAll(pool))];
}

async function endAll(pool: Pool): Promise<unknown[]> {
  const all = Array.from({ length: 3 }, () => pool.connect());
  const clients = await Promise.all(all);
  const limits: unknown[] = [];
  for (const client of clients) limits.push((await client.query<{ limit: unknown }>(LIMIT)).rows[0]?.limit);
  for (const client of clients) client.release(true);
  return limits;
}

const readLimit = async (database: Database) =>
  (await sql.raw<{ limit: unknown }>(LIMIT).execute(database)).rows[0]?.limit;

test("keeps the transaction timeout while the database is watched, checked again, and afterwards", async () => {
  const folder = await mkdtemp(join(tmpdir(), "postloft-stamp-"));
  const { pool, drop } = await createTestDatabase();
  const before = await limitsOf(pool);
  const database = createDatabase(pool);
  const watch = await watchStamp({
    database,
    pool,
    file: createStampFile(folder),
    hold: async () => false,
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
    beatMs: 20,
  });
  expect(await limitsOf(pool)).toEqual(before);

  const looking = Promise.withResolvers<unknown>();
  watch.addRecoveryParticipant({
    sinceMs: () => 0,
    reconcile: async (own) => looking.resolve(await readLimit(own)),
  });
  await transaction(database, askToHold);
  expect(await looking.promise).toBe(before[0]);

  await watch.stop();
  expect(await limitsOf(pool)).toEqual(before);
  await drop();
  await rm(folder, { recursive: true, force: true });
});
