// Undoing an import: created contacts are deleted, values return unless they changed again, and no contact that left is resubscribed.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as suppressions from "@postloft/contract/suppressions.ts";
import * as v1 from "@postloft/contract/v1.ts";
import type { UndoCounts } from "@postloft/contract/import-undo.ts";
import { sql } from "kysely";
import { transaction, type Tx } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { claimJob, findClaimedForUpdate, updateJobStep } from "../../platform/background/job-queries.ts";
import { startJobs, sweepJobs, type JobRunner } from "../../platform/background/jobs.ts";
import { createLog } from "../../platform/log.ts";
import { createMetrics } from "../../platform/metrics.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../../testing/upload.ts";
import { importConsequences } from "../../segments/import-consequences.ts";
import { contactContext } from "../../workflows/usage.ts";
import { contactJobs } from "../jobs.ts";
import { upsertRecorded } from "./record-changes.ts";
import { UNDO_KIND } from "./undo-import.ts";
import { stepOfUndo } from "./undo-step.ts";

const server = useTestServer({ ROLES: "api" });
/** Two jobs that change the same thousands of contacts wait for each other on a busy machine. */
const WAIT = { timeout: 50_000, interval: 10 };
/** With this filler a step, which reads half a megabyte, covers about 700 rows. */
const FILLER = "x".repeat(700);
const NOTHING: UndoCounts = {
  removedCount: 0,
  removedWithEmailCount: 0,
  removedWithActivityCount: 0,
  restoredCount: 0,
  keptCount: 0,
  subscriptionRestoredCount: 0,
  subscriptionKeptCount: 0,
  segmentRemovedCount: 0,
};

let runner: JobRunner;
const runJobs = () =>
  startJobs({
    database: server.database,
    kinds: contactJobs(contactContext, importConsequences),
    log: createLog({ level: "silent" }),
    metrics: createMetrics(),
  });
beforeAll(() => {
  runner = runJobs();
});
afterAll(() => runner.stop());

interface View {
  until: string;
  counts: UndoCounts | null;
  job: { id: string; state: string; result: UndoCounts | null } | null;
}

async function queueImport({ byKey }: TestProject, rows: readonly string[], query = ""): Promise<string> {
  const reply = await uploadCsv(server.call, byKey, `${rows.join("\n")}\n`, query);
  expect(`${reply.status} ${reply.text}`).toMatch(/^202 /);
  runner.wake();
  return reply.body.jobId;
}

async function importRows(project: TestProject, rows: readonly string[], query = ""): Promise<string> {
  const jobId = await queueImport(project, rows, query);
  expect((await endOfImport(server.call, project.byKey, jobId)).state).toBe("completed");
  return jobId;
}

const pathOf = (jobId: string) => `/contacts/import/${jobId}/undo`;
const show = async ({ byKey }: TestProject, jobId: string) =>
  (await server.call<View>("GET", pathOf(jobId), byKey)).body;
const ask = ({ byKey }: TestProject, jobId: string) =>
  server.call<{ jobId: string }>("POST", pathOf(jobId), byKey);

async function endOfUndo(project: TestProject, jobId: string): Promise<UndoCounts | null> {
  runner.wake();
  await vi.waitFor(async () => expect((await show(project, jobId)).job?.state).toBe("completed"), WAIT);
  return (await show(project, jobId)).job?.result ?? null;
}

/** Undoes an import, checks that the preview matches the result, and returns the counts that are not zero. */
async function undo(project: TestProject, jobId: string): Promise<Partial<UndoCounts>> {
  const { counts } = await show(project, jobId);
  expect((await ask(project, jobId)).status).toBe(202);
  expect(await endOfUndo(project, jobId)).toEqual(counts);
  return Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => count > 0));
}

async function create(project: TestProject, email: string, data: object, subscribed = true): Promise<string> {
  const reply = await server.call<{ id: string }>("POST", "/contacts", project.byKey, {
    email,
    data,
    subscribed,
  });
  return reply.body.id;
}

const contactsOf = async (project: TestProject) =>
  Object.fromEntries(
    (
      await server.rows<{ name: string; data: object }>(
        "select split_part(email, '@', 1) as name, data from contacts where project_id = $1 order by email",
        project.id,
      )
    ).map(({ name, data }) => [name, data]),
  );

