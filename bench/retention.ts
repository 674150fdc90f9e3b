// `npm run bench retention [events]`: a month of so many events goes as a whole, while somebody tracks and somebody reads; beside it files
// of the same size that no database knows of, and row by row.
import { randomBytes } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import { waitUntil } from "../e2e/wait-until.ts";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { firstIdAt } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { dropPartition, listPartitions } from "../server/src/platform/database/partitions.ts";
import { changeEventRetention, deleteExpired, dropOldMonths } from "../server/src/events/retention.ts";
import { SYSTEM_PROJECT_ID } from "../server/src/emails/rows/system-project.ts";
import { percentile, startGentleLoad } from "./latency.ts";
import { readNumbers } from "./read-numbers.ts";
import { settingsOf, startDatabase, type BenchDatabase } from "./servers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const EVENTS = 5_000_000;
const ROUNDS = 1;
const TRACKED_PER_SECOND = 200;
const QUIET_MS = 5_000;
const AFTER_MS = 1_500;
const RETRY_MS = 100;
const READ_EVERY_MS = 2;
const CHUNK_BYTES = 1 << 20;
const GONE_WITHIN_MS = 60_000;
const DAYS = 30;
const CONTACTS = 10_000;
const INSERTED_AT_ONCE = 500_000;
const BATCH_SIZE = 5_000;
const onExpired = async () => undefined;

export async function benchRetention(): Promise<void> {
  const [events = EVENTS] = readNumbers([EVENTS]);
  const database = await startDatabase();
  const pool = createPool({
    connection: database.connection,
    // One, without the limits of a service: a month is made in statements of a minute.
    maxConnections: 1,
    log: createLog({ level: "warn" }),
  });
  try {
    const own = createDatabase(pool);
    await sql`set statement_timeout = 0`.execute(own);
    await sql`set transaction_timeout = 0`.execute(own);
    await replaceFirstPartition(own);
    const rows: string[][] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      await fillMonth(own, events);
      rows.push(...(await measure(database, own, { round, events })));
    }
    rows.push(await measureRows(own, Math.round(events / 50)));
    printTable(
      [
        "",
        "events",
        "gone after s",
        "done after s",
        "tries",
        "tracked",
        "track p50 ms",
        "p99 ms",
        "longest ms",
        "longest read ms",
      ],
      rows,
    );
    print(
      "\nBars: a month of 5,000,000 in less than a second; no lock felt: reads as beside nothing, and calls as beside files that go.",
    );
  } finally {
    await pool.end();
    await database.stop();
  }
}

/** The first partition of a new database takes all that is old. */
async function replaceFirstPartition(own: Database): Promise<void> {
  const [first] = await listPartitions(own, "events");
  const until = first?.until ?? "";
  await transaction(own, (tx) => dropPartition(tx, first?.name ?? ""));
  await sql`create table events_now partition of events for values from (${sql.lit(firstIdOfMonth(0))}) to (${sql.lit(until)})`.execute(
    own,
  );
}

/** Of the month so many before this one, in UTC. */
function firstIdOfMonth(before: number): string {
  const date = new Date();
  return firstIdAt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - before));
}

/** A month of three months ago, with so many events of one project, counted and too old to be kept. */
async function fillMonth(own: Database, events: number): Promise<void> {
  const [from, until] = [firstIdOfMonth(4), firstIdOfMonth(3)];
  // Indexes and the foreign key come with the attaching, which is quicker than row by row.
  await sql`create table events_old (like events including defaults)`.execute(own);
  for (let filled = 0; filled < events; filled += INSERTED_AT_ONCE) {
    progress(`${whole(filled)} of ${whole(events)} events`);
    await sql`
      with c as materialized (
        select array_agg(id) as ids, min(project_id::text)::uuid as project_id
        from (select project_id, id from contacts order by id limit ${CONTACTS}) c)
      insert into events_old (project_id, id, contact_id, name, data, created_at)
      select c.project_id, sent_event_id(gen_random_uuid(), at), c.ids[1 + n % ${CONTACTS}], 'seen ' || n % 20,
        jsonb_build_object('page', n % 1000), at
      from c, generate_series(${filled}::integer, ${Math.min(filled + INSERTED_AT_ONCE, events) - 1}::integer) n,
        lateral (select (date_trunc('month', now() at time zone 'UTC') - interval '4 months') at time zone 'UTC'
          + n * (interval '28 days' / ${events}) as at) t`.execute(own);
  }
  await sql`alter table events attach partition events_old for values from (${sql.lit(from)}) to (${sql.lit(until)})`.execute(
    own,
  );
  // As PostgreSQL has done long before a month is so old.
  await sql`vacuum (freeze, analyze) events_old`.execute(own);
  const { rows } = await sql<{
    id: string;
  }>`select id from projects where id <> ${SYSTEM_PROJECT_ID}`.execute(own);
  const projectId = rows[0]?.id ?? "";
  await sql`insert into count_positions (project_id, position) values (${projectId}, ${until})
    on conflict (project_id) do update set position = excluded.position`.execute(own);
  await transaction(own, (tx) => changeEventRetention(tx, projectId, DAYS));
  await sql`checkpoint`.execute(own);
}

