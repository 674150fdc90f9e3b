// Readiness of a process: database, migrations, queue and disk. Also warns about problems that don't affect readiness, such as an
// unreachable mail server or held email.
import { now } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { hasRoom } from "../platform/disk.ts";
import { countMigrations } from "../platform/database/migrations.ts";
import { heldSentence, readHeld } from "./held.ts";
import { countAppliedMigrations, listTransportOutages, readOldestDueSeconds } from "./queries.ts";

export type Check = "ok" | "failing";

export interface Readiness {
  ready: boolean;
  checks: { database: Check; migrations: Check; queue: Check; disk: Check };
  warnings: Warning[];
}

/**
 * Warnings don't take a process out of service. All processes behind a load balancer would leave together, although they can still accept
 * email.
 */
export interface Warning {
  code: "TRANSPORT_OUTAGE" | "HELD";
  /** A sentence that is safe to publish. */
  message: string;
}

/** Email overdue by this long means that no process sends. */
const QUEUE_ALARM_SECONDS = 300;

/** Returns the response of `/ready`. A 503 tells a load balancer to use another process. */
export async function responseReady(database: Database, dataDir: string | null) {
  const { ready, ...reported } = await readReadiness(database, dataDir);
  return ready
    ? ({ status: 200, body: { status: "ready", ...reported } } as const)
    : ({ status: 503, body: { status: "not ready", ...reported } } as const);
}

/** Returns the response of `/health`: the process is alive. */
export function responseHealth() {
  return { status: "ok", time: now().toISOString() } as const;
}

/**
 * Runs the readiness checks. Never throws, because a check that can't run counts as failing.
 *
 * @param dataDir of the embedded database; null if the database runs elsewhere
 */
export async function readReadiness(database: Database, dataDir: string | null): Promise<Readiness> {
  const expected = await countMigrations();
  const applied = await countAppliedMigrations(database).catch(() => null);
  const oldest = await readOldestDueSeconds(database).catch(() => null);
  const room = await hasRoom(dataDir).catch(() => false);
  const outages = await listTransportOutages(database).catch(() => []);
  const checks: Readiness["checks"] = {
    database: applied === null ? "failing" : "ok",
    migrations: applied !== null && applied >= expected ? "ok" : "failing",
    queue: oldest !== null && oldest < QUEUE_ALARM_SECONDS ? "ok" : "failing",
    disk: room ? "ok" : "failing",
  };
  const warnings = outages.map((outage): Warning => ({
    code: "TRANSPORT_OUTAGE",
    message: `${outage}. Emails wait and are retried automatically. See the log for details.`,
  }));
  const held = await readHeld(database).catch(() => null);
  if (held !== null) warnings.push({ code: "HELD", message: heldSentence(held) });
  return { ready: Object.values(checks).every((check) => check === "ok"), checks, warnings };
}
