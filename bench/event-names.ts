// `npm run bench event-names`: counts and pages of events by their names, in a project with a million of them.
import { sql } from "kysely";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import {
  deleteEvents,
  listEventFields,
  listEventNames,
  readEventUsage,
  type EventUsers,
} from "../server/src/events/event-names.ts";
import { countNews } from "../server/src/events/counts.ts";
import { listEvents } from "../server/src/events/events.ts";
import { inferFieldType } from "../server/src/contacts/rules.ts";
import { addProject } from "../server/src/testing/add-project.ts";
import { startDatabase } from "./servers.ts";
import { oneDecimal, printTable } from "./table.ts";

const CONTACTS = 100_000;
const PARTS = 20;
const EVENTS_A_PART = 50_000;
const NAMES = 10;
const REPEATS = 5;
/** Nothing uses any of the names. */
const USERS: EventUsers = { segments: async () => [], workflows: async () => [] };
const PAGE = { limit: 50, before: null };

/** A million events, a second apart: ten names came in the first half alone, ten others in the second. */
async function fill(database: Database, projectId: string): Promise<void> {
  await addProject(database, { id: projectId, name: "event names" });
  await sql`insert into contacts (project_id, id, email, subscribed)
    select ${projectId}, new_id(), 'c' || n || '@x.example', true from generate_series(1, ${CONTACTS}) n`.execute(
    database,
  );
  for (let part = 0; part < PARTS; part++)
    await sql`insert into events (project_id, id, contact_id, name, data, created_at)
      select ${projectId}, sent_event_id(gen_random_uuid(), at), c.id,
        ${part < PARTS / 2 ? "old " : "new "} || c.n % ${NAMES}, '{"a": 1}', at
      from (select id, row_number() over () as n from contacts where project_id = ${projectId} limit ${EVENTS_A_PART}) c
      cross join lateral (select now() - interval '40 days' + (${part * EVENTS_A_PART} + c.n) * interval '1 second' as at) t`.execute(
      database,
    );
  for (let hasMore = true; hasMore;) hasMore = await countNews(database, { lagSeconds: 0 });
  await sql`vacuum analyze events`.execute(database);
}

/** The middle of a few runs, after one that does not count, ms. */
async function median(run: () => Promise<unknown>): Promise<string> {
  await run();
  const times: number[] = [];
  for (let at = 0; at < REPEATS; at++) {
    const startedMs = performance.now();
    await run();
    times.push(performance.now() - startedMs);
  }
  return oneDecimal(times.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0);
}

export async function benchEventNames(): Promise<void> {
  const bench = await startDatabase();
  const pool = createPool({
    connection: bench.connection,
    maxConnections: 2,
    log: createLog({ level: "silent" }),
  });
  const database = createDatabase(pool);
  try {
    const id = newId();
    await fill(database, id);
    const page = (name?: string) => median(() => listEvents(database, id, { name }, PAGE));
    const rows = [
      ["names, stats", await median(() => listEventNames(database, id))],
      ["usage of a name with 50,000", await median(() => readEventUsage(database, USERS, id, "old 3"))],
      ["fields of a name", await median(() => listEventFields(database, id, "old 3", inferFieldType))],
      ["a page of all", await page()],
      ["a page of a name that came lately", await page("new 3")],
      ["a page of a name that has not come for 500,000 events", await page("old 3")],
      ["a page of a name nobody has tracked", await page("none")],
    ];
    for (let at = 0; at < NAMES; at++)
      await transaction(database, (tx) => deleteEvents(tx, USERS, id, `new ${at}`));
    rows.push(["a page of all, behind 500,000 that are being deleted", await page()]);
    printTable(["one project with 1,000,000 events", "ms"], rows);
  } finally {
    await pool.end();
    await bench.stop();
  }
}
