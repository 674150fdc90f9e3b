// Finds the database for a program next to the server: an external one, the running embedded one, or the embedded one started for it.
import { readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientConfig, type PoolConfig } from "pg";
import { databaseErrorCode } from "../database/database.ts";
import { asApplication } from "./application-role.ts";
import { hasCluster, readPassword, SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { readPostmasterFile } from "./leftovers.ts";
import { HOST } from "./postmaster.ts";

export interface FoundDatabase {
  connection: PoolConfig;
  close(): Promise<void>;
}

/** Returns the database. @throws EmbeddedPostgresError if the data folder has none or it cannot be started */
export async function findDatabase(options: {
  databaseUrl: string | undefined;
  dataDir: string;
  log: (message: string) => void;
}): Promise<FoundDatabase> {
  const { databaseUrl, dataDir, log } = options;
  if (databaseUrl !== undefined)
    return { connection: { connectionString: databaseUrl }, close: async () => {} };
  const place = join(dataDir, "postgres");
  if (!(await hasCluster(place)))
    throw new EmbeddedPostgresError(
      `There is no database in ${dataDir} yet. Start the server first, or set DATABASE_URL.`,
    );
  const running = await findRunning(await realpath(place));
  if (running !== null) return { connection: running, close: async () => {} };
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  return { connection: postgres.connection, close: () => postgres.stop() };
}

async function findRunning(clusterDir: string): Promise<PoolConfig | null> {
  if (!readPostmasterFile(clusterDir).isReady) return null;
  const port = Number(readFileSync(join(clusterDir, "postmaster.pid"), "utf8").split("\n")[3]);
  const password = await readPassword(clusterDir);
  const connection = asApplication({ host: HOST, port, user: SUPERUSER, password, database: "postgres" });
  return (await responses(connection)) ? connection : null;
}

/** Returns whether PostgreSQL responds, because a killed one leaves its lock file. */
async function responses(connection: ClientConfig): Promise<boolean> {
  const client = new Client(connection);
  client.on("error", () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (databaseErrorCode(error) === "ECONNREFUSED") return false;
    throw error;
  } finally {
    await client.end();
  }
}