const idOf = async (project: TestProject, email: string) =>
  (
    await server.rows<{ id: string }>(
      "select id from contacts where project_id = $1 and email = $2",
      project.id,
      email,
    )
  )[0]?.id ?? "";

/** Adds the row of a sent email to a contact. */
async function sendTo({ id, byKey }: TestProject, to: string): Promise<string> {
  const body = { to, from: "hello@sandbox.localhost", subject: "Hello", body: "<p>Hello</p>" };
  const reply = await server.call(v1.send, byKey, { body });
  expect(`${reply.status} ${reply.text}`).toMatch(/^200 /);
  const [row] = await server.rows<{ id: string }>(
    "update emails set status = 'SENT', sent_at = now() where project_id = $1 and to_address = $2 returning id",
    id,
    to,
  );
  return row?.id ?? "";
}

test("an undo removes created contacts and restores values unless they changed again", async () => {
  const project = await server.createProject(server.project.owner);
  const { byKey } = project;
  await create(project, "same@example.com", { plan: "new", city: "Rome" });
  await create(project, "restored@example.com", { plan: "old", city: "Rome" });
  const edited = await create(project, "edited@example.com", { plan: "old", city: "Rome" });
  const partly = await create(project, "partly@example.com", { plan: "old" });
  const deleted = await create(project, "deleted@example.com", { plan: "old" });
  const jobId = await importRows(project, [
    "email,plan,city",
    ...["same", "restored", "edited", "partly", "deleted"].map((name) => `${name}@example.com,new,`),
    "partly@example.com,,Oslo",
    "first@example.com,new,Oslo",
    "second@example.com,new,Oslo",
    "third@example.com,new,Oslo",
    "fourth@example.com,new,Oslo",
  ]);
  await server.call(contacts.updateContact, byKey, {
    params: { id: edited },
    body: { data: { plan: "newest" } },
  });
  await server.call(contacts.updateContact, byKey, {
    params: { id: partly },
    body: { data: { city: "Bern" } },
  });
  await server.call(contacts.deleteContact, byKey, { params: { id: deleted } });
  await server.call(contacts.deleteContact, byKey, {
    params: { id: await idOf(project, "first@example.com") },
  });
  await create(project, "first@example.com", { mine: true });
  await server.call(v1.track, byKey, { body: { email: "second@example.com", event: "bought" } });
  await sendTo(project, "third@example.com");
  expect(await undo(project, jobId)).toEqual({
    removedCount: 3,
    removedWithEmailCount: 1,
    removedWithActivityCount: 1,
    restoredCount: 2,
    keptCount: 2,
  });
  expect(await contactsOf(project)).toEqual({
    edited: { plan: "newest", city: "Rome" },
    first: { mine: true },
    partly: { plan: "old", city: "Bern" },
    restored: { plan: "old", city: "Rome" },
    same: { plan: "new", city: "Rome" },
  });
});

test("counts of removed contacts include later edits but not repeated changes by the import", async () => {
  const project = await server.createProject(server.project.owner);
  const people = Array.from({ length: 1_200 }, (_, at) => `p${at}@example.com,1,${FILLER}`);
  const jobId = await importRows(project, [
    "email,n,filler",
    ...people,
    "p0@example.com,2,",
    "p1@example.com,3,",
  ]);
  await server.call(contacts.updateContact, project.byKey, {
    params: { id: await idOf(project, "p1@example.com") },
    body: { data: { n: 4 } },
  });
  expect(await undo(project, jobId)).toEqual({ removedCount: 1_200, removedWithActivityCount: 1 });
  expect(await contactsOf(project)).toEqual({});
});

test("a contact changed by several steps returns to its value before the import", async () => {
  const project = await server.createProject(server.project.owner);
  await create(project, "twice@example.com", { n: 0 }, true);
  await create(project, "edited@example.com", { n: 0 });
  await create(project, "turned@example.com", {}, true);
  const people = Array.from({ length: 1_200 }, (_, at) => `p${at}@example.com,,1,${FILLER}`);
  const jobId = await importRows(project, [
    "email,subscribed,n,filler",
    "twice@example.com,no,1,",
    "edited@example.com,,1,",
    "turned@example.com,no,,",
    ...people,
    "twice@example.com,,2,late",
    "edited@example.com,,2,",
    "turned@example.com,no,,",
  ]);
  await server.call(contacts.updateContact, project.byKey, {
    params: { id: await idOf(project, "edited@example.com") },
    body: { data: { n: 1 } },
  });
  expect(await undo(project, jobId)).toEqual({
    removedCount: 1_200,
    restoredCount: 1,
    keptCount: 1,
    subscriptionRestoredCount: 2,
  });
  expect(await contactsOf(project)).toEqual({ edited: { n: 1 }, turned: {}, twice: { n: 0 } });
});

