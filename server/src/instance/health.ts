// Whether this process can do its work: the database answers, its shape is the newest, mail does not pile up, there is room on the disk;
// and what a person should know although it can, such as a mail server that is away, or mail that is held.
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

/** None of these takes a process out of service: behind a load balancer all would go at once, and what they take is kept. */
export interface Warning {
  code: "TRANSPORT_OUTAGE" | "HELD";
  /** A sentence that anybody may read. */
  message: string;
}

/** Mail that is due and has waited this long says that nobody sends. */
const QUEUE_ALARM_SECONDS = 300;

/** What `/ready` says: 503 tells a load balancer to ask another process. */
export async function answerReady(database: Database, dataDir: string | null) {
  const { ready, ...told } = await readReadiness(database, dataDir);
  return ready
    ? ({ status: 200, body: { status: "ready", ...told } } as const)
    : ({ status: 503, body: { status: "not ready", ...told } } as const);
}

/** What `/health` says: that the process lives. */
export function answerHealth() {
  return { status: "ok", time: now().toISOString() } as const;
}

/**
 * Never throws: what cannot be asked is failing.
 *
 * @param dataDir of the embedded database; null with a database elsewhere
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
    message: `${outage}: its mail waits and is tried again by itself. The log says why.`,
  }));
  const held = await readHeld(database).catch(() => null);
  if (held !== null) warnings.push({ code: "HELD", message: heldSentence(held) });
  return { ready: Object.values(checks).every((check) => check === "ok"), checks, warnings };
}
