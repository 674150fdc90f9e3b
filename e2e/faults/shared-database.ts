// The PostgreSQL beside the programs of a world, which a case can end the hard way and bring back.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStandby } from "./standby.ts";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";

/** As `pg_ctl` calls them: SIGINT is fast, SIGQUIT immediate; SIGKILL is a crash of the postmaster. */
export type Shutdown = "SIGINT" | "SIGQUIT" | "SIGKILL";

export interface SharedDatabase {
  /** Where it is now. */
  url(): string;
  /** Ends it, leaves it away for so long and starts it again. */
  restart(how: Shutdown, awayMs: number): Promise<void>;
  /** A standby in a folder of its own that follows asynchronously. */
  addStandby(standbyFolder: string): Promise<Standby>;
  stop(): Promise<void>;
}

export interface Standby {
  /** From now on it gets nothing more of what the primary commits. */
  freeze(): Promise<void>;
  /** The primary dies, and the standby takes its place, at another address. */
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

/** As somebody's own PostgreSQL may be used: by who may do everything there, copies and standbys too. */
function urlOf({ superuser }: EmbeddedPostgres): string {
  const { user, password, host, port, database } = superuser;
  return `postgres://${user}:${password}@${host}:${port}/${database}`;
}

/** The process id of the PostgreSQL in a data folder, whoever started it. */
export async function readPostmasterPid(folder: string): Promise<number> {
  const lines = await readFile(join(folder, "postgres", "postmaster.pid"), "utf8");
  return Number(lines.split("\n")[0]);
}