/** Subscription before the import, its "no" or "yes", changes before the undo, and the final state. */
const SUBSCRIPTIONS: ReadonlyArray<{
  about: string;
  before: boolean;
  says: "yes" | "no";
  meanwhile?: (project: TestProject, id: string, email: string) => Promise<unknown>;
  after: boolean;
  counts: Partial<UndoCounts>;
}> = [
  {
    about: "unsubscribed by the import alone",
    before: true,
    says: "no",
    after: true,
    counts: { subscriptionRestoredCount: 1 },
  },
  {
    about: "unsubscribed by the import and suppressed since",
    before: true,
    says: "no",
    meanwhile: ({ byKey }, _id, email) =>
      server.call(suppressions.addSuppressions, byKey, { body: { emails: [email] } }),
    after: false,
    counts: { subscriptionKeptCount: 1 },
  },
  {
    about: "unsubscribed by the import, subscribed since and unsubscribed again",
    before: true,
    says: "no",
    async meanwhile({ byKey }, id) {
      for (const subscribed of [true, false])
        await server.call(contacts.updateContact, byKey, { params: { id }, body: { subscribed } });
    },
    after: false,
    counts: { subscriptionKeptCount: 1 },
  },
  {
    about: "unsubscribed by the import and by the unsubscribe link since",
    before: true,
    says: "no",
    meanwhile: unsubscribeByLink,
    after: false,
    counts: { subscriptionKeptCount: 1 },
  },
  {
    about: "unsubscribed by the import and through the API since",
    before: true,
    says: "no",
    meanwhile: ({ byKey }, _id, email) =>
      server.call(v1.track, byKey, { body: { email, event: "left", subscribed: false } }),
    after: false,
    counts: { subscriptionKeptCount: 1 },
  },
  {
    about: "unsubscribed by the import and subscribed by hand since",
    before: true,
    says: "no",
    meanwhile: ({ byKey }, id) =>
      server.call(contacts.updateContact, byKey, { params: { id }, body: { subscribed: true } }),
    after: true,
    counts: {},
  },
  {
    about: "subscribed by the import",
    before: false,
    says: "yes",
    after: false,
    counts: { subscriptionRestoredCount: 1 },
  },
  {
    about: "subscribed by the import and unsubscribed since",
    before: false,
    says: "yes",
    meanwhile: ({ byKey }, id) =>
      server.call(contacts.updateContact, byKey, { params: { id }, body: { subscribed: false } }),
    after: false,
    counts: {},
  },
  {
    about: "subscribed by the import, unsubscribed since and subscribed by hand",
    before: false,
    says: "yes",
    async meanwhile({ byKey }, id) {
      for (const subscribed of [false, true])
        await server.call(contacts.updateContact, byKey, { params: { id }, body: { subscribed } });
    },
    after: true,
    counts: { subscriptionKeptCount: 1 },
  },
];

/** Sends the same request as the button of an email client. */
async function unsubscribeByLink({ byKey }: TestProject, id: string): Promise<void> {
  const { body } = await server.call(contacts.getContactLinks, byKey, { params: { id } });
  const reply = await fetch(`${server.url}${new URL(body.unsubscribeUrl).pathname}`, {
    method: "POST",
    body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
  });
  expect(reply.status).toBe(200);
}

test.for(SUBSCRIPTIONS)(
  "a contact $about is subscribed after the undo: $after",
  async ({ before, says, meanwhile, after, counts }) => {
    const project = await server.createProject(server.project.owner);
    const email = "ada@example.com";
    const id = await create(project, email, {}, before);
    const jobId = await importRows(project, ["email,subscribed", `${email},${says}`], "?resubscribe=true");
    await meanwhile?.(project, id, email);
    const eventsOf = () => server.rows("select 1 from events where project_id = $1", project.id);
    const events = (await eventsOf()).length;
    expect(await undo(project, jobId)).toEqual(counts);
    const [contact] = await server.rows("select subscribed from contacts where id = $1", id);
    expect(contact).toEqual({ subscribed: after });
    expect((await eventsOf()).length).toBe(events);
  },
);

