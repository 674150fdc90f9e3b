// `npm run seed -- --contacts 1000000 --events 5000000`: fills a project with fake data, to test lists, filters and counts at scale.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type pg from "pg";
import { sha256 } from "../../server/src/platform/crypto.ts";
import { asUnavailable, createPool } from "../../server/src/platform/database/database.ts";
import { EmbeddedPostgresError } from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { findDatabase } from "../../server/src/platform/embedded-postgres/open-database.ts";
import { createLog } from "../../server/src/platform/log.ts";
import { migrate } from "../../server/src/platform/database/migrations.ts";
import { AppError } from "../../server/src/platform/app-error.ts";
import { seedProject, type SeedProgress } from "./seed-project.ts";
import { SYSTEM_PROJECT_ID } from "../../server/src/emails/rows/system-project.ts";

const USAGE = `npm run seed -- [--contacts 10000] [--events 50000] [--project <id> | --key <sk_…>] [--seed 1]

Adds made-up contacts and events to a project of the database of DATABASE_URL, or of the embedded one in DATA_DIR;
a server may run on it. Without --project and --key there must be exactly one project.
`;

/** An error the user can fix, printed without a stack. */
class SeedError extends Error {
  override name = "SeedError";
}

interface Options {
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

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) return say(USAGE.trimEnd());
  const opened = await findDatabase({
    databaseUrl: process.env["DATABASE_URL"] || undefined,
    dataDir: resolve(process.env["DATA_DIR"] ?? "./data"),
    log: say,
  });
  const pool = openPool(opened.connection);
  try {
    await migrate(pool);
    const projectId = await findProject(pool, options);
    const startedAtMs = performance.now();
    const { contacts, events, seed } = options;
    await seedProject(pool, { projectId, contacts, events, seed, onProgress: showProgress });
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
