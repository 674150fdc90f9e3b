// Hints between processes: work that one tells of wakes the loops of another, and only those; lost connections come back by themselves.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPool } from "../database/database.ts";
import { createHints, type Hints } from "./hints.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { createTestDatabase, type TestDatabase } from "../database/test-database.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const log = createLog({ level: "silent" });
let testDatabase: TestDatabase;
const started: Array<Hints<"mails" | "jobs">> = [];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
});
afterEach(async () => {
  for (const hints of started.splice(0)) await hints.stop();
  await testDatabase.drop();
});

/** The hints of one process, and how often it was woken for mails and for jobs. */
function startProcess(hears: ReadonlyArray<"mails" | "jobs"> = ["mails", "jobs"], pool = testDatabase.pool) {
  const hints = createHints<"mails" | "jobs">({ pool, log, metrics: createMetrics() });
  started.push(hints);
  const woken = { mails: 0, jobs: 0 };
  for (const work of hears) hints.hear(work, () => void woken[work]++);
  hints.start();
  return { hints, woken };
}

/** The connections for hints that the database knows of. */
async function connections(): Promise<number[]> {
  const { rows } = await testDatabase.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = 'postloft hints'",
  );
  return rows.map(({ pid }) => pid);
}

/** Hears of work, once it listens. */
async function startWorker() {
  const worker = startProcess();
  // Whoever begins to listen looks once.
  await vi.waitFor(() => expect(worker.woken).toEqual({ mails: 1, jobs: 1 }), WAIT);
  return worker;
}

async function startTeller() {
  const before = (await connections()).length;
  const teller = startProcess([]);
  await vi.waitFor(async () => expect((await connections()).length).toBe(before + 1), WAIT);
  return teller.hints;
}

test("work that one process tells of wakes the loop of another that does it, and no other loop", async () => {
  const worker = await startWorker();
  const teller = await startTeller();
  await vi.waitFor(() => {
    teller.tell("mails");
    expect(worker.woken.mails).toBeGreaterThan(1);
  }, WAIT);
  expect(worker.woken.jobs).toBe(1);
});

test("whoever does such work itself is woken at once, and not again by its own hint", async () => {
  const { hints, woken } = await startWorker();
  const other = await startWorker();
  hints.tell("jobs");
  expect(woken).toEqual({ mails: 1, jobs: 2 });
  await vi.waitFor(() => expect(other.woken.jobs).toBe(2), WAIT);
  expect(woken.jobs).toBe(2);
});

test("of much work at once the others are told once in a while, of the last for certain", async () => {
  const worker = await startWorker();
  const teller = await startTeller();
  let told = 0;
  await vi.waitFor(() => {
    teller.tell("mails");
    expect(worker.woken.mails).toBeGreaterThan(1);
  }, WAIT);
  const startedMs = performance.now();
  const before = worker.woken.mails;
  while (performance.now() - startedMs < 200) {
    teller.tell("mails");
    told++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const soFar = worker.woken.mails - before;
  expect(told).toBeGreaterThan(200);
  // One in ten milliseconds; timers may be a little early.
  expect(soFar).toBeLessThanOrEqual((performance.now() - startedMs) / 8 + 1);
  const seen = worker.woken.mails;
  teller.tell("mails");
  await vi.waitFor(() => expect(worker.woken.mails).toBeGreaterThan(seen), WAIT);
});

test("a connection that is lost is made anew, and whoever listened looks at once for what was told meanwhile", async () => {
  const worker = await startWorker();
  const [pid] = await connections();
  await testDatabase.pool.query("select pg_terminate_backend($1)", [pid]);
  await vi.waitFor(() => expect(worker.woken).toEqual({ mails: 2, jobs: 2 }), { timeout: 5_000 });
  expect(await connections()).not.toContain(pid);
});

test("without a database for hints nothing fails: whoever does the work itself is woken, and the rest polls", async () => {
  const pool = createPool({
    connection: { ...testDatabase.connection, port: 1 },
    maxConnections: 1,
    log,
  });
  const { hints, woken } = startProcess(["mails"], pool);
  hints.tell("mails");
  hints.tell("jobs");
  expect(woken).toEqual({ mails: 1, jobs: 0 });
  await hints.stop();
  await pool.end();
});
