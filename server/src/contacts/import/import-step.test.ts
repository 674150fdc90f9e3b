// Import steps: exact totals after a crash, with concurrent imports, and with rows that the database rejects.
import { afterEach, expect, test, vi } from "vitest";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { createDatabase, createPool, transaction, type Database } from "../../platform/database/database.ts";
import { JobFailure, startJobs, type JobRunner, type JobStep } from "../../platform/background/jobs.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { ANY_CHANGE, subscribeToEvents } from "../../reactions/reactions.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../../testing/upload.ts";
import { importConsequences } from "../../segments/import-consequences.ts";
import { createImportStep } from "./import-contacts.ts";

const importStep = createImportStep(importConsequences);
// Jobs run only in the runners of a test.
const server = useTestServer({ ROLES: "api" });
const log = createLog({ level: "silent" });
const WAIT = { timeout: 30_000, interval: 10 };

const runners: JobRunner[] = [];
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
});

function startRunner(step: JobStep = importStep, database: Database = server.database): JobRunner {
  const runner = startJobs({ database, kinds: { "contacts.import": step }, log, metrics: createMetrics() });
  runners.push(runner);
  return runner;
}

async function upload({ byKey }: TestProject, rows: readonly string[], query = ""): Promise<string> {
  const reply = await uploadCsv(server.call, byKey, `${rows.join("\n")}\n`, query);
  expect(`${reply.status} ${reply.text}`).toMatch(/^202 /);
  for (const runner of runners) runner.wake();
  return reply.body.jobId;
}

const readJob = async ({ byKey }: TestProject, jobId: string) =>
  (await server.call(contactImport.getImport, byKey, { params: { jobId } })).body;
const endOf = ({ byKey }: TestProject, jobId: string) => endOfImport(server.call, byKey, jobId);

/** A simulated process with its own connections. `die` cuts them and allows no new ones. */
function startMortal() {
  // A pool hides its password when its options are copied.
  const { options } = server.pool;
  const connection = { ...options, password: options.password };
  const pool = createPool({ connection, maxConnections: 4, log });
  const pids = new Set<number>();
  pool.on("connect", (client) => pids.add((client as unknown as { processID: number }).processID));
  return {
    database: createDatabase(pool),
    async die() {
      pool.connect = async () => {
        throw new Error("This process is dead.");
      };
      await server.rows("select pg_terminate_backend(pid) from unnest($1::integer[]) as pid", [...pids]);
    },
  };
}

const PEOPLE = 2_000;
/** With this filler a step, which reads half a megabyte, covers about a third of the rows. */
const FILLER = "x".repeat(700);

test("a crash in the middle of a step keeps totals, contacts, flips and errors exact", async () => {
  const project = await server.createProject(server.project.owner);
  for (const at of [5, 1_995])
    await server.call(contactsContract.upsertContact, project.byKey, {
      body: { email: `p${at}@example.com` },
    });
  const rows = Array.from({ length: PEOPLE }, (_, at) =>
    at % 200 === 199
      ? `bad ${at},${at},`
      : `p${at}@example.com,${at},${at === 5 || at === 1_995 ? "no" : ""},${FILLER}`,
  );
  const file = ["email,number,subscribed,filler", ...rows, "p7@example.com,seven,"];
  const jobId = await upload(project, file, "?resubscribe=true");

  const { database, die } = startMortal();
  let steps = 0;
  let died: Promise<void> | undefined;
  startRunner(async (tx, job) => {
    const outcome = await importStep(tx, job);
    // The work of the second step is done but not committed.
    if (++steps === 2) await (died = die());
    return outcome;
  }, database);
  await vi.waitFor(() => expect(died).toBeDefined(), WAIT);
  await died;
  const halfway = await readJob(project, jobId);
  expect(halfway).toMatchObject({ state: "active", result: null });
  expect(halfway.progress).toBeGreaterThan(30);
  expect(halfway.progress).toBeLessThan(60);

  const second = startRunner();
  await server.rows("update jobs set due_at = now() where id = $1", jobId);
  second.wake();
  const { state, progress, result } = await endOf(project, jobId);
  expect({ state, progress }).toEqual({ state: "completed", progress: 100 });
  expect(result).toMatchObject({
    totalRows: PEOPLE + 1,
    successCount: PEOPLE - 9,
    createdCount: PEOPLE - 12,
    updatedCount: 3,
    failureCount: 10,
  });
  expect(result.errors.map(({ row, email }) => `${row} ${email}`)).toEqual(
    Array.from({ length: 10 }, (_, at) => `${at * 200 + 201} bad ${at * 200 + 199}`),
  );
  const [counted] = await server.rows(
    `select count(*) as contacts, count(*) filter (where data->>'number' = substr(split_part(email, '@', 1), 2)) as exact,
       (select count(*) from events where project_id = $1) as flips
     from contacts where project_id = $1`,
    project.id,
  );
  expect(counted).toEqual({ contacts: PEOPLE - 10, exact: PEOPLE - 11, flips: 2 });
  expect(await server.rows("select 1 from job_files where job_id = $1", jobId)).toEqual([]);
});

