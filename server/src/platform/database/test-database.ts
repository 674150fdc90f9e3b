// Creates migrated PostgreSQL databases for tests, cloned from a template in a tenth of a second.
import { randomUUID } from "node:crypto";
import { Client, type ClientConfig, type Pool, type PoolConfig } from "pg";
import { inject } from "vitest";
import { setAddressKey } from "../address-hash.ts";
import { createPool } from "./database.ts";
import { createLog } from "../log.ts";

/** A server of a test run, over TCP. */
export interface ServerOfTests {
  host: string;
  port: number;
  user: string;
  password?: string;
  database: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    postgres: ServerOfTests;
    /** All servers of a cluster (npm run sharded), the coordinator first. Otherwise only `postgres`. */
    postgresNodes: ServerOfTests[];
    /** The folder of its socket. */
    postgresHost: string;
  }
}

/** The database that the global setup migrates, from which tests clone theirs. */
export const TEMPLATE_DATABASE = "postloft_template";
const MAX_CONNECTIONS = 10;
/** The application secret of all tests. */
export const SECRET_OF_TESTS = "a secret for tests, long enough";

export interface TestDatabase {
  pool: Pool;
  connection: PoolConfig;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  setAddressKey(SECRET_OF_TESTS);
  const server = inject("postgres");
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  const nodes = inject("postgresNodes");
  // Copies files, because copying pages through the WAL takes twice the CPU, and PostgreSQL needs no flush before it here.
  await administer(nodes, `create database ${database} template ${TEMPLATE_DATABASE} strategy file_copy`);
  // A setting of the template is not part of its clones.
  if (nodes.length > 1)
    await administer([server], `alter database ${database} set citus.all_modifications_commutative = on`);
  const connection = { ...server, database };
  const pool = createPool({
    connection: { ...connection, host: inject("postgresHost") },
    maxConnections: MAX_CONNECTIONS,
    log: createLog({ level: "silent" }),
  });
  // Tests hold transactions open until others wait for them, which takes long on a busy machine.
  pool.options.idle_in_transaction_session_timeout = 0;
  return {
    pool,
    connection,
    async drop() {
      await pool.end();
      await administer(nodes, `drop database if exists ${database} with (force)`);
    },
  };
}

async function administer(servers: readonly ClientConfig[], statement: string): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const client = new Client({ ...server, database: "postgres" });
      await client.connect();
      try {
        await client.query(statement);
      } finally {
        await client.end();
      }
    }),
  );
}
