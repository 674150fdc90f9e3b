// Steps of a bulk change: ids are fixed at the request, and a crash changes no total.
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import * as contactBulk from "@postloft/contract/contact-bulk.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { claimJob, findClaimedForUpdate, updateJobStep } from "../../platform/background/job-queries.ts";
import { startJobs } from "../../platform/background/jobs.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { contactContext } from "../../workflows/usage.ts";
import { importConsequences } from "../../segments/import-consequences.ts";
import { contactJobs } from "../jobs.ts";
import { BULK_KIND } from "./bulk-changes.ts";
import { stepOfBulk } from "./change-contacts.ts";

/** No job runs until a test runs it. */
const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };

/** Creates contacts p0@…, p1@…, every third of them unsubscribed, and returns their ids in order. */
async function fill(projectId: string, count: number): Promise<string[]> {
  const rows = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'p' || n || '@example.com', n % 3 <> 0 from generate_series(0, $2::int - 1) n returning id`,
    projectId,
    count,
  );
  return rows.map(({ id }) => id);
}

async function unsubscribe({ byKey }: TestProject, body: unknown): Promise<string> {
  const reply = await server.call(contactBulk.bulkUnsubscribe, byKey, { anyBody: body });
  expect(reply.status).toBe(202);
  return reply.body.jobId;
}

const read = async ({ byKey }: TestProject, jobId: string) =>
  (await server.call(contactBulk.getBulk, byKey, { params: { jobId } })).body;

/** Runs jobs in this process until this job has ended, and returns its result. */
async function finish(project: TestProject, jobId: string): Promise<Record<string, unknown> | null> {
  const jobs = startJobs({
    database: server.database,
    kinds: contactJobs(contactContext, importConsequences),
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
  await vi.waitFor(async () => expect((await read(project, jobId)).state).toBe("completed"), WAIT);
  await jobs.stop();
  return (await read(project, jobId)).result;
}

test("a filter target is fixed at the request, without excluded contacts and later matches", async () => {
  const project = await server.createProject();
  const { byKey, id } = project;
  const ids = await fill(id, 2_500);
  const jobId = await unsubscribe(project, {
    mode: "query",
    filter: { search: "P1", subscribed: true },
    excludeIds: [ids[1]?.toUpperCase(), ids[10], randomUUID()],
  });
  expect(await read(project, jobId)).toMatchObject({ state: "waiting", progress: 0, result: null });
  await server.call(contacts.upsertContact, byKey, { body: { email: "p1-later@example.com" } });
  await server.call("PATCH", `/contacts/${ids[12]}`, byKey, { subscribed: true });
  await server.call("PATCH", `/contacts/${ids[13]}`, byKey, { subscribed: false });
  await server.call("DELETE", `/contacts/${ids[14]}`, byKey);
  const matching = ids.filter((_, at) => String(at).startsWith("1") && at % 3 !== 0);
  // Two contacts are excluded, 12 did not match at the request, 13 is unsubscribed already and 14 is deleted.
  expect(await finish(project, jobId)).toMatchObject({
    totalRequested: matching.length - 2,
    successCount: matching.length - 4,
    unchangedCount: 1,
    failureCount: 1,
    errors: [{ contactId: ids[14], email: null }],
  });
  const kept = await server.rows<{ email: string }>(
    "select email from contacts where project_id = $1 and email like 'p1%' and subscribed order by email",
    id,
  );
  expect(kept.map(({ email }) => email)).toEqual([
    "p1-later@example.com",
    "p10@example.com",
    "p12@example.com",
    "p1@example.com",
  ]);
});

/** Runs one step as a process that dies right after its commit, or right before it. */
async function stepAndDie(project: TestProject, jobId: string, dies: "before" | "after"): Promise<void> {
  const key = { projectId: project.id, id: jobId };
  const claimId = newId();
  await server.rows("update jobs set due_at = now() where id = $1", jobId);
  const kinds = [BULK_KIND];
  await claimJob(server.database, { projectId: project.id, kinds, claimId, leaseMs: 60_000 });
  const death = new Error("the process died");
  const step = transaction(server.database, async (tx) => {
    const row = await findClaimedForUpdate(tx, key, claimId);
    if (row === undefined) throw new Error("The job was claimed.");
    const { input, checkpoint, createdAt } = row;
    const context = { dependents: contactContext.dependents, segments: importConsequences };
    const outcome = await stepOfBulk(tx, { ...key, input, checkpoint, createdAt }, context);
    if (outcome.done) throw new Error("The job has more than one step.");
    const { progress } = outcome;
    await updateJobStep(tx, key, {
      checkpoint: JSON.stringify(outcome.checkpoint),
      progress: Math.floor(progress),
      leaseMs: 60_000,
    });
    if (dies === "before") throw death;
  });
  const ended = await step.then(
    () => null,
    (error: unknown) => error,
  );
  expect(ended).toBe(dies === "before" ? death : null);
}

test("crashes between two steps or inside one change no total and no event", async () => {
  const project = await server.createProject();
  const ids = await fill(project.id, 3_600);
  const body = { mode: "query", filter: { all: true } };
  const jobId = await unsubscribe(project, body);
  await server.rows("delete from contacts where id = any($1)", ids.slice(0, 7));
  await stepAndDie(project, jobId, "before");
  await stepAndDie(project, jobId, "after");
  await stepAndDie(project, jobId, "before");
  await stepAndDie(project, jobId, "after");
  expect(await read(project, jobId)).toMatchObject({ state: "active", progress: 55, result: null });
  await server.rows("update jobs set due_at = now() where id = $1", jobId);
  const result = await finish(project, jobId);
  const subscribed = ids.slice(7).filter((_, at) => (at + 7) % 3 !== 0).length;
  expect(result).toMatchObject({
    totalRequested: 3_600,
    successCount: subscribed,
    unchangedCount: 3_593 - subscribed,
    failureCount: 7,
  });
  expect(result?.["errors"]).toHaveLength(7);
  const events = await server.rows<{ contactId: string }>(
    "select contact_id from events where project_id = $1",
    project.id,
  );
  expect(events).toHaveLength(subscribed);
  expect(new Set(events.map(({ contactId }) => contactId)).size).toBe(subscribed);
});
