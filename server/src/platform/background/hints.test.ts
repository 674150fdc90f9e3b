// Tests hints between processes. Work of one process wakes only the loops in others that handle it, and lost connections are reopened.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "pg";
import { createDatabase, createPool } from "../database/database.ts";
import { createHints, type Hints } from "./hints.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { notify, subscribe } from "../notify.ts";
import { createTestDatabase, type TestDatabase } from "../database/test-database.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const log = createLog({ level: "silent" });
let testDatabase: TestDatabase;
const started: Hints[] = [];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(async () => {
  for (const hints of started.splice(0)) await hints.stop();
  await testDatabase.drop();
});

/** One process with its subscriptions, and how often it was notified of each topic. */
function startProcess(
  topics: ReadonlyArray<"emails" | "jobs"> = ["emails", "jobs"],
  pool = testDatabase.pool,
) {
  const database = createDatabase(pool);
  const hints = createHints({ database, pool, log, metrics: createMetrics() });
  started.push(hints);
  const notified = { emails: 0, jobs: 0 };
  for (const topic of topics) subscribe(database, topic, () => void notified[topic]++);
  hints.start();
  return { database, hints, notified };
}

/** Returns the hint connections that the database knows of. */
async function connections(): Promise<number[]> {
  const { rows } = await testDatabase.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'postloft hints'",
  );
  return rows.map(({ pid }) => pid);
}

/** Subscribes to both topics; resolves once it listens. */
async function startWorker() {
  const worker = startProcess();
  // A process that begins to listen checks once.
  await vi.waitFor(() => expect(worker.notified).toEqual({ emails: 1, jobs: 1 }), WAIT);
  return worker;
}

async function startOther() {
  const before = (await connections()).length;
  const other = startProcess([]);
  await vi.waitFor(async () => expect((await connections()).length).toBe(before + 1), WAIT);
  return other.database;
}

test("a process notifies the subscribers of its topic in another process, and no others", async () => {
  const worker = await startWorker();
  const other = await startOther();
  await vi.waitFor(() => {
    notify(other, "emails");
    expect(worker.notified.emails).toBeGreaterThan(1);
  }, WAIT);
  expect(worker.notified.jobs).toBe(1);
});

test("a process notifies its own subscribers immediately and only once", async () => {
  const { database, notified } = await startWorker();
  const other = await startWorker();
  notify(database, "jobs");
  expect(notified).toEqual({ emails: 1, jobs: 2 });
  await vi.waitFor(() => expect(other.notified.jobs).toBe(2), WAIT);
  expect(notified.jobs).toBe(2);
});

test("many notifications reach other processes at most every 10 ms, the last one included", async () => {
  const worker = await startWorker();
  const other = await startOther();
  let count = 0;
  await vi.waitFor(() => {
    notify(other, "emails");
    expect(worker.notified.emails).toBeGreaterThan(1);
  }, WAIT);
  const startedMs = performance.now();
  const before = worker.notified.emails;
  // A busy machine may stop this process for longer than the time.
  while (performance.now() - startedMs < 200 || count < 200) {
    notify(other, "emails");
    count++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const soFar = worker.notified.emails - before;
  // One in ten milliseconds; timers may be a little early.
  expect(soFar).toBeLessThanOrEqual((performance.now() - startedMs) / 8 + 1);
  const seen = worker.notified.emails;
  notify(other, "emails");
  await vi.waitFor(() => expect(worker.notified.emails).toBeGreaterThan(seen), WAIT);
});

test("a connection runs one statement at a time", async () => {
  const worker = await startWorker();
  const other = await startOther();
  const running = { now: 0, most: 0 };
  const { query } = Client.prototype as unknown as { query: (...args: unknown[]) => Promise<unknown> };
  const spy = vi.spyOn(Client.prototype, "query").mockImplementation(async function (this: Client, ...args) {
    const isNotification = String(args[0]).includes("pg_notify");
    if (isNotification) running.most = Math.max(running.most, ++running.now);
    return query.apply(this, args).finally(() => (running.now -= isNotification ? 1 : 0));
  });
  notify(other, "emails");
  notify(other, "jobs");
  await vi.waitFor(() => expect(worker.notified).toEqual({ emails: 2, jobs: 2 }), WAIT);
  spy.mockRestore();
  expect(running.most).toBe(1);
});

test("a lost connection is replaced, and every subscriber then checks once", async () => {
  const worker = await startWorker();
  const [pid] = await connections();
  await testDatabase.pool.query("select pg_terminate_backend($1)", [pid]);
  await vi.waitFor(() => expect(worker.notified).toEqual({ emails: 2, jobs: 2 }), WAIT);
  expect(await connections()).not.toContain(pid);
});

test("without a database nothing fails: subscribers of the same process are notified", async () => {
  const pool = createPool({
    connection: { ...testDatabase.connection, port: 1 },
    maxConnections: 1,
    log,
  });
  const { database, hints, notified } = startProcess(["emails"], pool);
  notify(database, "emails");
  notify(database, "jobs");
  expect(notified).toEqual({ emails: 1, jobs: 0 });
  await hints.stop();
  await pool.end();
});
