// Brings the database to the newest shape: numbered SQL files, each in a transaction of its own, one process at a time.
// Before it: server/migrations/*.sql. After it: main.ts starts the roles.
import { readFile, readdir } from "node:fs/promises";
import type pg from "pg";

const FOLDER = new URL("../../migrations/", import.meta.url);
/** "postloft" as a number: whoever holds this advisory lock migrates. */
const LOCK_ID = 8_103_971;

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: await readFile(new URL(name, FOLDER), "utf8"),
    })),
  );
}

/** Applies what is missing, in order, and answers the names it applied. A crash in between is continued at the next start. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const applied: string[] = [];
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [LOCK_ID]);
    await client.query(
      "create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const done = await client.query<{ version: number }>("select version from schema_migrations");
    const versions = new Set(done.rows.map((row) => row.version));
    for (const migration of await readMigrations()) {
      if (versions.has(migration.version)) continue;
      await client.query("begin");
      await client.query("set local statement_timeout = 0");
      await client.query(migration.sql);
      await client.query("insert into schema_migrations (version, name) values ($1, $2)", [
        migration.version,
        migration.name,
      ]);
      await client.query("commit");
      applied.push(migration.name);
    }
    await client.query("select pg_advisory_unlock($1)", [LOCK_ID]);
    client.release();
  } catch (error) {
    // Ends the connection: its transaction and its lock go with it.
    client.release(true);
    throw error;
  }
  return applied;
}
