// The time that outlives this process: that of the database, which all of an installation share. A machine's own clock may be wrong, each
// otherwise, and jumps when it is set. What leases, timers and schedules compare, the database compares itself; this is for what is made
// here: ids, the instants of events, dates of messages.
import { sql } from "kysely";
import { startLoop, type Loop } from "./background/background.ts";
import type { Database } from "./database/database.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const LOOK_MS = 10_000;
/** Below this a difference is not told from the way of an answer, beside half of how long that took. */
const BLUR_MS = 5;
/** From here on somebody should know that the clock of the machine is wrong. */
const WRONG_MS = 1_000;

/** How far the database's clock is ahead of this machine's. */
const difference = { ms: 0 };

/** Milliseconds since 1970, whole. */
export function nowMs(): number {
  return Date.now() + difference.ms;
}

export function now(): Date {
  return new Date(nowMs());
}

/** The database's clock itself, as its transaction began: for what is compared with what other machines say. */
export async function readClock(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(database);
  return rows[0]?.now ?? new Date(Number.NaN);
}

/**
 * Compares the clocks now and every ten seconds until stopped, and goes by the database's where they differ by more than can
 * be told: within half of the time that the database takes to answer.
 * @throws what the first look threw; later ones wait for a database that is away
 */
export async function followClock({
  database,
  log,
  metrics,
}: {
  database: Database;
  log: Log;
  metrics: Metrics;
}): Promise<Loop> {
  const look = async () => {
    const { aheadMs, blurMs } = await compareClocks(database);
    const changeMs = Math.round(aheadMs) - difference.ms;
    if (Math.abs(changeMs) <= blurMs) return;
    difference.ms += changeMs;
    if (Math.abs(changeMs) >= WRONG_MS)
      log.warn(
        { aheadMs: difference.ms },
        "the clock of this machine is not that of the database, which counts",
      );
  };
  await look();
  return startLoop({ name: "clock", runOnce: look, everyMs: LOOK_MS, delayMs: LOOK_MS, log, metrics });
}

async function compareClocks(database: Database): Promise<{ aheadMs: number; blurMs: number }> {
  const askedAtMs = Date.now();
  const startedMs = performance.now();
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(database);
  const halfMs = (performance.now() - startedMs) / 2;
  return { aheadMs: (rows[0]?.ms ?? askedAtMs) - (askedAtMs + halfMs), blurMs: halfMs + BLUR_MS };
}
