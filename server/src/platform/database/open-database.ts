// The database of this process at its start: the embedded one or that of DATABASE_URL, and patience while it is not up yet.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { readOrMakeSecret } from "../settings/application-secret.ts";
import type { Config } from "../settings/config.ts";
import { asUnavailable, createPool, databaseErrorCode } from "./database.ts";
import { keepEmbeddedPostgres } from "../embedded-postgres/kept-postgres.ts";
import type { Log } from "../log.ts";
import { Refusal } from "../refusal.ts";
import { placeOf } from "../start-error.ts";

export interface OpenDatabase {
  pool: pg.Pool;
  /** The application secret. @param isInUse asked before a new one is made. @throws StartError where the one in use is gone */
  readSecret(isInUse: () => Promise<boolean>): Promise<string>;
  close(): Promise<void>;
}

const MAX_DATABASE_CONNECTIONS = 16;
/** A machine that starts everything at once has its database up by then. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 1_000;
/** Beside those that PostgreSQL and a lost connection have: names and ways that come up with the network. */
const NOT_UP_YET = new Set(["ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Whether there is no embedded database yet; of one elsewhere nobody knows before it is asked. */
export function isFirstStart({
  DATABASE_URL,
  DATA_DIR = ".",
}: Partial<Pick<Config, "DATABASE_URL" | "DATA_DIR">>): boolean {
  return DATABASE_URL === undefined && !existsSync(join(resolve(DATA_DIR), "postgres", "PG_VERSION"));
}

/** Opens the database; that of DATABASE_URL is not asked for anything yet. */
export async function openDatabase(
  config: Config,
  log: Log,
  say: (line: string) => void,
): Promise<OpenDatabase> {
  const open = (connection: pg.PoolConfig) =>
    createPool({ connection, maxConnections: MAX_DATABASE_CONNECTIONS, log });
  if (config.DATABASE_URL !== undefined) {
    const pool = open({ connectionString: config.DATABASE_URL });
    return { pool, readSecret: async () => config.APP_SECRET ?? "", close: () => pool.end() };
  }
  const dataDir = resolve(config.DATA_DIR);
  const postgres = await keepEmbeddedPostgres({ dataDir, log: say });
  const pool = open(postgres.connection);
  postgres.follow(pool);
  return {
    pool,
    readSecret: async (isInUse) => config.APP_SECRET ?? readOrMakeSecret(dataDir, isInUse),
    async close() {
      await pool.end();
      await postgres.stop();
    },
  };
}

export interface StartPatience {
  databaseUrl: string | undefined;
  say: (line: string) => void;
  /** Ends the waiting: somebody wants the process to end. */
  signal: AbortSignal;
  /** Default one minute. */
  patienceMs?: number;
}

/**
 * Does what a start does, from the beginning again while the database is not up, or goes away in the middle of it.
 *
 * @param work leaves nothing behind when it fails
 * @throws what `work` threw last when the patience is over, or for any other reason
 */
export async function startPatiently<T>(work: () => Promise<T>, options: StartPatience): Promise<T> {
  const { databaseUrl, say, signal, patienceMs = PATIENCE_MS } = options;
  const name =
    databaseUrl === undefined
      ? "The embedded database"
      : `The database of DATABASE_URL (${placeOf(databaseUrl)})`;
  const startedMs = performance.now();
  for (let hasSaid = false; ; hasSaid = true) {
    try {
      return await work();
    } catch (error) {
      if (!isNotUp(error) || signal.aborted || performance.now() - startedMs > patienceMs) throw error;
      if (!hasSaid)
        say(
          `${name} does not answer yet (${databaseErrorCode(error) || messageOf(error)}): waiting for it, at most ${Math.round(patienceMs / 1000)} s.`,
        );
      await delay(Math.min(LOOK_MS, patienceMs), undefined, { signal });
    }
  }
}

function isNotUp(error: unknown): boolean {
  if (error instanceof Refusal) return false;
  return asUnavailable(error) instanceof Refusal || NOT_UP_YET.has(databaseErrorCode(error) ?? "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
