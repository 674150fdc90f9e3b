// Creates migrated PostgreSQL databases for tests, cloned from a template in a tenth of a second.
import { randomUUID } from "node:crypto";
import { Client, type ClientConfig, type Pool, type PoolConfig } from "pg";
import { inject } from "vitest";
import { setAddressKey } from "../address-hash.ts";
import { createPool } from "./database.ts";
import { createLog } from "../log.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Over TCP. */
    postgres: { host: string; port: number; user: string; password?: string; database: string };
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
  // Copies files, because copying pages through the WAL takes twice the CPU, and PostgreSQL needs no flush before it here.
  await administer(server, `create database ${database} template ${TEMPLATE_DATABASE} strategy file_copy`);
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
      await administer(server, `drop database if exists ${database} with (force)`);
    },
  };
}

async function administer(server: ClientConfig, statement: string): Promise<void> {
  const client = new Client({ ...server, database: "postgres" });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
