// Tests that every queue with due email is found without reading projects that have none.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { createDatabase, createPool } from "../../platform/database/database.ts";
import { createLog } from "../../platform/log.ts";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { listDueQueues } from "./due-queue-queries.ts";

const outbox = useOutbox();
const IDLE_PROJECTS = 3_000;

test("finds each queue with due email once and skips email due later", async () => {
  const other = await outbox.createProject();
  const later = await outbox.createProject();
  await outbox.enqueue([
    { kind: "TRANSACTIONAL" },
    { kind: "TRANSACTIONAL" },
    { kind: "CAMPAIGN" },
    { kind: "WORKFLOW", project: other },
  ]);
  const [waiting = ""] = await outbox.enqueue([{ kind: "TRANSACTIONAL", project: later }]);
  await sql`update emails set due_at = now() + interval '1 hour' where id = ${waiting}`.execute(
    outbox.database,
  );
  const due = await listDueQueues(outbox.database, false);
  expect(
    due.map((queue) => [queue.projectId === other ? "other" : "own", queue.priority]).toSorted(),
  ).toEqual([
    ["other", 2],
    ["own", 1],
    ["own", 3],
  ]);
});

test("reads no rows of projects without email when looking for work", async () => {
  await sql`
    with idle as (insert into projects (id, name) select new_id(), 'Idle' from generate_series(1, ${IDLE_PROJECTS}::integer) returning id)
    insert into project_queues (project_id) select id from idle`.execute(outbox.database);
  await outbox.enqueue([{ kind: "TRANSACTIONAL" }]);
  await sql`analyze`.execute(outbox.database);
  const log = createLog({ level: "silent" });
  // Use one connection, because it can flush its own statistics on request.
  const pool = createPool({ connection: outbox.connection, maxConnections: 1, log });
  try {
    const database = createDatabase(pool);
    const rowsRead = async () => {
      await sql`select pg_stat_force_next_flush()`.execute(database);
      const { rows } = await sql<{ read: number }>`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as read
        from pg_stat_user_tables where relname in ('projects', 'emails')`.execute(database);
      return rows[0]?.read ?? 0;
    };
    const before = await rowsRead();
    expect(await listDueQueues(database, false)).toHaveLength(1);
    expect((await rowsRead()) - before).toBeLessThan(IDLE_PROJECTS / 10);
  } finally {
    await pool.end();
  }
});
