// Whether this process can do its work: the database answers, its shape is the newest, mail does not pile up.
// Before it: routes.ts (`/ready`, `/`). After it: whoever runs the installation.
import type { Database } from "../platform/database.ts";
import { readMigrations } from "../platform/migrations.ts";
import { countAppliedMigrations, readOldestDueSeconds } from "./queries.ts";

export type Check = "ok" | "failing";

export interface Readiness {
  ready: boolean;
  checks: { database: Check; migrations: Check; queue: Check };
}

/** Mail that is due and has waited this long says that nobody sends. */
const QUEUE_ALARM_SECONDS = 300;

/** Never throws: what cannot be asked is failing. */
export async function readReadiness(database: Database): Promise<Readiness> {
  const expected = (await readMigrations()).length;
  const applied = await countAppliedMigrations(database).catch(() => null);
  const oldest = await readOldestDueSeconds(database).catch(() => null);
  const checks: Readiness["checks"] = {
    database: applied === null ? "failing" : "ok",
    migrations: applied !== null && applied >= expected ? "ok" : "failing",
    queue: oldest !== null && oldest < QUEUE_ALARM_SECONDS ? "ok" : "failing",
  };
  return { ready: Object.values(checks).every((check) => check === "ok"), checks };
}
