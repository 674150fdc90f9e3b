// Upgrade of `events` to monthly partitions (migrations 0085 to 0087), which keeps every event without rewriting the old table.
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { migrate } from "../platform/database/migrations.ts";
import { createDatabaseBefore, type TestDatabase } from "../platform/database/test-database.ts";

const UPGRADE = 85;
const CONTACTS = 20;
const EVENTS = 3_000;

let old: TestDatabase;
const projectId = newId();

const rowsOf = async <Row>(statement: string, ...values: unknown[]): Promise<Row[]> =>
  (await old.pool.query(statement, values)).rows as Row[];

beforeAll(async () => {
  old = await createDatabaseBefore(UPGRADE);
  await rowsOf("insert into projects (id, name) values ($1, 'Old')", projectId);
  await rowsOf(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), n || '@example.com', true from generate_series(1, $2::integer) n`,
    projectId,
    CONTACTS,
  );
  // Some events come from a clock that was far ahead.
  await rowsOf(
    `insert into events (project_id, id, contact_id, name, data, email_id, created_at)
     select $1, sent_event_id(gen_random_uuid(), at), id, 'e' || n % 7, jsonb_build_object('n', n), case when n % 5 = 0 then new_id() end, at
     from (
       select n, case when n % 1000 = 0 then now() + interval '9 years' else now() - n * interval '2 hours' end as at,
         (select array_agg(id) from contacts) as ids from generate_series(1, $2::integer) n
     ) made, lateral (select ids[1 + n % $3] as id) c`,
    projectId,
    EVENTS,
    CONTACTS,
  );
});
afterAll(() => old.drop());

const DIGEST =
  "select count(*)::integer as count, md5(string_agg((to_jsonb(e) - 'from_public_key')::text, ' ' order by e.id)) as digest from events e";

test("the old table with its files becomes the partition of all existing events", async () => {
  const before = await rowsOf(DIGEST);
  const files = await rowsOf<{ file: string }>(
    `select relfilenode as file from pg_class where relname ~ '^events(_pkey|_by_.*)?$' order by relname`,
  );
  await migrate(old.pool);
  expect(await rowsOf(DIGEST)).toEqual(before);
  expect(before).toMatchObject([{ count: EVENTS }]);
  expect(
    await rowsOf(
      `select relfilenode as file from pg_class where relname ~ '^events_to_\\d{4}_\\d\\d(_pkey|_by_.*)?$' order by relname`,
    ),
  ).toEqual(files);
  const partitions = await rowsOf<{ partition: string; rows: number }>(
    "select regexp_replace(tableoid::regclass::text, '\\d', '0', 'g') as partition, count(*)::integer as rows from events group by 1 order by 1",
  );
  expect(partitions).toEqual([
    { partition: "events_later", rows: EVENTS / 1000 },
    { partition: "events_to_0000_00", rows: EVENTS - EVENTS / 1000 },
  ]);
  // Each partition has all indexes and the foreign key, and no temporary constraint remains.
  expect(
    await rowsOf(
      `select distinct (select count(*)::integer from pg_index x join pg_inherits h on h.inhrelid = x.indexrelid where x.indrelid = i.inhrelid) as indexes,
         (select array_agg(f.contype order by f.contype) from pg_constraint f where f.conrelid = i.inhrelid and f.contype <> 'n') as constraints
       from pg_inherits i where i.inhparent = 'events'::regclass`,
    ),
  ).toEqual([{ indexes: 4, constraints: "{f,p}" }]);
});

test("new events have a partition, and deleting a contact still deletes its events", async () => {
  const [contact] = await rowsOf<{ id: string }>("select id from contacts limit 1");
  await rowsOf(
    "insert into events (project_id, id, contact_id, name) values ($1, new_id(), $2, 'new'), ($1, sent_event_id(new_id(), now() + interval '1 year'), $2, 'new')",
    projectId,
    contact?.id,
  );
  const count = async () =>
    (
      await rowsOf<{ count: number }>(
        "select count(*)::integer as count from events where contact_id = $1",
        contact?.id,
      )
    )[0]?.count;
  expect(await count()).toBe(EVENTS / CONTACTS + 2);
  await rowsOf("delete from contacts where id = $1", contact?.id);
  expect(await count()).toBe(0);
  await expect(
    rowsOf(
      "insert into events (project_id, id, contact_id, name) values ($1, new_id(), $2, 'x')",
      projectId,
      newId(),
    ),
  ).rejects.toThrow("events_project_id_contact_id_fkey");
});
