// Tests that rows have camelCase keys regardless of how they were queried, while JSON inside them keeps its keys.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toCamelCase, toSnakeCase } from "./column-names.ts";
import { createDatabase, type Database } from "./database.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
});

afterAll(async () => {
  await testDatabase.drop();
});

test("renames the columns of a statement on each run and leaves the keys of JSON alone", async () => {
  const document = '{"a_key": [{"another_key": 1}]}';
  const ask = () =>
    sql`select 1 as one_number, null as no_one, 'x' as plain, ${document}::jsonb as some_json`.execute(
      database,
    );
  const row = { oneNumber: 1, noOne: null, plain: "x", someJson: JSON.parse(document) as unknown };
  expect((await ask()).rows).toEqual([row]);
  expect((await ask()).rows).toEqual([row]);
});

test("renames the columns of raw queries and of several statements in one text", async () => {
  expect((await testDatabase.pool.query("select 1 as one_number")).rows).toEqual([{ oneNumber: 1 }]);
  const results: unknown = await testDatabase.pool.query("select 1 as one_number; select 2 as other_number");
  expect(results).toMatchObject([{ rows: [{ oneNumber: 1 }] }, { rows: [{ otherNumber: 2 }] }]);
});

test("converts camelCase names of the query builder and sql.ref to the column names", async () => {
  const hash = Buffer.alloc(32, 1);
  await sql`insert into users (id, email) values (new_id(), 'ada@example.com')`.execute(database);
  const user = await database.selectFrom("users").select("id").executeTakeFirstOrThrow();
  await database
    .insertInto("account_tokens")
    .values({ hash, userId: user.id, purpose: "RESET", email: "ada@example.com", expiresAt: new Date(0) })
    .execute();
  const found = await database
    .selectFrom("account_tokens as t")
    .innerJoin("users as u", "u.id", "t.userId")
    .select(["t.expiresAt", "u.email as sentTo"])
    .where("t.userId", "=", user.id)
    .executeTakeFirst();
  expect(found).toEqual({ expiresAt: new Date(0), sentTo: "ada@example.com" });
  const { rows } = await sql`
    select ${sql.ref("t.userId")} as ${sql.id("whoseItIs")} from account_tokens t order by ${sql.ref("t.expires_at")}`.execute(
    database,
  );
  expect(rows).toEqual([{ whoseItIs: user.id }]);
});

test("converts every column name to camelCase and back without loss", async () => {
  const { rows } = await testDatabase.pool.query<{ name: string }>(
    "select distinct column_name as name from information_schema.columns where table_schema = 'public'",
  );
  const names = rows.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => toSnakeCase(toCamelCase(name)) !== name)).toEqual([]);
});
