// Vitest's global setup: one embedded PostgreSQL for the whole run, with a migrated template database that test files clone. Not started
// for a run of checks only.
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Pool } from "pg";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../server/src/platform/database/migrations.ts";
import { TEMPLATE_DATABASE } from "../server/src/platform/database/test-database.ts";
import { prepareCluster } from "./sharded/cluster.ts";

/**
 * Linux's in-memory folder, used if it has enough room. On disk, creating and dropping a database per test file takes a tenth of a run's
 * CPU.
 */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

async function folderForTests(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir(), "postloft-test-"));
}

/** Runs once per project of vitest.config.ts. The first one starts the server for all. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject();
  if ("postgres" in run.getProvidedContext()) return undefined;
  const coordinatorUrl = process.env["SHARDED_DATABASE_URL"];
  if (coordinatorUrl !== undefined) {
    const nodes = await prepareCluster(coordinatorUrl);
    const [coordinator] = nodes;
    if (coordinator === undefined) throw new Error("The cluster has no coordinator.");
    run.provide("postgres", coordinator);
    run.provide("postgresHost", coordinator.host);
    run.provide("postgresNodes", nodes);
    return undefined;
  }
  const dataDir = await folderForTests();
  const lines: string[] = [];
  const postgres = await startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line) });
  const client = new Client(postgres.superuser);
  await client.connect();
  // No data outlives the run. Crash tests use separate servers with fsync.
  await client.query("alter system set fsync = off");
  await client.query("alter system set full_page_writes = off");
  await client.query("select pg_reload_conf()");
  await client.query(`create database ${TEMPLATE_DATABASE}`);
  await client.end();
  const pool = new Pool({ ...postgres.superuser, database: TEMPLATE_DATABASE });
  await migrate(pool);
  await pool.end();
  run.provide("postgres", postgres.superuser);
  run.provide("postgresHost", postgres.connection.host);
  run.provide("postgresNodes", [postgres.superuser]);
  return async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