/** Tracking and reading beside nothing, beside the removal of files, and beside the drop. */
async function measure(
  database: BenchDatabase,
  own: Database,
  { round, events }: { round: number; events: number },
): Promise<string[][]> {
  const program = await startProgram({
    ...BOOTSTRAP,
    ...settingsOf(database),
    ROLES: "api",
    API_RATE_LIMIT_PER_MINUTE: "0",
  });
  try {
    const api = createApiClient(program.url);
    const track = () => api.post("/v1/track", { email: "person-000000001@example.com", event: "seen" });
    const beside = async <T>(work: () => Promise<T>) => {
      const tracking = startGentleLoad(TRACKED_PER_SECOND, track);
      const reading = startReading(database);
      await delay(AFTER_MS / 3);
      const result = await work();
      await delay(AFTER_MS);
      return { result, felt: [...latency(await tracking.stop()), oneDecimal(await reading.stop())] };
    };
    progress(`round ${round} of ${ROUNDS}`);
    await beside(() => delay(QUIET_MS));
    const quiet = await beside(() => delay(QUIET_MS));
    const removeFiles = await makeFilesLike(own, "events_old");
    const files = await beside(removeFiles);
    const month = await beside(() => drop(own, database));
    const { goneSeconds, seconds, tries } = month.result;
    const took = [goneSeconds.toFixed(3), seconds.toFixed(3), String(tries)];
    return [
      ["nothing goes", "", "", "", "", ...quiet.felt],
      ["files of its size go, no table", "", "", files.result.toFixed(3), "", ...files.felt],
      ["a month goes", whole(events), ...took, ...month.felt],
    ];
  } finally {
    await program.stop();
  }
}

/** Reads what a drop locks, one after the other: writes nothing, so it waits for locks and for nothing else. `stop` resolves to the longest, in ms. */
function startReading({ connection }: BenchDatabase): { stop(): Promise<number> } {
  const readers = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  let isOver = false;
  const reading = (async () => {
    let longestMs = 0;
    while (!isOver) {
      const startedMs = performance.now();
      await readers.query({
        name: "read",
        text: "select (select id from events order by project_id desc, id desc limit 1), (select id from contacts limit 1)",
      });
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      await delay(READ_EVERY_MS);
    }
    await readers.end();
    return longestMs;
  })();
  return {
    stop: () => {
      isOver = true;
      return reading;
    },
  };
}

/** Files as large as a table and its indexes, on the same disk. @returns what removes them, and resolves to the seconds that took */
async function makeFilesLike(own: Database, table: string): Promise<() => Promise<number>> {
  const { rows } = await sql<{ folder: string; bytes: number }>`
    select current_setting('data_directory') as folder, pg_relation_size(oid) as bytes from pg_class
    where oid = ${table}::regclass
      or oid in (select indexrelid from pg_index where indrelid = ${table}::regclass)`.execute(own);
  const chunk = randomBytes(CHUNK_BYTES);
  const files = await Promise.all(
    rows.map(async ({ folder, bytes }, at) => {
      const path = join(folder, `bench-${at}`);
      const file = await open(path, "w");
      for (let written = 0; written < bytes; written += CHUNK_BYTES) await file.write(chunk);
      await file.sync();
      await file.close();
      return path;
    }),
  );
  return async () => {
    const startedMs = performance.now();
    for (const path of files) await unlink(path);
    return (performance.now() - startedMs) / 1_000;
  };
}

/**
 * As the loop does it: while the table is in use for too long, again. Others see that the month is gone, and have its locks back,
 * before its files are removed: `goneSeconds`.
 */
async function drop(
  own: Database,
  { connection }: BenchDatabase,
): Promise<{ goneSeconds: number; seconds: number; tries: number }> {
  const others = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  const startedMs = performance.now();
  const seconds = () => (performance.now() - startedMs) / 1_000;
  try {
    const gone = waitUntil("the month to be gone", GONE_WITHIN_MS, async () => {
      const { rowCount } = await others.query("select where to_regclass('public.events_old') is null");
      return rowCount === 1 && { goneSeconds: seconds() };
    });
    for (let tries = 1; ; tries++) {
      const { dropped } = await dropOldMonths(own, onExpired);
      if (dropped.includes("events_old")) return { seconds: seconds(), ...(await gone), tries };
      await delay(RETRY_MS);
    }
  } finally {
    await others.end();
  }
}

/** What the same costs row by row, where another project needs the month. */
async function measureRows(own: Database, events: number): Promise<string[]> {
  await fillMonth(own, events);
  const startedMs = performance.now();
  while (await deleteExpired(own, onExpired, { batchSize: BATCH_SIZE }));
  const seconds = (performance.now() - startedMs) / 1_000;
  return ["row by row, nobody tracks", whole(events), "", seconds.toFixed(3), "", "", "", "", "", ""];
}

const latency = (values: readonly number[]) => [
  whole(values.length),
  oneDecimal(percentile(values, 0.5)),
  oneDecimal(percentile(values, 0.99)),
  oneDecimal(percentile(values, 1)),
];
