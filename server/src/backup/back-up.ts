// Writes an installation to one file, and restores one into an empty database, with the settings of the server.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { findSecret, keepSecret, readSecret } from "../platform/settings/application-secret.ts";
import type { Config } from "../platform/settings/config.ts";
import { asUnavailable, createPool } from "../platform/database/database.ts";
import { startEmbeddedPostgres } from "../platform/embedded-postgres/embedded-postgres.ts";
import { findDatabase, type FoundDatabase } from "../platform/embedded-postgres/open-database.ts";
import { createLog } from "../platform/log.ts";
import { explainStartError, StartError } from "../platform/start-error.ts";
import { BackupFileError } from "./archive.ts";
import { checkBackup, restoreBackup, secretFor } from "./restore-backup.ts";
import { writeBackup } from "./write-backup.ts";

/** Receives the lines that an embedded database prints. */
type Say = (line: string) => void;

export interface BackupResult {
  file: string;
  tables: number;
  rows: number;
  /** The file with the secret that opens the keys of the backup, if DATA_DIR created that secret. */
  secretFile?: string;
}

const besideOf = (path: string) => `${path}.app-secret`;

/** Returns the secret next to a backup, or null if there is none. */
async function readBeside(path: string): Promise<string | null> {
  return existsSync(besideOf(path)) ? (await readFile(besideOf(path), "utf8")).trim() : null;
}

/** Writes a backup. @throws BackupFileError if the file already exists */
export async function backUp(config: Config, file: string, say: Say): Promise<BackupResult> {
  const path = resolve(file);
  if (existsSync(path)) throw new BackupFileError(`${path} already exists. Choose a new file name.`);
  const dataDir = resolve(config.DATA_DIR);
  const found = await findDatabase({ databaseUrl: config.DATABASE_URL, dataDir, log: say });
  const written = await onPool(config, found, async (pool) => {
    const secret = config.APP_SECRET ?? (await findSecret(dataDir));
    // The secret comes first, because a backup without it looks complete and can't be restored.
    if (config.APP_SECRET === undefined) await writeFile(besideOf(path), `${secret}\n`, { mode: 0o600 });
    return writeBackup({ pool, secret, version: manifest.version }, path);
  });
  return {
    file: path,
    ...written,
    ...(config.APP_SECRET === undefined ? { secretFile: besideOf(path) } : {}),
  };
}

/** Restores a backup. @throws BackupFileError if the backup is incomplete or the database is not empty */
export async function restore(config: Config, file: string, say: Say): Promise<BackupResult> {
  const path = resolve(file);
  const dataDir = resolve(config.DATA_DIR);
  const checked = await checkBackup(path);
  const input = config.APP_SECRET ?? (await readBeside(path)) ?? (await readSecret(dataDir));
  const secret = secretFor(checked.about, input ?? undefined);
  const found: FoundDatabase =
    config.DATABASE_URL === undefined
      ? await startEmbeddedPostgres({ dataDir, log: say }).then(({ connection, stop }) => ({
          connection,
          close: stop,
        }))
      : { connection: { connectionString: config.DATABASE_URL }, close: async () => undefined };
  const keep = config.APP_SECRET === undefined ? () => keepIn(dataDir, secret) : async () => undefined;
  await onPool(config, found, (pool) => restoreBackup(pool, path, checked, keep));
  const rows = Object.values(checked.end.rows).reduce((sum, count) => sum + count, 0);
  return { file: path, tables: checked.about.tables.length, rows };
}

/**
 * Keeps the secret unless an interrupted restore already did. @throws BackupFileError if there is a different secret, because it may still
 * be needed
 */
async function keepIn(dataDir: string, secret: string): Promise<void> {
  const there = await readSecret(dataDir);
  if (there === null) return keepSecret(dataDir, secret);
  if (there !== secret)
    throw new BackupFileError(
      `${join(dataDir, "app-secret")} already exists and belongs to another installation. Restore into a new DATA_DIR, or move that file away.`,
    );
}

async function onPool<T>(
  config: Config,
  found: FoundDatabase,
  work: (pool: ReturnType<typeof createPool>) => Promise<T>,
): Promise<T> {
  const log = createLog({ level: "error" });
  const pool = createPool({ connection: found.connection, maxConnections: 2, log });
  try {
    return await work(pool);
  } catch (error) {
    throw explainStartError(error, config) ?? explainLoss(error);
  } finally {
    await pool.end();
    await found.close();
  }
}

/** Explains a lost connection, because PostgreSQL shuts down when the disk of its write-ahead log is full. */
function explainLoss(error: unknown): unknown {
  if (!(error instanceof Error) || asUnavailable(error) === error) return error;
  return new StartError(
    `The connection to the database was lost (${error.message}). Check its log and the free space on its disk, then try again.`,
  );
}
