// Opens the embedded database or the one of DATABASE_URL, and waits while it is not available yet.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { readOrMakeSecret } from "../settings/application-secret.ts";
import type { Config } from "../settings/config.ts";
import { asUnavailable, createPool, databaseErrorCode } from "./database.ts";
import { keepEmbeddedPostgres } from "../embedded-postgres/kept-postgres.ts";
import type { Log } from "../log.ts";
import { AppError } from "../app-error.ts";
import { placeOf } from "../start-error.ts";

export interface OpenDatabase {
  pool: pg.Pool;
  /**
   * Returns the application secret. @param isInUse called before a new secret is created. @throws StartError if the secret in use is
   * missing
   */
  readSecret(isInUse: () => Promise<boolean>): Promise<string>;
  close(): Promise<void>;
}

const MAX_DATABASE_CONNECTIONS = 16;
/** A machine that starts everything together has its database running by then. */
const PATIENCE_MS = 60_000;
const POLL_MS = 1_000;
/** Codes of networks and names that are not available yet, in addition to those of PostgreSQL and lost connections. */
const NOT_UP_YET = new Set(["ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Returns whether there is no embedded database yet. An external database is unknown until it is queried. */
export function isFirstStart({
  DATABASE_URL,
  DATA_DIR = ".",
}: Partial<Pick<Config, "DATABASE_URL" | "DATA_DIR">>): boolean {
  return DATABASE_URL === undefined && !existsSync(join(resolve(DATA_DIR), "postgres", "PG_VERSION"));
}

/** Opens the database without querying that of DATABASE_URL yet. */
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
  /** Ends the wait because the process should stop. */
  signal: AbortSignal;
  /** Default: one minute. */
  patienceMs?: number;
}

/**
 * Runs a start and repeats it from the beginning while the database is unavailable or becomes unavailable during the start.
 * @param work must leave nothing behind when it fails
 * @throws the last error of `work` when the patience is over, and any other error immediately
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
          `${name} does not respond yet (${databaseErrorCode(error) || messageOf(error)}). Waiting for up to ${Math.round(patienceMs / 1000)} s.`,
        );
      await delay(Math.min(POLL_MS, patienceMs), undefined, { signal });
    }
  }
}

function isNotUp(error: unknown): boolean {
  if (error instanceof AppError) return false;
  return asUnavailable(error) instanceof AppError || NOT_UP_YET.has(databaseErrorCode(error) ?? "");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
