// Reports the daily usage of each project with a running subscription to Stripe, once (docs/decisions/0084-metered-usage.md).
import { CAP_CATEGORIES } from "@postloft/contract/limits/billing.ts";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { now } from "../platform/clock.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { KIND_OF } from "./caps.ts";
import { OVER } from "./rules.ts";
import { sendUsage, type Billing } from "./stripe.ts";
import {
  beginMetering,
  claimUsage,
  holdUsageRows,
  insertUsage,
  listDueUsage,
  listMetered,
  markFailed,
  markInDoubt,
  markReported,
  moveMetered,
  readSent,
  updateMeteringToBegin,
  type ClaimedUsage,
  type MeteredRow,
} from "./usage-queries.ts";

export { countHeldMetering } from "./usage-queries.ts";

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
/** How long after a day its usage is fixed, so that late replies of mail servers are included. */
const SETTLED_MS = 2 * 3_600_000;
/** Stripe accepts usage of the last 35 days. */
const MAX_DAYS = 34;
const DAYS_AT_ONCE = 200;
/** How long a claim of a crashed process stays valid. */
const CLAIM_SECONDS = 120;
const PROJECTS_AT_ONCE = 200;
/** Per project. Few enough to report within the time of a claim even if each call is slow. */
const CLAIMED_AT_ONCE = 5;
const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 3_600;
/** Stripe remembers identifiers for at least a day. Reports open for longer are in doubt. */
const KNOWN_HOURS = 20;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Fixes the usage of past days. Returns the number of days. */
export async function fixUsage(database: Database, at: Date = now()): Promise<number> {
  const last = dayOf(at.getTime() - SETTLED_MS - DAY_MS);
  const days = await listMetered(database, {
    oldest: dayOf(at.getTime() - MAX_DAYS * DAY_MS),
    last,
    limit: DAYS_AT_ONCE,
  });
  for (const one of days) await transaction(database, async (tx) => fixDay(tx, one));
  return days.length;
}

async function fixDay(tx: Tx, metered: MeteredRow): Promise<void> {
  if (!(await moveMetered(tx, metered))) return;
  const start = Date.parse(metered.day);
  const from = new Date(Math.max(start, metered.meteredFrom.getTime()));
  const sent = await readSent(tx, metered.projectId, { from, to: new Date(start + DAY_MS) });
  const used = CAP_CATEGORIES.map((category) => ({ category, value: sent.get(KIND_OF[category]) ?? 0 }));
  await insertUsage(
    tx,
    metered,
    used.filter(({ value }) => value > 0),
  );
}

interface Reporting {
  database: Database;
  billing: Billing;
  log: Log;
}

/** Reports due usage to Stripe. Returns the number of accepted reports. */
export async function reportUsage(
  { database, billing, log }: Reporting,
  signal?: AbortSignal,
): Promise<number> {
  for (const key of await markInDoubt(database, KNOWN_HOURS))
    log.error(key, "usage in doubt: Stripe may have it, so it is not reported again");
  let reported = 0;
  for (const projectId of await listDueUsage(database, PROJECTS_AT_ONCE)) {
    if (signal?.aborted === true) break;
    const claimed = await claimUsage(database, projectId, { seconds: CLAIM_SECONDS, limit: CLAIMED_AT_ONCE });
    for (const usage of claimed) if (await report({ database, billing, log }, usage)) reported++;
  }
  return reported;
}

async function report({ database, billing, log }: Reporting, usage: ClaimedUsage): Promise<boolean> {
  const { projectId, day, category } = usage;
  const response = await sendUsage(billing, {
    // The same for each attempt, so that Stripe counts the usage once.
    identifier: `${projectId}-${category}-${day}`,
    customerId: usage.customerId,
    category,
    value: usage.value,
    // The last second of the day, which puts it on the later invoice if two share the day.
    atSeconds: (Date.parse(day) + DAY_MS) / 1_000 - 1,
  });
  if (response.outcome === "taken") {
    await markReported(database, usage);
    return true;
  }
  const { error } = response;
  const waitSeconds = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** Math.min(usage.tries, 10));
  const isClosed = response.outcome === "refused" && usage.isFirst;
  await markFailed(database, usage, { error, isClosed, waitSeconds });
  log.warn({ projectId, day, category, error }, "failed to report usage, retrying");
  return false;
}

/**
 * Holds metering after the database was rolled back. Usage that is stored as unreported may have been reported since. A copy of an
 * installation must not report usage under the same identifiers.
 */
export async function holdUsage(tx: Tx): Promise<void> {
  await holdUsageRows(tx);
}

/** Restarts metering of a project, or of all. */
export async function releaseHeldUsage(tx: Tx, projectId: string | null): Promise<void> {
  await updateMeteringToBegin(tx, projectId);
}

/** Reports every minute until it is stopped. Any number of processes may run it. */
export function startReportingUsage(options: Reporting & { metrics: Metrics }): Loop {
  const { database, log, metrics } = options;
  return startLoop({
    name: "usage",
    everyMs: EVERY_MS,
    // A rolled-back database is detected before this time.
    delayMs: EVERY_MS,
    log,
    metrics,
    async runOnce(signal) {
      await beginMetering(database, [...OVER]);
      const fixed = await fixUsage(database);
      await reportUsage(options, signal);
      return fixed === DAYS_AT_ONCE ? 0 : EVERY_MS;
    },
  });
}
