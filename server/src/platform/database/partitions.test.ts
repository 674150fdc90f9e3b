// Tests that monthly partitions are created ahead of time and that a missing one rejects nothing.
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createDatabase, transaction, type Database } from "./database.ts";
import { firstIdAt, newId } from "../ids.ts";
import {
  analyzePartitioned,
  dropPartition,
  listPartitions,
  makePartitions,
  unlessBusy,
} from "./partitions.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

/** Long after the first partition of any table in the migrations. */
const AT = new Date("2040-05-31T23:59:59.999Z");
const MADE = ["events_2040_05", "events_2040_06", "events_2040_07", "events_2040_08"];

let testDatabase: TestDatabase;
let database: Database;
let contact: { projectId: string; id: string };

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  contact = { projectId: newId(), id: newId() };
  await sql`insert into projects (id, name) values (${contact.projectId}, 'Old')`.execute(database);
  await sql`insert into contacts (project_id, id, email, subscribed) values (${contact.projectId}, ${contact.id}, 'a@b.c', true)`.execute(
    database,
  );
});
afterAll(() => testDatabase.drop());

beforeEach(async () => {
  await sql`truncate events`.execute(database);
  for (const name of await madePartitions()) await transaction(database, (tx) => dropPartition(tx, name));
});

const madePartitions = async () =>
  (await listPartitions(database, "events")).flatMap(({ name }) =>
    /^events_2\d{3}_\d\d$/.test(name) ? [name] : [],
  );

/** Inserts an event at a time and returns its partition. */
async function insert(instant: string): Promise<string> {
  const { rows } = await sql<{ partition: string }>`
    insert into events (project_id, id, contact_id, name)
    values (${contact.projectId}, sent_event_id(${newId()}, ${instant}::timestamptz), ${contact.id}, 'seen')
    returning tableoid::regclass::text as partition`.execute(database);
  return rows[0]?.partition ?? "";
}

test("creates partitions for this month and the next three without a gap, once", async () => {
  expect(await makePartitions(database, "events", AT)).toEqual(MADE);
  expect(await makePartitions(database, "events", AT)).toEqual([]);
  expect(await makePartitions(database, "events", new Date("2040-06-01T00:00:00Z"))).toEqual([
    "events_2040_09",
  ]);
  const ends = (await listPartitions(database, "events")).slice(1).map(({ until }) => until);
  expect(ends).toEqual([...[6, 7, 8, 9, 10].map((month) => firstIdAt(Date.UTC(2040, month - 1))), null]);
  const placed = [
    "2040-05-01T00:00:00Z",
    "2040-05-31T23:59:59.999Z",
    "2040-06-01T00:00:00Z",
    "2040-09-30T23:59:59Z",
  ];
  const partitions = [];
  for (const instant of placed) partitions.push(await insert(instant));
  expect(partitions).toEqual(["events_2040_05", "events_2040_05", "events_2040_06", "events_2040_09"]);
});

test("creates each month in only one of two processes", async () => {
  const each = await Promise.all([1, 2, 3].map(() => makePartitions(database, "events", AT)));
  const made = each.flatMap((names) => names ?? []);
  expect(made).toHaveLength(new Set(made).size);
  await makePartitions(database, "events", AT);
  expect(await madePartitions()).toEqual(MADE);
});

test("stores rows of a missing month in the default partition and keeps them there", async () => {
  expect(await insert("2040-05-20T00:00:00Z")).toBe("events_later");
  expect(await insert("2063-01-01T00:00:00Z")).toBe("events_later");
  expect(await makePartitions(database, "events", AT)).toEqual(MADE.slice(1));
  expect(await insert("2040-05-21T00:00:00Z")).toBe("events_later");
  expect(await insert("2040-06-01T00:00:00Z")).toBe("events_2040_06");
  expect((await sql`select 1 from events`.execute(database)).rows).toHaveLength(4);
});

test("gives up and retries while a long query reads the table", async () => {
  await makePartitions(database, "events", AT);
  await transaction(database, async (reading) => {
    await sql`select count(*) from events`.execute(reading);
    expect(await makePartitions(database, "events", new Date("2040-07-01T00:00:00Z"))).toBeNull();
    const drop = () => transaction(database, (tx) => dropPartition(tx, "events_2040_05"));
    expect(await unlessBusy(drop)).toBe("busy");
    // No other statement waits behind a blocked one.
    expect(await insert("2040-05-21T00:00:00Z")).toBe("events_2040_05");
  });
  expect(await makePartitions(database, "events", new Date("2040-07-01T00:00:00Z"))).toEqual([
    "events_2040_09",
    "events_2040_10",
  ]);
});

test("analyzes the whole table, and again only after it has changed", async () => {
  await analyzePartitioned(database, "events");
  expect(await analyzePartitioned(database, "events")).toBe(false);
  await sql`insert into events (project_id, id, contact_id, name)
    select ${contact.projectId}, new_id(), ${contact.id}, 'seen' from generate_series(1, 2000)`.execute(
    database,
  );
  await sql`analyze events`.execute(database);
  await sql`truncate events`.execute(database);
  await sql`insert into events (project_id, id, contact_id, name)
    select ${contact.projectId}, new_id(), ${contact.id}, 'seen' from generate_series(1, 5000)`.execute(
    database,
  );
  const { rows } = await sql<{ name: string }>`
    select tableoid::regclass::text as name from events limit 1`.execute(database);
  await sql`analyze ${sql.table(rows[0]?.name ?? "")}`.execute(database);
  expect(await analyzePartitioned(database, "events")).toBe(true);
  expect(await analyzePartitioned(database, "events")).toBe(false);
});
