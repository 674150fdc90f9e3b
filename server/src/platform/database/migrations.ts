// Brings the database to the newest shape: numbered SQL files, each in a transaction of its own, one process at a time.
import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { databaseErrorCode } from "./database.ts";
import { StartError } from "../start-error.ts";

const FOLDER = new URL("../../../migrations/", import.meta.url);
/** "postloft" as a number: whoever holds this advisory lock migrates. */
const LOCK_ID = 8_103_971;

const LOOK_MS = 100;
/** SQLSTATE of `raise exception`. */
const RAISED = "P0001";
/** How many there are, without reading them: asked as often as anybody likes. */
export async function countMigrations(): Promise<number> {
  return (await namesOfMigrations()).length;
}

async function namesOfMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
}

/** Of several that start at once all but one wait for a moment: not worth a word. */
const SAID_AFTER_TRIES = 30;
const LONGEST_WAIT_MS = 3_600_000;

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

export async function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    (await namesOfMigrations()).map(async (name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: await readFile(new URL(name, FOLDER), "utf8"),
    })),
  );
}

/**
 * Applies what is missing, in order, and returns the names it applied. A crash in between is continued at the next start.
 *
 * @param say told once when another process is at it
 * @param until the number of the last one to apply: the shape of a backup that is about to be put back
 */
export async function migrate(
  pool: pg.Pool,
  say: (line: string) => void = () => undefined,
  until = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const client = await pool.connect();
  try {
    await takeLock(client, say);
    const applied = await applyMissing(client, until);
    await client.query("select pg_advisory_unlock($1)", [LOCK_ID]);
    client.release();
    return applied;
  } catch (error) {
    // Ends the connection: its transaction and its lock go with it.
    client.release(true);
    throw error;
  }
}

/** Asks again and again: a statement that waits for the lock would run into the time limits of statements. */
async function takeLock(client: pg.PoolClient, say: (line: string) => void): Promise<void> {
  const startedMs = performance.now();
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
      LOCK_ID,
    ]);
    if (rows[0]?.taken === true) return;
    if (tries === SAID_AFTER_TRIES) say("Another process brings the database up to date: waiting for it.");
    if (performance.now() - startedMs > LONGEST_WAIT_MS)
      throw new Error("Another process has been bringing the database up to date for an hour.");
    await delay(LOOK_MS);
  }
}

async function applyMissing(client: pg.PoolClient, until: number): Promise<string[]> {
  const applied: string[] = [];
  await client.query(
    "create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
  const done = await client.query<{ version: number }>("select version from schema_migrations");
  const versions = new Set(done.rows.map((row) => row.version));
  for (const migration of await readMigrations()) {
    if (versions.has(migration.version) || migration.version > until) continue;
    await client.query("begin");
    // A migration takes the time it takes, and waits for whoever still uses a table.
    await client.query(
      "select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')",
    );
    await client.query(migration.sql).catch(asStartError);
    await client.query("insert into schema_migrations (version, name) values ($1, $2)", [
      migration.version,
      migration.name,
    ]);
    await client.query("commit");
    applied.push(migration.name);
  }
  return applied;
}

/** A migration that refuses to run says what to do by `raise exception`. @throws StartError */
function asStartError(error: unknown): never {
  if (databaseErrorCode(error) === RAISED && error instanceof Error) throw new StartError(error.message);
  throw error;
}
