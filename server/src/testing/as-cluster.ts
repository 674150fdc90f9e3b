// Runs functions with the statements of a cluster, which one PostgreSQL accepts too.
import type { Pool } from "pg";
import { treatAsCluster } from "../platform/database/cluster.ts";
import { createDatabase, createPool, type Database } from "../platform/database/database.ts";
import { createLog } from "../platform/log.ts";

/** Calls `work` with the database of a pool as if it were a cluster. Uses a connection of its own, because prepared statements belong to one. */
export async function asCluster<T>(pool: Pool, work: (database: Database) => Promise<T>): Promise<T> {
  const { host, port, user, password, database: name } = pool.options;
  const connection = { host, port, user, password, database: name };
  const own = createPool({ connection, maxConnections: 1, log: createLog({ level: "silent" }) });
  try {
    const database = createDatabase(own);
    treatAsCluster(database);
    return await work(database);
  } finally {
    await own.end();
  }
}
