// Backup and restore: every row unchanged, completely or not at all, and never over a used database.
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, gunzipSync } from "node:zlib";
import type { Pool } from "pg";
import { extract } from "tar-stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { migrate, readMigrations } from "../platform/database/migrations.ts";
import { LAST_REPLACED, REPLACED_VERSIONS } from "../platform/database/replaced-migrations.ts";
import * as account from "@postloft/contract/account.ts";
import * as domains from "@postloft/contract/domains.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { createTestDatabase } from "../platform/database/test-database.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { useTestServer } from "../testing/test-server.ts";
import { createArchive, type Manifest } from "./archive.ts";
import { checkBackup, restoreBackup, secretFor } from "./restore-backup.ts";
import { fingerprintOf, writeBackup } from "./write-backup.ts";

const SECRET = "the secret of an installation";
const PEOPLE = 3_000;
const ODD = "tab\t, line\n, \\backslash, \\N, quote'\", äöü 漢字 🎈";

const server = useTestServer({ ROLES: "api" });
let folder = "";
let path = "";
const WAIT = { timeout: 30_000, interval: 25 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "postloft-backup-"));
  path = join(folder, "whole.tar.gz");
  const { byKey } = server.project;
  for (const email of ["ada@example.com", "bob@example.com"])
    await server.call(v1.track, byKey, { body: { email, event: "seen", data: { note: ODD, n: 1.5 } } });
  await server.call(domains.createDomain, byKey, { body: { domain: "mail.example.com" } });
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'many' || n || '@example.com', true, jsonb_build_object('text', repeat($2, 60)) from generate_series(1, ${PEOPLE}) n`,
    server.project.id,
    ODD,
  );
  // They are logged after the responses.
  await vi.waitUntil(async () => (await server.rows("select 1 from api_requests")).length === 3, WAIT);
  await writeBackup(sourceOf(server.pool), path);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const sourceOf = (pool: Pool) => ({ pool, secret: SECRET, version: "0.1.0" });

/** A digest of the rows of each table, independent of their order. */
async function digests(pool: Pool): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'rate_windows'`);
  const entries = [];
  for (const { name } of tables) {
    const columns =
      name === "installation"
        ? "to_jsonb(t) - '{hold_asked,beat,beat_at}'::text[]"
        : name === "schema_migrations"
          ? "t.name"
          : "t";
    // Emails with tokens are not as they were: a test of their own says how.
    const all = name === "emails" ? `emails where project_id <> '${SYSTEM_PROJECT_ID}'` : `"${name}"`;
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5((${columns})::text), '' order by md5((${columns})::text))), '') as digest from (select * from ${all}) t`,
    );
    entries.push([name, rows[0]?.digest ?? ""] as const);
  }
  return Object.fromEntries(entries);
}

const shapeOf = async (pool: Pool) =>
  (
    await pool.query(`
      select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace and not exists (select 1 from pg_class p where p.oid = conrelid and p.relispartition)
      order by 1, 2`)
  ).rows;

test("restores every row into a database of the same schema and holds waiting work", async () => {
  const other = await createTestDatabase();
  try {
    await restoreBackup(other.pool, path, await checkBackup(path));
    expect(await digests(other.pool)).toEqual(await digests(server.pool));
    expect(await shapeOf(other.pool)).toEqual(await shapeOf(server.pool));
    const { rows } = await other.pool.query("select hold_asked from installation");
    expect(rows).toEqual([{ holdAsked: true }]);
  } finally {
    await other.drop();
  }
});

test("a backup carries no token of an unsent email, and everything else that waits", async () => {
  const file = join(folder, "tokens.tar.gz");
  const { call, project } = server;
  const person = await server.signUp();
  await server.prove(person);
  await call(account.requestPasswordReset, {}, { body: { email: person.email } });
  const [cookie, newEmail] = [{ cookie: person.cookie }, "changed@example.com"];
  await call(account.changeEmail, cookie, { body: { currentPassword: person.password, newEmail } });
  const members = `/projects/${project.id}/members`;
  await call("POST", members, { cookie: project.owner.cookie }, { email: "invited@example.com" });
  const tokens = (await readPlatformEmails(server.pool, { subject: /^/ })).flatMap(
    ({ text }) => /\/([\w-]{43})\s/.exec(text)?.[1] ?? [],
  );
  expect(tokens.length).toBeGreaterThanOrEqual(4);
  await writeBackup(sourceOf(server.pool), file);
  const content = gunzipSync(await readFile(file)).toString("latin1");
  expect(tokens.filter((token) => content.includes(token))).toEqual([]);
  const other = await createTestDatabase();
  try {
    await restoreBackup(other.pool, file, await checkBackup(file));
    const { rows } = await other.pool.query<{ subject: string; status: string }>(
      "select subject, status from emails where project_id = $1 and to_address in ($2, $3, 'invited@example.com') order by id",
      [SYSTEM_PROJECT_ID, person.email, newEmail],
    );
    expect(rows.map(({ subject, status }) => [subject, status])).toEqual([
      ["Confirm your email address", "SKIPPED"],
      ["Reset your password", "SKIPPED"],
      ["Confirm your new email address", "SKIPPED"],
      ["Your email address is about to change", "QUEUED"],
      ["Invitation to A project", "SKIPPED"],
    ]);
  } finally {
    await other.drop();
  }
});

test("a backup is one view of the database, whatever is written meanwhile", async () => {
  const during = join(folder, "during.tar.gz");
  let goesOn = true;
  const writing = (async () => {
    for (let number = 0; goesOn; number++)
      await server.call(v1.track, server.project.byKey, {
        body: {
          email: `new${number}@example.com`,
          event: "came",
        },
      });
  })();
  await writeBackup(sourceOf(server.pool), during);
  goesOn = false;
  await writing;
  const other = await createTestDatabase();
  try {
    await restoreBackup(other.pool, during, await checkBackup(during));
    const { rows } = await other.pool.query(`
      select (select count(*) from contacts where email like 'new%') - (select count(*) from events where name = 'came') as apart`);
    expect(rows).toEqual([{ apart: 0 }]);
  } finally {
    await other.drop();
  }
});

/** A later migration that fails before the users are loaded, because their addresses are missing. */
const NEXT = {
  version: 9_000,
  name: "9000_next.sql",
  sql: "alter table users add column name text; update users set name = email; alter table users alter column name set not null",
};

test("restores a backup of an earlier version into its schema and migrates it", async () => {
  const [earlier, empty] = [await createTestDatabase(), await createTestDatabase()];
  const file = join(folder, "earlier");
  try {
    await empty.pool.query("drop schema public cascade; create schema public");
    await earlier.pool.query(
      "insert into users (id, email, password_hash) values (gen_random_uuid(), 'ada@example.com', 'x')",
    );
    await writeBackup(sourceOf(earlier.pool), file);
    const migrations = [...(await readMigrations()), NEXT];
    await restoreBackup(empty.pool, file, await checkBackup(file), undefined, migrations);
    const { rows } = await empty.pool.query<{ name: string; version: number }>(
      "select name, (select max(version) from schema_migrations) as version from users",
    );
    expect(rows).toEqual([{ name: "ada@example.com", version: NEXT.version }]);
  } finally {
    await earlier.drop();
    await empty.drop();
  }
});

test("restores a backup of the last version before 0.1.0, which had other migrations", async () => {
  const [earlier, empty] = [await createTestDatabase(), await createTestDatabase()];
  const file = join(folder, "before-releases");
  try {
    for (const { pool } of [earlier, empty])
      await pool.query("drop schema public cascade; create schema public");
    await migrate(earlier.pool, undefined, (await readMigrations()).slice(0, 1));
    await earlier.pool.query("delete from schema_migrations");
    await earlier.pool.query(
      "insert into schema_migrations (version, name) select version, version || '.sql' from unnest($1::integer[]) version",
      [REPLACED_VERSIONS],
    );
    await writeBackup(sourceOf(earlier.pool), file);
    const checked = await checkBackup(file);
    expect(checked.about.migration).toBe(LAST_REPLACED);
    await restoreBackup(empty.pool, file, checked);
    expect(await shapeOf(empty.pool)).toEqual(await shapeOf(server.pool));
    const { rows } = await empty.pool.query("select name from schema_migrations order by version");
    expect(rows).toEqual((await readMigrations()).map(({ name }) => ({ name })));
  } finally {
    await earlier.drop();
    await empty.drop();
  }
});

test("does not restore into a used database", async () => {
  const before = await digests(server.pool);
  await expect(restoreBackup(server.pool, path, await checkBackup(path))).rejects.toThrow(
    /^The database is in use/,
  );
  expect(await digests(server.pool)).toEqual(before);
});

const failToKeep = async () => {
  throw new Error("The disk is full.");
};

test("restores no rows when the secret cannot be stored", async () => {
  const other = await createTestDatabase();
  try {
    const before = await digests(other.pool);
    await expect(restoreBackup(other.pool, path, await checkBackup(path), failToKeep)).rejects.toThrow(
      "full",
    );
    expect(await digests(other.pool)).toEqual(before);
  } finally {
    await other.drop();
  }
});

test("only its owner can read a backup and its entries", async () => {
  expect((await stat(path)).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600);
  const modes = new Set<number | undefined>();
  const entries = extract();
  entries.on("entry", ({ mode }, stream, next) => {
    modes.add(mode);
    stream.on("end", next).resume();
  });
  await pipeline(createReadStream(path), createGunzip(), entries);
  expect([...modes]).toEqual([0o600]);
});

test("does not overwrite an existing file", async () => {
  const bytes = await readFile(path);
  await writeFile(`${join(folder, "taken")}.partial`, "somebody's");
  await expect(writeBackup(sourceOf(server.pool), join(folder, "taken"))).rejects.toThrow(
    /^\S+taken\.partial already exists because another backup is writing it, or one was killed\. If none is running, remove it\.$/,
  );
  expect(await readFile(`${join(folder, "taken")}.partial`, "utf8")).toBe("somebody's");
  expect(await readFile(path)).toEqual(bytes);
});

test.each([
  ["is not there", async () => join(folder, "nowhere"), "The file does not exist."],
  [
    "is something else",
    async () => damaged("else", () => Buffer.from("hello")),
    /^This is not a Postloft backup/,
  ],
  ["was cut off", async () => damaged("cut", firstHalf), /incomplete or damaged/],
  [
    "has another byte in it",
    async () =>
      damaged("byte", (bytes) => {
        const place = Math.floor(bytes.length / 2);
        return Buffer.concat([
          bytes.subarray(0, place),
          Buffer.from([(bytes[place] ?? 0) ^ 1]),
          bytes.subarray(place + 1),
        ]);
      }),
    /damaged/,
  ],
  [
    "is of a newer version",
    async () => newer(),
    /^The backup was made by a newer version \(9\.9\.9\)\. Update/,
  ],
] as const)("rejects a file that %s before touching any database", async (_what, make, reported) => {
  await expect(checkBackup(await make())).rejects.toThrow(reported);
});

const firstHalf = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

async function damaged(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, change(await readFile(path)));
  return file;
}

async function newer(): Promise<string> {
  const file = join(folder, "newer");
  const archive = createArchive(file, { ...(await aboutOf()), version: "9.9.9", migration: 9_999 });
  await archive.end({});
  return file;
}

const aboutOf = async (): Promise<Manifest> => ({
  format: "postloft-backup-1",
  version: "0.1.0",
  createdAt: new Date(0).toISOString(),
  migration: (await readMigrations()).at(-1)?.version ?? 0,
  secretFingerprint: fingerprintOf(SECRET),
  tables: [],
  sequences: [],
});

test("keeps an empty database empty when the rows are inconsistent", async () => {
  const file = join(folder, "unfit");
  const columns = ["project_id", "id", "email", "subscribed"];
  const archive = createArchive(file, { ...(await aboutOf()), tables: [{ name: "contacts", columns }] });
  const id = "01a20909-8998-70cf-8d68-57287793e691";
  await archive.add("contacts", Buffer.from(`${id}\t${id}\tada@example.com\tt\n`));
  await archive.end({ contacts: 1 });
  const other = await createTestDatabase();
  try {
    const before = [await digests(other.pool), await shapeOf(other.pool)];
    await expect(restoreBackup(other.pool, file, await checkBackup(file))).rejects.toThrow(/foreign key/);
    expect([await digests(other.pool), await shapeOf(other.pool)]).toEqual(before);
  } finally {
    await other.drop();
  }
});

test("restores keys only with the secret that encrypts them", async () => {
  const about = await aboutOf();
  expect(secretFor(about, SECRET)).toBe(SECRET);
  expect(secretFor({ ...about, secret: SECRET }, undefined)).toBe(SECRET);
  expect(() => secretFor(about, undefined)).toThrow(/^The backup does not contain the secret/);
  expect(() => secretFor({ ...about, secret: SECRET }, "another secret of theirs")).toThrow(
    /^This backup was made with a different APP_SECRET/,
  );
});
