// `npm run generate` writes the files that are generated from the contract, the settings and the migrations. With `--check` it only reports them.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Pool } from "pg";
import { startEmbeddedPostgres } from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../server/src/platform/database/migrations.ts";
import { COMMAND, generatedPages, generatedSchema, ROOT, staleFiles } from "./generated-files.ts";

const USAGE = `${COMMAND} [-- --check]

Writes the files that are generated from the contract, the settings and the migrations: openapi.json, schema.sql, rows.ts, endpoints.ts and pages
of docs/.
With --check it writes nothing and exits with code 1 when one of them is out of date. It starts a PostgreSQL of its own for the tables.
`;

/** Returns every file, with the tables of a database that exists only for this call. */
async function generate(): Promise<ReadonlyMap<string, string>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "postloft-generate-"));
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    try {
      const pool = new Pool({ ...postgres.connection, max: 1 });
      await migrate(pool).finally(() => pool.end());
      return new Map([...(await generatedSchema(postgres.connection)), ...(await generatedPages())]);
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function write(files: ReadonlyMap<string, string>, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const file = path.join(ROOT, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, files.get(name) ?? "");
    process.stdout.write(`written: ${name}\n`);
  }
  if (names.length === 0) process.stdout.write("Every generated file is current.\n");
}

async function main(options: readonly string[]): Promise<number> {
  if (options.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const unknown = options.filter((option) => option !== "--check");
  if (unknown.length > 0) {
    process.stderr.write(`Unknown option: ${unknown.join(" ")}.\n\n${USAGE}`);
    return 2;
  }
  const files = await generate();
  const stale = await staleFiles(files, ROOT);
  if (!options.includes("--check")) {
    await write(files, stale);
    return 0;
  }
  for (const name of stale) process.stderr.write(`out of date: ${name}\n`);
  if (stale.length > 0) process.stderr.write(`Run \`${COMMAND}\` and commit the result.\n`);
  return stale.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
