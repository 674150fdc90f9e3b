// Tells the time by the database's clock, because the clock of a machine may be wrong or jump. All processes of an installation share that
// clock. The database itself compares leases, timers and schedules. This clock is for ids, times of events and dates of messages, which are
// made here.
import { sql } from "kysely";
import { startLoop, type Loop } from "./background/background.ts";
import type { Database } from "./database/database.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

const POLL_MS = 10_000;
/** A smaller difference is indistinguishable from network delay. Half of the round trip is added to this. */
const BLUR_MS = 5;
/** From this difference on, the log warns about the machine's clock. */
const WRONG_MS = 1_000;

/** How far the database's clock is ahead of this machine's. */
const difference = { ms: 0 };

/** Returns the milliseconds since 1970, as a whole number. */
export function nowMs(): number {
  return Date.now() + difference.ms;
}

export function now(): Date {
  return new Date(nowMs());
}

/** Returns the database's own clock at the start of its transaction, for comparisons with times from other machines. */
export async function readClock(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(database);
  return rows[0]?.now ?? new Date(Number.NaN);
}

/**
 * Compares the clocks now and every ten seconds until stopped. Adopts the database's clock if they differ by more than half of its response
 * time.
 * @throws the error of the first comparison; later comparisons wait for a database that is away
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
        "the clock of this machine differs from the database, using the database's clock",
      );
  };
  await look();
  return startLoop({ name: "clock", runOnce: look, everyMs: POLL_MS, delayMs: POLL_MS, log, metrics });
}

async function compareClocks(database: Database): Promise<{ aheadMs: number; blurMs: number }> {
  const askedAtMs = Date.now();
  const startedMs = performance.now();
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(database);
  const halfMs = (performance.now() - startedMs) / 2;
  return { aheadMs: (rows[0]?.ms ?? askedAtMs) - (askedAtMs + halfMs), blurMs: halfMs + BLUR_MS };
}
