// Starts the measured servers: the real one, the naive one, and one without a database, each in its own process and on its own database.
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readConfig } from "../server/src/platform/settings/config.ts";
import { createSealer } from "../server/src/platform/crypto.ts";
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { startEmbeddedPostgres } from "../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { createLog } from "../server/src/platform/log.ts";
import { migrate } from "../server/src/platform/database/migrations.ts";
import { bootstrap } from "../server/src/instance/bootstrap.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram } from "../e2e/program.ts";
import { ADDRESSES, NUMBER_DIGITS } from "./request.ts";
import type { RivalSpec } from "./rival-server.ts";
import { SYSTEM_PROJECT_ID } from "../server/src/emails/rows/system-project.ts";
import { databaseUrlOf } from "../server/src/testing/database-url.ts";

export interface BenchServer {
  port: number;
  stop(): Promise<void>;
}

const RIVAL = fileURLToPath(new URL("rival-server.ts", import.meta.url));
export const APP_SECRET = "one secret for this benchmark only";

export type BenchDatabase = Awaited<ReturnType<typeof startDatabase>>;

/**
 * Starts the embedded PostgreSQL with the server's durable settings (synchronous_commit=on) on a temporary folder, migrated, with one
 * project and a contact for every address used.
 */
export async function startDatabase() {
  const folder = await makeDataFolder();
  const postgres = await startEmbeddedPostgres({ dataDir: folder.path, log: () => {} });
  // The superuser, because the measurement starts with a checkpoint, over the socket that installations use.
  const connection = { ...postgres.superuser, host: postgres.connection.host };
  const pool = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  await migrate(pool);
  await bootstrap(createDatabase(pool), createSealer(APP_SECRET), readConfig(BOOTSTRAP));
  await pool.query(
    `insert into contacts (project_id, id, email, subscribed, data)
     select p.id, uuidv7(), 'person-' || lpad(n::text, ${NUMBER_DIGITS}, '0') || '@example.com', true,
       '{"plan": "pro", "order": 1000000, "total": 129.5}'
     from projects p, generate_series(0, ${ADDRESSES - 1}) n where p.id <> '${SYSTEM_PROJECT_ID}'`,
  );
  await pool.query("vacuum (analyze) contacts");
  await pool.query("checkpoint");
  await pool.end();
  return {
    connection,
    async stop() {
      await postgres.stop();
      await folder.remove();
    },
  };
}

/** Returns the settings that run the real program on this database. */
export function settingsOf({ connection }: BenchDatabase) {
  return { DATABASE_URL: databaseUrlOf(connection), APP_SECRET };
}

/** Starts the real program on this database. */
export async function startOurs(
  database: BenchDatabase,
  settings: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): Promise<BenchServer> {
  const program = await startProgram({ ...BOOTSTRAP, ...settingsOf(database), ...settings }, nodeArguments);
  return {
    port: Number(new URL(program.url).port),
    async stop() {
      await program.stop();
    },
  };
}

/** Starts the naive server with or without prepared statements, or without a database the one that only validates and responds. */
export async function startRival(database: BenchDatabase | null, prepared = false): Promise<BenchServer> {
  const spec: RivalSpec = { connection: database?.connection ?? null, key: SECRET_KEY, prepared };
  return startProcess(RIVAL, spec);
}

/** Starts a server in a process that receives `spec` and replies with its port. */
export async function startProcess(script: string, spec: object): Promise<BenchServer> {
  const child = fork(script, { serialization: "advanced" });
  const port = await portOf(child, spec);
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.disconnect();
      }),
  };
}

function portOf(child: ChildProcess, spec: object): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) =>
      reject(new Error(`a server exited with code ${code} before it was listening`)),
    );
    child.once("error", reject);
    child.send(spec);
  });
}
