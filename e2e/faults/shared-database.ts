// A PostgreSQL shared by a world's programs, which a case can kill and restart.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStandby } from "./standby.ts";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { databaseUrlOf } from "../../server/src/testing/database-url.ts";

/** `pg_ctl` modes: SIGINT is fast and SIGQUIT immediate, while SIGKILL crashes the postmaster. */
export type Shutdown = "SIGINT" | "SIGQUIT" | "SIGKILL";

export interface SharedDatabase {
  /** The current URL. */
  url(): string;
  /** Stops the database, waits `awayMs` and starts it again. */
  restart(how: Shutdown, awayMs: number): Promise<void>;
  /** Adds an asynchronous standby in its own folder. */
  addStandby(standbyFolder: string): Promise<Standby>;
  stop(): Promise<void>;
}

export interface Standby {
  /** Stops the replication from the primary. */
  freeze(): Promise<void>;
  /** Kills the primary and promotes the standby, which has another address. */
  takeOver(): Promise<void>;
}

export async function startSharedDatabase(folder: string): Promise<SharedDatabase> {
  const start = () => startEmbeddedPostgres({ dataDir: folder, log: () => {} });
  let postgres = await start();
  return {
    url: () => urlOf(postgres),
    async restart(how, awayMs) {
      process.kill(await readPostmasterPid(folder), how);
      await postgres.exited;
      await postgres.stop();
      await delay(awayMs);
      postgres = await start();
    },
    async addStandby(standbyFolder) {
      const standby = await startStandby(folder, standbyFolder, urlOf(postgres));
      return {
        freeze: standby.freeze,
        async takeOver() {
          process.kill(await readPostmasterPid(folder), "SIGKILL");
          await postgres.exited;
          await postgres.stop();
          postgres = await standby.promote();
        },
      };
    },
    stop: () => postgres.stop(),
  };
}

/** Uses the superuser, so that the database can be copied and replicated. */
function urlOf({ superuser }: EmbeddedPostgres): string {
  return databaseUrlOf(superuser);
}

/** Returns the process id of the PostgreSQL in a data folder. */
export async function readPostmasterPid(folder: string): Promise<number> {
  const lines = await readFile(join(folder, "postgres", "postmaster.pid"), "utf8");
  return Number(lines.split("\n")[0]);
}
