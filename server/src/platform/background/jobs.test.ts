// Tests that jobs have exact totals after crashes between steps, run in one worker at a time and take turns.
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDatabase, transaction, type Database } from "../database/database.ts";
import { newId } from "../ids.ts";
import { addJob, JobFailure, readJob, startJobs, type JobStep } from "./jobs.ts";
import { claimJob } from "./job-queries.ts";
import { createLog } from "../log.ts";
import { createMetrics } from "../metrics.ts";
import { createTestDatabase, type TestDatabase } from "../database/test-database.ts";
import { addProject } from "../../testing/add-project.ts";

const log = createLog({ level: "silent" });
let testDatabase: TestDatabase;
let database: Database;
let projectId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  projectId = newId();
  await addProject(database, { id: projectId });
});
afterAll(async () => testDatabase.drop());

/** Counts to `input.to` with one row of contact_fields per step, so its effect is in the database. */
const count: JobStep = async (tx, job) => {
  const { to, name } = job.input as { to: number; name: string };
  const at = ((job.checkpoint as { at: number } | null)?.at ?? 0) + 1;
  await tx
    .insertInto("contact_fields")
    .values({ projectId: job.projectId, field: `${name} ${at}`, type: "number" })
    .execute();
  return at < to
    ? { done: false, checkpoint: { at }, progress: (100 * at) / to }
    : { done: true, result: { counted: at } };
};

const buggy: JobStep = async () => Promise.reject(new Error("A bug."));

async function add(kind: string, input: object): Promise<string> {
  return transaction(database, (tx) => addJob(tx, { projectId, kind, input }));
}

const read = (id: string) => readJob(database, { projectId, id }, ["count", "crash", "fail", "refuse"]);

async function ended(id: string) {
  return vi.waitUntil(
    async () => {
      const job = await read(id);
      return job?.finishedAt === null ? undefined : job;
    },
    { timeout: 30_000, interval: 20 },
  );
}

async function steps(name: string): Promise<number> {
  const rows = await database
    .selectFrom("contact_fields")
    .select("field")
    .where("field", "like", `${name} %`)
    .execute();
  return rows.length;
}

test("runs a job step by step and returns its result", async () => {
  const id = await add("count", { to: 5, name: "whole" });
  expect(await read(id)).toMatchObject({ state: "waiting", progress: 0, result: null });
  const runner = startJobs({ database, kinds: { count }, log, metrics: createMetrics() });
  expect(await ended(id)).toMatchObject({ state: "completed", progress: 100, result: { counted: 5 } });
  expect(await steps("whole")).toBe(5);
  await runner.stop();
});

test("resumes the job of a dead worker from its last step", async () => {
  const id = await add("crash", { to: 4, name: "crash" });
  let isDead = false;
  const burial = Promise.withResolvers<never>();
  const dying: JobStep = async (tx, job) => {
    if (job.checkpoint === null) return count(tx, job);
    isDead = true;
    return burial.promise;
  };
  // Its connection is lost too, so the transaction of its second step never commits.
  const dead = startJobs({ database, kinds: { crash: dying }, log, metrics: createMetrics() });
  await vi.waitUntil(() => isDead, { timeout: 30_000 });
  const { rows } = await testDatabase.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
  );
  expect(rows.length).toBeGreaterThan(0);
  await database
    .updateTable("jobs")
    .set({ dueAt: new Date(0) })
    .where("id", "=", id)
    .execute();
  const runner = startJobs({ database, kinds: { crash: count }, log, metrics: createMetrics() });
  expect(await ended(id)).toMatchObject({ state: "completed", result: { counted: 4 } });
  expect(await steps("crash")).toBe(4);
  burial.reject(new Error("This worker is dead."));
  await Promise.all([runner.stop(), dead.stop()]);
});

test("runs a job in one of several workers at a time", async () => {
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, at) => add("count", { to: 3, name: `shared${at}` })),
  );
  const runners = Array.from({ length: 3 }, () =>
    startJobs({ database, kinds: { count }, log, metrics: createMetrics() }),
  );
  for (const id of ids) expect(await ended(id)).toMatchObject({ state: "completed" });
  for (const at of ids.keys()) expect(await steps(`shared${at}`)).toBe(3);
  await Promise.all(runners.map((runner) => runner.stop()));
});

const claim = (on: Database) =>
  claimJob(on, { projectId, kinds: ["claims"], claimId: newId(), leaseMs: 60_000 });

