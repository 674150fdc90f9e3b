// Tests that the plans of frequent statements are renewed from time to time, so that they adapt to a growing table.
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, createPool, plannedOften, type Database } from "./database.ts";
import { createLog } from "../log.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

let testDatabase: TestDatabase;
/** Uses one connection, so that the cached plans are always the same. */
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const log = createLog({ level: "silent" });
  database = createDatabase(createPool({ connection: testDatabase.connection, maxConnections: 1, log }));
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

const look = () => sql`${plannedOften} select filler from growing where id = ${7}`.execute(database);

async function stateOfLook() {
  const { rows } = await sql<{ name: string; generic: number; own: number }>`
    select name, generic_plans as generic, custom_plans as own from pg_prepared_statements
    where statement like '/*%'`.execute(database);
  const [{ name, ...made } = { name: "" }] = rows;
  const explained = await sql<{
    "QUERY PLAN": string;
  }>`explain (costs off) execute ${sql.ref(name)} (7)`.execute(database);
  return { made, plan: explained.rows[0]?.["QUERY PLAN"] };
}

test("replans a plannedOften statement after five seconds instead of on each execution", async () => {
  const nowMs = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(nowMs);
  await sql`create temporary table growing (id integer primary key, filler text)`.execute(database);
  await sql`insert into growing values (1, '')`.execute(database);
  await sql`analyze growing`.execute(database);
  for (let time = 0; time < 20; time++) await look();
  expect(await stateOfLook()).toEqual({
    made: { own: 5, generic: 15 },
    plan: expect.stringContaining("Seq Scan"),
  });

  await sql`insert into growing select n, repeat('x', 200) from generate_series(2, 5000) n`.execute(database);
  await look();
  expect((await stateOfLook()).plan).toContain("Seq Scan");
  clock.mockReturnValue(nowMs + 5_001);
  await look();
  expect((await stateOfLook()).plan).toContain("Index");
  expect((await look()).rows).toHaveLength(1);
});
