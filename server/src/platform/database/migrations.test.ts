// Tests that migrations are applied once and in order, and that databases from before release 0.1.0 are adopted or rejected.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StartError } from "../start-error.ts";
import { migrate, readMigrations, type Migration } from "./migrations.ts";
import { REPLACED_VERSIONS } from "./replaced-migrations.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const FIRST = { version: 1, name: "0001_first.sql", sql: "create table pets (name text)" };
const SECOND = { version: 2, name: "0002_second.sql", sql: "insert into pets values ('Rex')" };
const ASKING = {
  version: 3,
  name: "0003_asking.sql",
  sql: "insert into pets values ('Ada'); do $$ begin raise exception 'Rename Rex first.'; end $$",
};

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());
beforeEach(() => testDatabase.pool.query("drop schema public cascade; create schema public"));

const apply = (...migrations: Migration[]) => migrate(testDatabase.pool, undefined, migrations);

async function readAll(): Promise<{ recorded: string[]; pets: string[] }> {
  const { rows } = await testDatabase.pool.query<{ name: string }>(
    "select name from schema_migrations order by version",
  );
  const pets = await testDatabase.pool.query<{ name: string }>("select name from pets order by name");
  return { recorded: rows.map(({ name }) => name), pets: pets.rows.map(({ name }) => name) };
}

/** Records migrations as versions before 0.1.0 did. */
async function recordOld(versions: readonly number[]): Promise<void> {
  await testDatabase.pool.query(
    "insert into schema_migrations (version, name) select version, case version when 1 then '0001_core.sql' else version || '.sql' end from unnest($1::integer[]) version",
    [versions],
  );
}

test("applies each migration once and in order, even if several processes start together", async () => {
  const both = await Promise.all([apply(FIRST, SECOND), apply(FIRST, SECOND)]);
  expect(both.toSorted((one, other) => other.length - one.length)).toEqual([[FIRST.name, SECOND.name], []]);
  expect(await readAll()).toEqual({ recorded: [FIRST.name, SECOND.name], pets: ["Rex"] });
});

test("keeps the complete migrations and shows the exception when one raises it", async () => {
  const failure = await apply(FIRST, SECOND, ASKING).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  expect((failure as StartError).message).toBe("Rename Rex first.");
  expect(await readAll()).toEqual({ recorded: [FIRST.name, SECOND.name], pets: ["Rex"] });
  expect(await apply(FIRST, SECOND, { ...ASKING, sql: "delete from pets" })).toEqual([ASKING.name]);
});

test("adopts a database of the last version before 0.1.0 and then applies later migrations", async () => {
  const [initial] = await readMigrations();
  if (initial === undefined) throw new Error("There is no migration.");
  await apply(FIRST);
  await testDatabase.pool.query("delete from schema_migrations");
  await recordOld(REPLACED_VERSIONS);
  // The tables exist, so applying the first migration again would fail.
  const migrations = [{ ...initial, sql: FIRST.sql }, SECOND];
  expect(await apply(...migrations)).toEqual([SECOND.name]);
  expect(await readAll()).toEqual({ recorded: [initial.name, SECOND.name], pets: ["Rex"] });
  expect(await apply(...migrations)).toEqual([]);
});

test("rejects an older database from before 0.1.0 without changing it", async () => {
  await apply(FIRST);
  await testDatabase.pool.query("delete from schema_migrations");
  await recordOld(REPLACED_VERSIONS.slice(0, -1));
  const before = await readAll();
  const failure = await migrate(testDatabase.pool).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  expect((failure as StartError).message).toMatch(
    /^The database has the migration 0001_core\.sql, and this version has 0001_initial\.sql instead\..*docs\/upgrading\.md/,
  );
  expect(await readAll()).toEqual(before);
});
