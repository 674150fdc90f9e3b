// Migrates the database with numbered SQL files, each in its own transaction, one process at a time.
import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { databaseErrorCode } from "./database.ts";
import { areAllReplaced } from "./replaced-migrations.ts";
import { StartError } from "../start-error.ts";

const FOLDER = new URL("../../../migrations/", import.meta.url);
/** "postloft" as a number: whoever holds this advisory lock migrates. */
const LOCK_ID = 8_103_971;

const POLL_MS = 100;
/** SQLSTATE of `raise exception`. */
const RAISED = "P0001";
/** Returns the number of migrations without reading them, so it is cheap to call. */
export async function countMigrations(): Promise<number> {
  return (await namesOfMigrations()).length;
}

async function namesOfMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
}

/** When several processes start together, all but one wait briefly, which is not worth a message. */
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
 * Applies the missing migrations in order and returns their names. After a crash the next start continues.
 * @param say called once if another process is migrating
 * @param migrations all known migrations; fewer to create the tables of an earlier version
 * @throws StartError if the database has other migrations under the same numbers, or if a migration raises an exception
 */
export async function migrate(
  pool: pg.Pool,
  say: (line: string) => void = () => undefined,
  migrations?: readonly Migration[],
): Promise<string[]> {
  const known = migrations ?? (await readMigrations());
  const client = await pool.connect();
  try {
    await takeLock(client, say);
    const applied = await applyMissing(client, known);
    await client.query("select pg_advisory_unlock($1)", [LOCK_ID]);
    client.release();
    return applied;
  } catch (error) {
    // Closes the connection, which ends its transaction and releases the lock.
    client.release(true);
    throw error;
  }
}

/** Polls for the lock, because a statement that waits for it would exceed the statement timeout. */
async function takeLock(client: pg.PoolClient, say: (line: string) => void): Promise<void> {
  const startedMs = performance.now();
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
      LOCK_ID,
    ]);
    if (rows[0]?.taken === true) return;
    if (tries === SAID_AFTER_TRIES) say("Another process is migrating the database. Waiting for it.");
    if (performance.now() - startedMs > LONGEST_WAIT_MS)
      throw new Error("Another process has been migrating the database for an hour.");
    await delay(POLL_MS);
  }
}

async function applyMissing(client: pg.PoolClient, migrations: readonly Migration[]): Promise<string[]> {
  const applied: string[] = [];
  await client.query(
    "create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
  const done = await readApplied(client, migrations);
  for (const migration of migrations) {
    if (done.has(migration.version)) continue;
    await client.query("begin");
    // A migration may take any time and waits for all users of a table.
    await client.query(
      "select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')",
    );
    await client.query(migration.sql).catch(asStartError);
    await recordMigration(client, migration);
    await client.query("commit");
    applied.push(migration.name);
  }
  return applied;
}

/**
 * Returns the numbers of the applied migrations. Records the first one instead of those that it replaced.
 * @throws StartError if the database has another migration under one of the numbers
 */
async function readApplied(
  client: pg.PoolClient,
  migrations: readonly Migration[],
): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ version: number; name: string }>(
    "select version, name from schema_migrations order by version",
  );
  const [initial] = migrations;
  if (initial !== undefined && areAllReplaced(rows.map(({ version }) => version))) {
    await client.query("begin");
    await client.query("delete from schema_migrations");
    await recordMigration(client, initial);
    await client.query("commit");
    return new Set([initial.version]);
  }
  const names = new Map(rows.map(({ version, name }) => [version, name]));
  for (const { version, name } of migrations) {
    const other = names.get(version) ?? name;
    if (other !== name)
      throw new StartError(
        `The database has the migration ${other}, and this version has ${name} instead. If the database is from before 0.1.0, start the last version before 0.1.0 once, and then this one (docs/upgrading.md). Nothing was changed.`,
      );
  }
  return new Set(names.keys());
}

async function recordMigration(client: pg.PoolClient, { version, name }: Migration): Promise<void> {
  await client.query("insert into schema_migrations (version, name) values ($1, $2)", [version, name]);
}

/** Converts the `raise exception` of a migration, which says what to do. @throws StartError */
function asStartError(error: unknown): never {
  if (databaseErrorCode(error) === RAISED && error instanceof Error) throw new StartError(error.message);
  throw error;
}
