// Months of a table are made ahead of time, by whoever comes first, and nothing is ever refused because one is missing.
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

/** Long after the first partition of any table that a migration made. */
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

/** An event of an instant; returns the partition it is in. */
async function insert(instant: string): Promise<string> {
  const { rows } = await sql<{ partition: string }>`
    insert into events (project_id, id, contact_id, name)
    values (${contact.projectId}, sent_event_id(${newId()}, ${instant}::timestamptz), ${contact.id}, 'seen')
    returning tableoid::regclass::text as partition`.execute(database);
  return rows[0]?.partition ?? "";
}

test("this month and the next three have partitions without a gap; made once, they stay", async () => {
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

test("of two processes each month is made by one", async () => {
  const each = await Promise.all([1, 2, 3].map(() => makePartitions(database, "events", AT)));
  const made = each.flatMap((names) => names ?? []);
  expect(made).toHaveLength(new Set(made).size);
  await makePartitions(database, "events", AT);
  expect(await madePartitions()).toEqual(MADE);
});

test("a month that nobody made takes its rows all the same, and keeps them where they are when its turn has passed", async () => {
  expect(await insert("2040-05-20T00:00:00Z")).toBe("events_later");
  expect(await insert("2063-01-01T00:00:00Z")).toBe("events_later");
  expect(await makePartitions(database, "events", AT)).toEqual(MADE.slice(1));
  expect(await insert("2040-05-21T00:00:00Z")).toBe("events_later");
  expect(await insert("2040-06-01T00:00:00Z")).toBe("events_2040_06");
  expect((await sql`select 1 from events`.execute(database)).rows).toHaveLength(4);
});

test("who reads the table for long is not waited for: it is tried again", async () => {
  await makePartitions(database, "events", AT);
  await transaction(database, async (reading) => {
    await sql`select count(*) from events`.execute(reading);
    expect(await makePartitions(database, "events", new Date("2040-07-01T00:00:00Z"))).toBeNull();
    const drop = () => transaction(database, (tx) => dropPartition(tx, "events_2040_05"));
    expect(await unlessBusy(drop)).toBe("busy");
    // Nobody stands behind one who waits.
    expect(await insert("2040-05-21T00:00:00Z")).toBe("events_2040_05");
  });
  expect(await makePartitions(database, "events", new Date("2040-07-01T00:00:00Z"))).toEqual([
    "events_2040_09",
    "events_2040_10",
  ]);
});

test("PostgreSQL is told what is in the whole table, again when that has changed", async () => {
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