const fileOf = (value: number, order: readonly string[]) => [
  "email,v,filler",
  ...order.map((name) => `${name}@example.com,${value},${FILLER}`),
];

test("contacts added by an import leave the segment again unless they were re-added since", async () => {
  const project = await server.createProject(server.project.owner);
  for (const name of ["old", "stays", "back"]) await create(project, `${name}@example.com`, {});
  const segment = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "Imported",
      type: "STATIC",
    },
  });
  const path = `/segments/${segment.body.id}/members`;
  const change = (method: "POST" | "DELETE", name: string) =>
    server.call(method, path, project.byKey, { emails: [`${name}@example.com`] });
  await change("POST", "stays");
  const rows = ["old", "stays", "back", "new"].map((name) => `${name}@example.com`);
  const jobId = await importRows(project, ["email", ...rows], `?segmentId=${segment.body.id}`);
  await change("DELETE", "back");
  await change("POST", "back");
  expect(await undo(project, jobId)).toEqual({ removedCount: 1, segmentRemovedCount: 1 });
  const members = await server.rows<{ email: string }>(
    `select c.email from segment_members m join contacts c on c.project_id = m.project_id and c.id = m.contact_id
     where m.project_id = $1 order by c.email`,
    project.id,
  );
  expect(members.map(({ email }) => email)).toEqual(["back@example.com", "stays@example.com"]);
  const { body } = await server.call(segments.getSegment, project.byKey, { params: { id: segment.body.id } });
  expect(body.memberCount).toBe(2);
});