const fileOf = (emails: readonly string[], key: string) => [
  `email,${key}`,
  ...emails.map((email) => `${email},1`),
];

test("two processes importing the same addresses in opposite order create each contact once", async () => {
  const project = await server.createProject(server.project.owner);
  const emails = Array.from({ length: 5_000 }, (_, at) => `q${at}@example.com`);
  const jobIds = await Promise.all([
    upload(project, fileOf(emails, "a")),
    upload(project, fileOf(emails.toReversed(), "b")),
  ]);
  const one = startMortal();
  const other = startMortal();
  startRunner(importStep, one.database);
  startRunner(importStep, other.database);
  const results = await Promise.all(jobIds.map(async (jobId) => (await endOf(project, jobId)).result));
  expect(results.map(({ successCount }) => successCount)).toEqual([5_000, 5_000]);
  expect(results.reduce((sum, { createdCount }) => sum + createdCount, 0)).toBe(5_000);
  const [counted] = await server.rows(
    `select count(*) as contacts, count(*) filter (where data = '{"a": 1, "b": 1}') as whole from contacts where project_id = $1`,
    project.id,
  );
  expect(counted).toEqual({ contacts: 5_000, whole: 5_000 });
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
  await Promise.all([one.die(), other.die()]);
});

test("reports a row that the database rejects and applies the other rows of its step", async () => {
  const project = await server.createProject(server.project.owner);
  const full = "x".repeat(1_048_000);
  await server.rows(
    "insert into contacts (project_id, id, email, subscribed, data) values ($1, gen_random_uuid(), 'full@example.com', true, jsonb_build_object('full', $2::text))",
    project.id,
    full,
  );
  const rows = [
    "a@example.com,1",
    "b@example.com,2",
    `full@example.com,${"y".repeat(1_000)}`,
    "c@example.com,3",
  ];
  const jobId = await upload(project, ["email,more", ...rows]);
  startRunner();
  const { result } = await endOf(project, jobId);
  expect(result).toMatchObject({ totalRows: 4, createdCount: 3, updatedCount: 0, failureCount: 1 });
  expect(result.errors).toMatchObject([
    { row: 4, email: "full@example.com", error: "The data of one contact may have at most 1,048,576 bytes." },
  ]);
});

test("an import notifies subscribers of contact changes", async () => {
  const project = await server.createProject(server.project.owner);
  const changes = () =>
    server.rows(
      "select contact_id, event_name as cause from event_reactions where project_id = $1",
      project.id,
    );
  startRunner();
  await endOf(project, await upload(project, ["email", "a@example.com"]));
  expect(await changes()).toEqual([]);
  await transaction(server.database, (tx) =>
    subscribeToEvents(tx, { projectId: project.id, subscriber: "segments" }, async () => [ANY_CHANGE]),
  );
  await endOf(
    project,
    await upload(project, ["email,x", "a@example.com,1", "b@example.com,2", "b@example.com,3"]),
  );
  await endOf(project, await upload(project, ["email,x", "b@example.com,3"]));
  const ids = await server.rows<{ id: string }>("select id from contacts where project_id = $1", project.id);
  const noted = (await changes()) as Array<{ contactId: string; cause: null }>;
  expect(noted.map(({ contactId }) => contactId).toSorted()).toEqual(ids.map(({ id }) => id).toSorted());
});

test("stores the first errors up to the limit and counts all of them", async () => {
  const project = await server.createProject(server.project.owner);
  const jobId = await upload(project, ["email", "bad 1", "bad 2", "bad 3"]);
  const failed = LIMITS.importErrorsKept.value - 1;
  const checkpoint = { offset: 0, row: 2, created: 0, updated: 0, failed };
  await server.rows("update jobs set checkpoint = $2 where id = $1", jobId, JSON.stringify(checkpoint));
  startRunner();
  const { result } = await endOf(project, jobId);
  expect(result.failureCount).toBe(failed + 3);
  expect(result.errors.map(({ email }) => email)).toEqual(["bad 1"]);
});

