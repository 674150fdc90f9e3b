// `node tools/generate/generate.ts` writes the generated files; with `--check` it changes nothing and exits 1 when one is out of date.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Pool } from "pg";
import { startEmbeddedPostgres } from "../../server/src/platform/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../server/src/platform/database/migrations.ts";
import { COMMAND, generatedFiles, ROOT, staleFiles } from "./generated-files.ts";

/** Makes every file from a database that is started for it and thrown away. */
async function generate(): Promise<ReadonlyMap<string, string>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "postloft-generate-"));
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    try {
      const pool = new Pool({ ...postgres.connection, max: 1 });
      await migrate(pool).finally(() => pool.end());
      return await generatedFiles(postgres.connection);
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
  const unknown = options.filter((option) => option !== "--check");
  if (unknown.length > 0) {
    process.stderr.write(`Unknown: ${unknown.join(" ")}. Usage: ${COMMAND} [--check]\n`);
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