test("skips a job that is being claimed, without waiting, and takes the next one", async () => {
  const ids = [await add("claims", {}), await add("claims", {})];
  const claimed = await transaction(database, async (tx) => {
    const first = await claim(tx);
    const others: Array<{ id: string } | undefined> = [];
    for (let at = 0; at < 2; at++) void claim(database).then((job) => others.push(job));
    // Before the commit, so neither waits for us.
    await vi.waitUntil(() => others.length === 2, { timeout: 30_000, interval: 20 });
    return [first, ...others].map((job) => job?.id);
  });
  expect(claimed.filter((id) => id !== undefined).toSorted()).toEqual(ids.toSorted());
});

test("changes nothing after losing a claim", async () => {
  const id = await add("count", { to: 2, name: "lost" });
  const claimId = newId();
  await claimJob(database, { projectId, kinds: ["count"], claimId, leaseMs: 0 });
  const runner = startJobs({ database, kinds: { count }, log, metrics: createMetrics() });
  expect(await ended(id)).toMatchObject({ state: "completed", result: { counted: 2 } });
  expect(await steps("lost")).toBe(2);
  await runner.stop();
});

test("ends a job immediately on a JobFailure and retries unexpected errors before failing", async () => {
  const refused = await add("refuse", {});
  const failing = await add("fail", {});
  let tries = 0;
  const runner = startJobs({
    database,
    metrics: createMetrics(),
    kinds: {
      refuse: async () => {
        throw new JobFailure("The file is empty.");
      },
      fail: async () => {
        tries++;
        if (tries < 2) throw new Error("The database went away.");
        return { done: true, result: { tries } };
      },
    },
    log,
  });
  expect(await ended(refused)).toMatchObject({ state: "failed", failedReason: "The file is empty." });
  expect(await ended(failing)).toMatchObject({ state: "completed", result: { tries: 2 } });
  await runner.stop();
});

test.each([
  { failures: 0, waitMs: 1_000 },
  { failures: 3, waitMs: 8_000 },
])(
  "waits $waitMs ms before the next attempt after $failures earlier failures",
  async ({ failures, waitMs }) => {
    const id = await add("fail", {});
    await database.updateTable("jobs").set({ failures }).where("id", "=", id).execute();
    const row = () =>
      database
        .selectFrom("jobs")
        .select(["failures", sql<number>`extract(epoch from due_at)::float8 * 1000`.as("dueMs")])
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
    const clock = async () =>
      (
        await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
          database,
        )
      ).rows[0]?.ms ?? 0;
    const beforeMs = await clock();
    const runner = startJobs({ database, kinds: { fail: buggy }, log, metrics: createMetrics() });
    await expect.poll(async () => (await row()).failures, { timeout: 30_000 }).toBe(failures + 1);
    await runner.stop();
    const { dueMs } = await row();
    expect(dueMs).toBeGreaterThanOrEqual(beforeMs + waitMs);
    expect(dueMs).toBeLessThanOrEqual((await clock()) + waitMs);
    await database.deleteFrom("jobs").where("id", "=", id).execute();
  },
);

test.each([
  ["the disk of the database is full", { code: "53100" }],
  ["the database is away", { code: "57P01" }],
])("a job outlasts any period in which %s", async (what, details) => {
  const id = await add("fail", {});
  let tries = 0;
  const fail: JobStep = async () => {
    tries++;
    if (tries < 8) throw Object.assign(new Error(what), details);
    return { done: true, result: { tries } };
  };
  const runner = startJobs({ database, kinds: { fail }, log, metrics: createMetrics() });
  await vi.waitUntil(
    async () => {
      // Makes the job due now, because the test does not wait for its retry times.
      await sql`update jobs set due_at = now() where id = ${id} and claim_id is null`.execute(database);
      runner.wake();
      return (await read(id))?.finishedAt !== null;
    },
    { timeout: 30_000, interval: 20 },
  );
  expect(await read(id)).toMatchObject({ state: "completed", result: { tries: 8 } });
  await runner.stop();
});

test("returns a job only for its own project and kind", async () => {
  const id = await add("count", { to: 1, name: "own" });
  expect(await readJob(database, { projectId: newId(), id }, ["count"])).toBeUndefined();
  expect(await readJob(database, { projectId, id }, ["import"])).toBeUndefined();
});