test("a failed import deletes its file", async () => {
  const project = await server.createProject(server.project.owner);
  startRunner(async () => {
    throw new JobFailure("Not today.");
  });
  const jobId = await upload(project, ["email", "a@example.com"]);
  expect(await endOf(project, jobId)).toMatchObject({ state: "failed", failedReason: "Not today." });
  expect(await server.rows("select 1 from job_files where job_id = $1", jobId)).toEqual([]);
});

test("an import without its file fails with a reason", async () => {
  const project = await server.createProject(server.project.owner);
  const jobId = await upload(project, ["email", "a@example.com"]);
  await server.rows("delete from job_files where job_id = $1", jobId);
  startRunner();
  expect(await endOf(project, jobId)).toMatchObject({
    state: "failed",
    result: null,
    failedReason: "The uploaded file is gone.",
  });
});

test("reads a multi-part file with multi-byte characters to its end, each row once", async () => {
  const project = await server.createProject(server.project.owner);
  // Uses characters of two, three and four bytes, so that parts end inside a character.
  const filler = "ü€😀".repeat(150);
  const rows = Array.from({ length: PEOPLE }, (_, at) => `u${at}@example.com,${at},${filler}`);
  const jobId = await upload(project, ["email,number,filler", ...rows]);
  let steps = 0;
  startRunner((tx, job) => {
    steps++;
    return importStep(tx, job);
  });
  const { result } = await endOf(project, jobId);
  expect(result).toMatchObject({ totalRows: PEOPLE, createdCount: PEOPLE, updatedCount: 0, failureCount: 0 });
  expect(steps).toBeGreaterThan(3);
  const [counted] = await server.rows(
    `select count(*) as contacts, count(*) filter (where data->>'filler' = $2
       and data->>'number' = substr(split_part(email, '@', 1), 2)) as exact
     from contacts where project_id = $1`,
    project.id,
    filler,
  );
  expect(counted).toEqual({ contacts: PEOPLE, exact: PEOPLE });
});

test("a contact that unsubscribes while an import waits or runs stays unsubscribed", async () => {
  const project = await server.createProject(server.project.owner);
  await server.call(contactsContract.upsertContact, project.byKey, {
    body: { email: "a@example.com", subscribed: true },
  });
  const jobId = await upload(project, ["email,subscribed", "a@example.com,yes", "b@example.com,yes"]);
  await server.call(contactsContract.upsertContact, project.byKey, {
    body: { email: "a@example.com", subscribed: false },
  });
  startRunner();
  expect((await endOf(project, jobId)).result).toMatchObject({ successCount: 2, keptUnsubscribedCount: 1 });
  const contacts = await server.rows(
    "select email, subscribed from contacts where project_id = $1 order by email",
    project.id,
  );
  expect(contacts).toEqual([
    { email: "a@example.com", subscribed: false },
    { email: "b@example.com", subscribed: true },
  ]);
});

test("reads imports queued by an earlier version", async () => {
  const project = await server.createProject(server.project.owner);
  const jobId = await upload(project, ["email,id,subscribed,plan", "a@example.com,7,no,pro", "bad,8,,"]);
  const columns = [{ kind: "ignored", name: "id" }, { kind: "subscribed" }, { kind: "data", key: "plan" }];
  await server.rows(
    "update jobs set input = input - 'warnings' - 'decimal' - 'segmentId' - 'resubscribe' || jsonb_build_object('columns', $2::jsonb) where id = $1",
    jobId,
    JSON.stringify(columns),
  );
  startRunner();
  const { result } = await endOf(project, jobId);
  expect(result).toMatchObject({ createdCount: 1, failureCount: 1, ignoredColumns: ["id"] });
  expect(
    await server.rows("select subscribed, data from contacts where project_id = $1", project.id),
  ).toEqual([{ subscribed: false, data: { plan: "pro" } }]);
});

test("a deleted segment becomes a warning and the contacts are imported", async () => {
  const project = await server.createProject(server.project.owner);
  const segment = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "Imported",
      type: "STATIC",
    },
  });
  const jobId = await upload(project, ["email", "a@example.com"], `?segmentId=${segment.body.id}`);
  await server.call(segments.deleteSegment, project.byKey, { params: { id: segment.body.id } });
  startRunner();
  const { result } = await endOf(project, jobId);
  expect(result).toMatchObject({
    createdCount: 1,
    segmentAddedCount: 0,
    warnings: [{ code: "segment.gone", values: { count: 1 } }],
  });
});
