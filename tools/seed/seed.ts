// `npm run seed`: fills an empty project with a lively history of 90 days. With `--contacts 1000000 --events 5000000` it adds that many to any
// project instead, to test lists, filters and counts at scale.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type pg from "pg";
import { createApiClient } from "../../e2e/api-client.ts";
import { startPostloft } from "../../server/src/main.ts";
import { createSealer, sha256 } from "../../server/src/platform/crypto.ts";
import { findSecret } from "../../server/src/platform/settings/application-secret.ts";
import { readConfig } from "../../server/src/platform/settings/config.ts";
import { databaseUrlOf } from "../../server/src/testing/database-url.ts";
import { fillLively } from "./lively/lively-project.ts";
import { asUnavailable, createDatabase, createPool } from "../../server/src/platform/database/database.ts";
import { EmbeddedPostgresError } from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { findDatabase } from "../../server/src/platform/embedded-postgres/open-database.ts";
import { createLog } from "../../server/src/platform/log.ts";
import { migrate } from "../../server/src/platform/database/migrations.ts";
import { AppError } from "../../server/src/platform/app-error.ts";
import { seedProject, type SeedProgress } from "./seed-project.ts";
import { SYSTEM_PROJECT_ID } from "../../server/src/emails/rows/system-project.ts";

const USAGE = `npm run seed -- [--project <id> | --key <sk_…>] [--seed 1] [--contacts 10000] [--events 50000]

Fills an empty project with 90 days that never happened: contacts, campaigns, workflows, opens, clicks and bounces. With --contacts or
--events it adds made-up contacts and events to any project instead. No address is real, and nothing is sent.
Works in the database of DATABASE_URL (with APP_SECRET), or in the embedded one in DATA_DIR; a server may run on it. Without --project
and --key there must be exactly one project.
`;

const DATA_DIR = resolve(process.env["DATA_DIR"] ?? "./data");

/** An error the user can fix, printed without a stack. */
class SeedError extends Error {
  override name = "SeedError";
}

interface Options {
  /** Whether to add contacts and events instead of a history. */
  isBulk: boolean;
  contacts: number;
  events: number;
  seed: number;
  project: string | undefined;
  key: string | undefined;
}

/** Returns null if only the usage is requested. */
function readOptions(): Options | null {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      contacts: text,
      events: text,
      seed: text,
      project: text,
      key: text,
      help: { type: "boolean" },
    },
  });
  if (values.help === true) return null;
  const whole = (name: "contacts" | "events" | "seed", fallback: number) => {
    const number = Number(values[name] ?? fallback);
    if (!Number.isSafeInteger(number) || number < 0)
      throw new SeedError(`--${name} must be a whole number, at least 0.`);
    return number;
  };
  return {
    isBulk: values.contacts !== undefined || values.events !== undefined,
    contacts: whole("contacts", 10_000),
    events: whole("events", 50_000),
    seed: whole("seed", 1),
    project: values.project,
    key: values.key,
  };
}

function openPool(connection: pg.PoolConfig): pg.Pool {
  return createPool({ connection, maxConnections: 2, log: createLog({ level: "error" }) });
}

async function findProject(pool: pg.Pool, { project, key }: Options): Promise<string> {
  const { rows } =
    key === undefined
      ? await pool.query<{ id: string; name: string }>(
          "select id, name from projects where id <> $2 and ($1::text is null or id::text = $1) order by id limit 20",
          [project?.toLowerCase() ?? null, SYSTEM_PROJECT_ID],
        )
      : await pool.query<{ id: string; name: string }>(
          "select p.id, p.name from api_keys k join projects p on p.id = k.project_id where k.hash = $1",
          [sha256(key)],
        );
  const [only, ...others] = rows;
  if (only === undefined)
    throw new SeedError(
      key === undefined && project === undefined
        ? "There is no project yet. Start the server and create one first."
        : "There is no such project in this database.",
    );
  if (others.length > 0)
    throw new SeedError(
      `Say which project with --project <id>:\n${rows.map(({ id, name }) => `  ${id}  ${name}`).join("\n")}`,
    );
  return only.id;
}

const BAR_LENGTH = 30;

function showProgress({ table, done, total }: SeedProgress): void {
  const part = done / total;
  const filled = Math.round(part * BAR_LENGTH);
  const bar = `${"█".repeat(filled)}${"░".repeat(BAR_LENGTH - filled)}`;
  const line = `${table.padEnd(8)} ${bar} ${Math.floor(part * 100)} %  ${done.toLocaleString("en-US")}`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === total ? "\n" : ""}`);
  else if (done === total) say(line);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Fills the project with a history. The API of a process of its own creates what can be created now, because no server needs to run. This
 * process sends nothing, as it has no role but `api`.
 */
async function makeLively(
  pool: pg.Pool,
  connection: pg.PoolConfig,
  projectId: string,
  seed: number,
): Promise<void> {
  const secret = process.env["APP_SECRET"] ?? (await findSecret(DATA_DIR));
  const { rows } = await pool.query<{ sealed: Buffer }>(
    "select sealed from api_keys where project_id = $1 and kind = 'secret'",
    [projectId],
  );
  const key = createSealer(secret).open(rows[0]?.sealed ?? Buffer.alloc(0), projectId);
  const folder = await mkdtemp(join(tmpdir(), "postloft-seed-"));
  const settings = {
    ROLES: "api",
    PORT: "0",
    STATUS_PORT: "0",
    API_RATE_LIMIT_PER_MINUTE: "0",
    DATA_DIR: folder,
  };
  const config = readConfig({ ...settings, APP_SECRET: secret, DATABASE_URL: connectionUrl(connection) });
  const running = await startPostloft(config, createLog({ level: "error" }), () => undefined);
  try {
    const api = createApiClient(running.url ?? "", { authorization: `Bearer ${key}` });
    if ((await fillLively({ database: createDatabase(pool), api, projectId, seed })) === null)
      throw new SeedError(
        "The project is not empty. Create another one in the dashboard and name it with --project <id>, or add contacts with --contacts.",
      );
  } finally {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const connectionUrl = (connection: pg.PoolConfig) => connection.connectionString ?? databaseUrlOf(connection);

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) return say(USAGE.trimEnd());
  const opened = await findDatabase({
    databaseUrl: process.env["DATABASE_URL"] || undefined,
    dataDir: DATA_DIR,
    log: say,
  });
  const pool = openPool(opened.connection);
  try {
    await migrate(pool);
    const projectId = await findProject(pool, options);
    const startedAtMs = performance.now();
    const { isBulk, contacts, events, seed } = options;
    if (isBulk) await seedProject(pool, { projectId, contacts, events, seed, onProgress: showProgress });
    else await makeLively(pool, opened.connection, projectId, seed);
    say(`Project ${projectId} was filled in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s.`);
  } finally {
    await pool.end();
    await opened.close();
  }
}

/** Returns one sentence for errors a user can fix, otherwise the stack. */
function explain(error: unknown): string {
  const code = String((error as { code?: unknown }).code);
  if (code.startsWith("ERR_PARSE_ARGS") && error instanceof Error)
    return `${error.message}\n\n${USAGE.trimEnd()}`;
  const isExpected = error instanceof SeedError || error instanceof EmbeddedPostgresError;
  if (isExpected) return error.message;
  if (asUnavailable(error) instanceof AppError) return `The database cannot be reached: ${code}.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});