test("an undo during another import of the same contacts loses no earlier value", async () => {
  const project = await server.createProject(server.project.owner);
  const names = Array.from({ length: 3_000 }, (_, at) => `q${at}`);
  const known = names.slice(0, 1_500);
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), name || '@example.com', true, '{"v": 0}' from unnest($2::text[]) as name`,
    project.id,
    known,
  );
  const first = await importRows(project, fileOf(1, names));
  const second = await queueImport(project, fileOf(2, names.toReversed()));
  expect((await ask(project, first)).status).toBe(202);
  const undone = await endOfUndo(project, first);
  await endOfImport(server.call, project.byKey, second);
  expect(undone?.removedCount).toBe(1_500);
  expect((undone?.restoredCount ?? 0) + (undone?.keptCount ?? 0)).toBeGreaterThanOrEqual(1_500);
  await undo(project, second);
  const left = await server.rows<{ v: number; count: number }>(
    "select (data->>'v')::int as v, count(*) from contacts where project_id = $1 group by 1 order by 1",
    project.id,
  );
  expect(left.reduce((sum, { count }) => sum + count, 0)).toBe(1_500);
  // A contact changed by the second import before the undo of the first one returns to the first import's value.
  expect(left.map(({ v }) => v).filter((v) => v !== 0 && v !== 1)).toEqual([]);
});

/** Another transaction that the import of `v = new` waits for, the contact after the import, and what an undo of it leaves. */
const BESIDE: ReadonlyArray<{
  about: string;
  before: object | null;
  meanwhile: (tx: Tx, projectId: string, email: string) => Promise<unknown>;
  imported: object;
  undone: Partial<UndoCounts>;
  after: object;
}> = [
  {
    about: "changes the contact",
    before: { v: "old", w: 1 },
    meanwhile: (tx, projectId) =>
      sql`update contacts set data = '{"v": "edited", "w": 2}' where project_id = ${projectId}`.execute(tx),
    imported: { ada: { v: "new", w: 2 } },
    undone: { restoredCount: 1 },
    after: { ada: { v: "edited", w: 2 } },
  },
  {
    about: "writes the same value",
    before: { v: "old" },
    meanwhile: (tx, projectId) =>
      sql`update contacts set data = '{"v": "new"}' where project_id = ${projectId}`.execute(tx),
    imported: { ada: { v: "new" } },
    undone: {},
    after: { ada: { v: "new" } },
  },
  {
    about: "creates the contact",
    before: null,
    meanwhile: (tx, projectId, email) =>
      sql`insert into contacts (project_id, id, email, subscribed, data)
        values (${projectId}, ${newId()}, ${email}, true, '{"v": "theirs"}')`.execute(tx),
    imported: { ada: { v: "new" } },
    undone: { restoredCount: 1 },
    after: { ada: { v: "theirs" } },
  },
  {
    about: "deletes the contact",
    before: { v: "old" },
    meanwhile: (tx, projectId) => sql`delete from contacts where project_id = ${projectId}`.execute(tx),
    imported: { ada: { v: "new" } },
    undone: { removedCount: 1 },
    after: {},
  },
];

const waiting = () =>
  server.rows(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );

test.for(BESIDE)(
  "an import that waits for a transaction that $about records the state after it",
  async ({ before, meanwhile, imported, undone, after }) => {
    const project = await server.createProject(server.project.owner);
    const email = "ada@example.com";
    if (before !== null) await create(project, email, before);
    const jobId = await transaction(server.database, async (tx) => {
      await meanwhile(tx, project.id, email);
      const queued = await queueImport(project, ["email,v", `${email},new`]);
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), WAIT);
      return queued;
    });
    await endOfImport(server.call, project.byKey, jobId);
    expect(await contactsOf(project)).toEqual(imported);
    expect(await undo(project, jobId)).toEqual(undone);
    expect(await contactsOf(project)).toEqual(after);
  },
);

test("a value that someone wrote between two steps returns, not the equal one from before the first step", async () => {
  const project = await server.createProject(server.project.owner);
  const email = "ada@example.com";
  const id = await create(project, email, { k: "x", n: 0 });
  const jobId = await importRows(project, ["email,k,n", `${email},x,1`]);
  await server.call(contacts.updateContact, project.byKey, { params: { id }, body: { data: { k: "y" } } });
  await transaction(server.database, (tx) =>
    upsertRecorded(tx, { projectId: project.id, id: jobId }, [
      {
        projectId: project.id,
        email,
        subscribedIfNew: true,
        patch: { set: { k: "x" }, remove: [], transient: {} },
        via: { source: "import", actor: "key", ip: null },
      },
    ]),
  );
  expect(await undo(project, jobId)).toEqual({ restoredCount: 1 });
  expect(await contactsOf(project)).toEqual({ ada: { k: "y", n: 0 } });
});

test("an import writes nothing, not even a lock, to contacts that it doesn't change", async () => {
  const project = await server.createProject(server.project.owner);
  await create(project, "ada@example.com", { v: "same" });
  const versionOf = () =>
    server.rows("select xmin::text, xmax::text, ctid::text from contacts where project_id = $1", project.id);
  const before = await versionOf();
  const jobId = await importRows(project, ["email,v", "ada@example.com,same"]);
  expect(await versionOf()).toEqual(before);
  expect(await server.rows("select 1 from import_changes where job_id = $1", jobId)).toEqual([]);
});

test("an undo survives the death of its process between steps and inside one", async () => {
  const project = await server.createProject(server.project.owner);
  await create(project, "known@example.com", { n: 0 });
  const people = Array.from({ length: 2_600 }, (_, at) => `p${at}@example.com,1`);
  const jobId = await importRows(project, ["email,n", "known@example.com,1", ...people]);
  await runner.stop();
  const { counts } = await show(project, jobId);
  const { body } = await ask(project, jobId);
  for (const dies of ["inside", "after", "inside", "after"] as const)
    await stepAndDie(project, body.jobId, dies);
  expect(await show(project, jobId)).toMatchObject({ counts: null, job: { state: "active" } });
  await server.rows("update jobs set due_at = now() where id = $1", body.jobId);
  runner = runJobs();
  expect(await endOfUndo(project, jobId)).toEqual(counts);
  expect(counts).toEqual({ ...NOTHING, removedCount: 2_600, restoredCount: 1 });
  expect(await contactsOf(project)).toEqual({ known: { n: 0 } });
  expect(await server.rows("select 1 from import_changes where project_id = $1", project.id)).toEqual([]);
});

/** Runs one step of an undo as a process that dies after its commit, or inside its transaction. */
async function stepAndDie(project: TestProject, jobId: string, dies: "inside" | "after"): Promise<void> {
  const key = { projectId: project.id, id: jobId };
  const claimId = newId();
  await server.rows("update jobs set due_at = now() where id = $1", jobId);
  await claimJob(server.database, { projectId: project.id, kinds: [UNDO_KIND], claimId, leaseMs: 60_000 });
  const death = new Error("The process died.");
  const step = transaction(server.database, async (tx) => {
    const row = await findClaimedForUpdate(tx, key, claimId);
    if (row === undefined) throw new Error("The job was claimed.");
    const { input, checkpoint, createdAt } = row;
    const outcome = await stepOfUndo(contactContext)(tx, { ...key, input, checkpoint, createdAt });
    if (outcome.done) throw new Error("The job has more steps.");
    const progress = Math.floor(outcome.progress);
    await updateJobStep(tx, key, {
      checkpoint: JSON.stringify(outcome.checkpoint),
      progress,
      leaseMs: 60_000,
    });
    if (dies === "inside") throw death;
  });
  const ended = await step.then(
    () => null,
    (error: unknown) => error,
  );
  expect(ended).toBe(dies === "inside" ? death : null);
}

test("an import can be undone once, after its end, within 30 days, unless it was a dry run", async () => {
  const project = await server.createProject(server.project.owner);
  const respond = async (jobId: string, method: "GET" | "POST" = "POST") => {
    const { status, body } = await server.call(method, pathOf(jobId), project.byKey);
    return `${status} ${status < 300 ? "" : body.error.message}`.trim();
  };
  const file = ["email", "ada@example.com"];
  const undone = await importRows(project, file);
  await runner.stop();
  const running = await queueImport(project, file);
  for (const method of ["GET", "POST"] as const)
    expect(await respond(running, method)).toBe("409 The import is still running. Undo it after it ends.");
  const asked = await Promise.all([respond(undone), respond(undone)]);
  const TWICE = "409 This was already undone or is being undone.";
  expect(asked.toSorted()).toEqual(["202", TWICE]);
  runner = runJobs();
  await endOfUndo(project, undone);
  expect(await respond(undone)).toBe(TWICE);
  expect(await show(project, undone)).toMatchObject({ counts: null, job: { result: { removedCount: 1 } } });
  const dry = await importRows(project, file, "?dryRun=true");
  expect(await respond(dry)).toMatch(/^409 This import was a dry run/);
  const old = await importRows(project, file);
  await server.rows("update jobs set input = input - 'isRecorded' where id = $1", old);
  expect(await respond(old)).toMatch(/^409 This import ran before Postloft could undo imports/);
  const late = await importRows(project, file);
  await server.rows("update jobs set finished_at = now() - interval '30 days' where id = $1", late);
  const TOO_LATE = "409 An import can only be undone within 30 days after its end.";
  expect(await respond(late)).toBe(TOO_LATE);
  await sweepJobs(server.database);
  expect(await server.rows("select 1 from import_changes where job_id = $1", late)).toEqual([]);
  const longAgo = `0190${randomUUID().slice(4, 14)}7${randomUUID().slice(15)}`;
  expect(await respond(longAgo)).toBe(TOO_LATE);
  expect(await respond(newId())).toMatch(/^404 /);
  const withoutTime = "00000000-0000-4000-8000-000000000001";
  expect(await respond(withoutTime)).toMatch(/^404 /);
  expect(await respond("x")).toMatch(/^404 /);
  const other = await server.createProject(server.project.owner);
  expect((await ask(other, old)).status).toBe(404);
});

test("a failed undo can be requested again and completes the rest", async () => {
  const project = await server.createProject(server.project.owner);
  const jobId = await importRows(project, [
    "email",
    ...Array.from({ length: 1_500 }, (_, at) => `p${at}@example.com`),
  ]);
  await runner.stop();
  const { body } = await ask(project, jobId);
  await stepAndDie(project, body.jobId, "after");
  await server.rows("update jobs set state = 'failed', finished_at = now() where id = $1", body.jobId);
  expect(await show(project, jobId)).toMatchObject({
    counts: { removedCount: 500 },
    job: { state: "failed" },
  });
  runner = runJobs();
  expect(await undo(project, jobId)).toEqual({ removedCount: 500 });
  expect(await contactsOf(project)).toEqual({});
});

test("the sweep keeps an old import while its undo runs", async () => {
  const project = await server.createProject(server.project.owner);
  const jobId = await importRows(project, ["email", "ada@example.com"]);
  await runner.stop();
  await ask(project, jobId);
  await server.rows("update jobs set finished_at = now() - interval '31 days' where id = $1", jobId);
  await sweepJobs(server.database);
  expect(await server.rows("select 1 from import_changes where job_id = $1", jobId)).toHaveLength(1);
  runner = runJobs();
  await vi.waitFor(async () => expect(await contactsOf(project)).toEqual({}), WAIT);
});

test("deleting a contact deletes its recorded previous values", async () => {
  const project = await server.createProject(server.project.owner);
  const ada = await create(project, "ada@example.com", { secret: "a secret of Ada" });
  await create(project, "bob@example.com", { secret: "a secret of Bob" });
  const jobId = await importRows(project, [
    "email,secret",
    "ada@example.com,new of Ada",
    "bob@example.com,new of Bob",
  ]);
  await server.call(contacts.deleteContact, project.byKey, { params: { id: ada } });
  const [row] = await server.rows<{ all: string }>(
    "select string_agg(i::text, '') as all from import_changes i where job_id = $1",
    jobId,
  );
  expect(row?.all).toContain("a secret of Bob");
  expect(row?.all).not.toMatch(/Ada/);
  expect(row?.all).not.toContain(ada);
  expect(await undo(project, jobId)).toEqual({ restoredCount: 1 });
});

test("large data of a contact is recorded under the keys of the file alone", async () => {
  const project = await server.createProject(server.project.owner);
  await create(project, "ada@example.com", { v: "old", note: FILLER.repeat(3) });
  const jobId = await importRows(project, ["email,v,new", "ada@example.com,new,1"]);
  const recorded = await server.rows(
    "select befores, afters from import_changes where job_id = $1 and kind = 'CHANGED'",
    jobId,
  );
  expect(recorded).toEqual([{ befores: [{ v: "old" }], afters: [{ v: "new", new: 1 }] }]);
});

test("values that would grow over a limit, and keys whose field was deleted since, stay as they are", async () => {
  const project = await server.createProject(server.project.owner);
  const large = "x".repeat(700_000);
  const full = await create(project, "full@example.com", { note: large });
  await create(project, "gone@example.com", { note: "old", extra: 1 });
  const jobId = await importRows(project, [
    "email,note,extra",
    "full@example.com,short,",
    `gone@example.com,new,"{""value"":null,""persistent"":true}"`,
  ]);
  await server.call(contacts.updateContact, project.byKey, {
    params: { id: full },
    body: { data: { other: large } },
  });
  await server.rows("delete from contact_fields where project_id = $1 and field = 'extra'", project.id);
  expect(await undo(project, jobId)).toEqual({ restoredCount: 1, keptCount: 2 });
  expect((await contactsOf(project))["gone"]).toEqual({ note: "old" });
});

test("lists the imports of a project, newest first, without dry runs", async () => {
  const project = await server.createProject();
  const other = await server.createProject();
  await importRows(other, ["email", "else@example.com"]);
  const first = await importRows(project, ["email", "a@example.com", "b@example.com"]);
  await importRows(project, ["email", "c@example.com"], "?dryRun=true");
  const second = await importRows(project, ["email,plan", "a@example.com,pro", "no address,pro"]);
  await ask(project, first);
  await endOfUndo(project, first);
  const list = async (query = {}) =>
    (await server.call(contactImport.listImports, project.byKey, { query })).body;
  const { data } = await list();
  expect(data.map(({ createdAt, finishedAt, ...one }) => [one, createdAt < (finishedAt ?? "")])).toEqual([
    [
      {
        jobId: second,
        state: "completed",
        createdCount: 0,
        updatedCount: 1,
        failureCount: 1,
        isUndone: false,
      },
      true,
    ],
    [
      { jobId: first, state: "completed", createdCount: 2, updatedCount: 0, failureCount: 0, isUndone: true },
      true,
    ],
  ]);
  const page = await list({ limit: 1 });
  expect(page.data.map(({ jobId }) => jobId)).toEqual([second]);
  expect((await list({ limit: 1, cursor: page.cursor })).data.map(({ jobId }) => jobId)).toEqual([first]);
});
