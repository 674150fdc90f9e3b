// Backup and restore as separate programs without enough space. They report it in one line and leave no partial result.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../platform/database/migrations.ts";
import { createTestDatabase } from "../platform/database/test-database.ts";
import { useTestServer } from "../testing/test-server.ts";
import { writeBackup } from "./write-backup.ts";
import { databaseUrlOf } from "../testing/database-url.ts";

const SECRET = "the secret of an installation";
const server = useTestServer({ ROLES: "api" });
let folder = "";
let whole = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postloft-room-"));
  whole = join(folder, "whole.tar.gz");
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'many' || n || '@example.com', true, '{}' from generate_series(1, 3000) n`,
    server.project.id,
  );
  const secret = SECRET;
  await writeBackup({ pool: server.pool, secret, version: "0.1.0" }, whole);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs as a separate program that may write files of a limited number of blocks. */
async function run(verb: string, file: string, pool: Pool, blocks = "unlimited") {
  const program = fileURLToPath(new URL("../backup.ts", import.meta.url));
  const command = [`ulimit -f ${blocks}; exec "$@"`, "sh", process.execPath, program, verb, file];
  const child = spawn("sh", ["-c", ...command], {
    env: {
      PATH: process.env["PATH"],
      APP_SECRET: SECRET,
      DATA_DIR: folder,
      DATABASE_URL: databaseUrlOf(pool.options),
    },
  });
  const ended = new Promise<number>((resolve) => child.on("close", resolve));
  const [err, code] = await Promise.all([text(child.stderr), ended]);
  return { code, err };
}

test.each([
  ["has no room for it", "full.tar.gz", /full\.tar\.gz\.partial cannot be written: EFBIG/],
  ["is not there", "nowhere/a.tar.gz", /nowhere\/a\.tar\.gz\.partial cannot be written: ENOENT/],
])("reports in one line and leaves no file when the target of a backup %s", async (_what, name, reported) => {
  const before = await readdir(folder);
  const { code, err } = await run("backup", join(folder, name), server.pool, "8");
  expect(err).toMatch(reported);
  expect([code, err.trim().split("\n").length]).toEqual([1, 1]);
  expect(await readdir(folder)).toEqual(before);
});

test.each([
  [
    "has no room",
    "raise sqlstate '53100'",
    /\) has no space left because its disk is full\. Free some space/,
  ],
  ["stops", "perform pg_terminate_backend(pg_backend_pid())", /^The connection to the database was lost \(/],
])(
  "reports in one line when the database %s during a restore, and the next restore succeeds",
  async (_what, act, reported) => {
    const other = await createTestDatabase();
    try {
      await migrate(other.pool);
      await other.pool.query(`
      create function fail() returns trigger language plpgsql as $$ begin ${act}; return new; end $$;
      create trigger fail before insert on contacts for each row execute function fail()`);
      const { code, err } = await run("restore", whole, other.pool);
      expect(err).toMatch(reported);
      expect([code, err.trim().split("\n").length]).toEqual([1, 1]);
      await other.pool.query("drop function fail cascade");
      expect(await run("restore", whole, other.pool)).toEqual({ code: 0, err: "" });
    } finally {
      await other.drop();
    }
  },
);
