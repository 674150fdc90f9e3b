// The trigger DATE through the API: who enters when, and that each date lets a contact in at most once. Time passes because tests move all
// dates into the past.
import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import * as contactFields from "@postloft/contract/contact-fields.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executionsContract from "@postloft/contract/executions.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { asCluster } from "../../testing/as-cluster.ts";
import { faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../../testing/upload.ts";
import { holdWorkflows, releaseHeldWorkflows } from "../executions/held-workflows.ts";
import { react } from "../executions/react.ts";
import { claimDueDates, listProjectsWithDueDates } from "./date-queries.ts";
import { enterByDates } from "./enter-by-dates.ts";
import { DATES_JOB, datesStep } from "./follow-dates.ts";

const server = useTestServer({ ROLES: "api" });
const WAIT = { timeout: 30_000, interval: 20 };
const DAY_MS = 86_400_000;

/** Returns the day some days from now, of the same or another year. */
function inDays(days: number, years = 0): string {
  const date = new Date(Date.now() + days * DAY_MS);
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return date.toISOString().slice(0, 10);
}

const TRIAL = {
  dateField: "data.trialEndsAt",
  amount: 3,
  unit: "days",
  direction: "before",
  until: "09:00",
} as const;

/** Creates a workflow with this trigger and one email, and enables it. */
async function create({ byKey }: TestProject, triggerConfig: object, edit: object = {}): Promise<string> {
  const template = await server.call(templates.createTemplate, byKey, {
    body: {
      name: "Reminder",
      subject: "It is {{event.date}}",
      body: "b",
      type: "TRANSACTIONAL",
      from: "a@sandbox.localhost",
    },
  });
  const { id } = (await server.call(workflows.createWorkflow, byKey, { body: { name: "By date" } })).body;
  await server.call(workflowSteps.createStep, byKey, {
    params: { id },
    body: { type: "SEND_EMAIL", templateId: template.body.id, autoConnect: true },
  });
  const anyBody = { triggerType: "DATE", triggerConfig, enabled: true, ...edit };
  const saved = await server.call(workflows.updateWorkflow, byKey, { params: { id }, anyBody });
  expect([saved.status, faultsOf(saved)]).toEqual([200, []]);
  return id;
}

const edit = ({ byKey }: TestProject, id: string, anyBody: object) =>
  server.call(workflows.updateWorkflow, byKey, { params: { id }, anyBody });

async function put({ byKey }: TestProject, name: string, data: object): Promise<string> {
  const reply = await server.call(contacts.upsertContact, byKey, {
    anyBody: { email: `${name}@example.com`, data },
  });
  expect([200, 201]).toContain(reply.status);
  return reply.body.id;
}

/** Runs the queued jobs that compute times, then processes all changes of contacts, as the worker does. */
async function follow({ id: projectId }: TestProject): Promise<void> {
  const jobs = await server.rows<{ id: string; input: unknown; createdAt: Date }>(
    `delete from jobs where project_id = $1 and kind = $2 returning id, input, created_at as "createdAt"`,
    projectId,
    DATES_JOB,
  );
  for (const job of jobs) {
    let checkpoint: unknown = null;
    for (let isDone = false; !isDone;) {
      const step = { ...job, projectId, checkpoint };
      const outcome = await transaction(server.database, (tx) => datesStep(tx, step));
      isDone = outcome.done;
      checkpoint = outcome.done ? null : outcome.checkpoint;
    }
  }
  for (let isMore = true; isMore;) isMore = await react(server.database, projectId);
}

/** Lets all due contacts enter, as the worker does. */
async function enter({ id: projectId }: TestProject): Promise<void> {
  for (let isMore = true; isMore;)
    isMore = await transaction(server.database, (tx) => enterByDates(tx, projectId));
}

/**
 * Moves all dates of contacts, and the times computed from them, into the past. The new values are columns of a subquery, because a cluster
 * accepts no dates computed from the columns of an update.
 */
const letDaysPass = ({ id: projectId }: TestProject, key: string, days: number) =>
  server.rows(
    `with moved as (
       update contacts c set data = i.data
       from (
         select id, data || jsonb_build_object($2::text, to_char((data ->> $2)::date - $3::int, 'YYYY-MM-DD')) as data
         from contacts where project_id = $1 and data ? $2 offset 0
       ) i
       where c.project_id = $1 and c.id = i.id
     )
     update workflow_dates d set due_at = i.due_at, occurs_at = i.occurs_at
     from (
       select workflow_id, contact_id, due_at - make_interval(days => $3) as due_at, occurs_at - make_interval(days => $3) as occurs_at
       from workflow_dates where project_id = $1 offset 0
     ) i
     where d.project_id = $1 and d.workflow_id = i.workflow_id and d.contact_id = i.contact_id`,
    projectId,
    key,
    days,
  );

/** Makes the stored times due, which no longer follow from the dates then. */
const makeDue = ({ id: projectId }: TestProject) =>
  server.rows("update workflow_dates set due_at = now() where project_id = $1", projectId);

/** Returns the first 13 characters of an id made at a time. */
function firstHalf(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Moves all changes that wait to be processed an hour into the past. */
const letChangesAge = ({ id: projectId }: TestProject) =>
  server.rows(
    `update event_reactions set id = overlay(id::text placing $2 from 1 for 13)::uuid where project_id = $1`,
    projectId,
    firstHalf(Date.now() - 3_600_000),
  );

/** Moves the time since which a workflow has its trigger two hours into the past. */
const letTriggerAge = ({ id: projectId }: TestProject, id: string) =>
  server.rows(
    `update workflows w set dates_since = i.since
     from (select dates_since - interval '2 hours' as since from workflows where project_id = $1 and id = $2 offset 0) i
     where w.project_id = $1 and w.id = $2`,
    projectId,
    id,
  );

/** Ends the executions of a project. */
const complete = ({ id: projectId }: TestProject) =>
  server.rows(
    "update workflow_executions set status = 'COMPLETED', due_at = null where project_id = $1",
    projectId,
  );

/** Returns the stored times of a project by the name of the contact. */
async function timesOf({ id: projectId }: TestProject): Promise<Record<string, string>> {
  const rows = await server.rows<{ email: string; dueAt: Date }>(
    `select email, due_at as "dueAt" from workflow_dates d join contacts c on c.project_id = d.project_id and c.id = d.contact_id
     where d.project_id = $1 order by email`,
    projectId,
  );
  return Object.fromEntries(
    rows.map(({ email, dueAt }) => [email.replace("@example.com", ""), dueAt.toISOString()]),
  );
}

async function list({ byKey }: TestProject, id: string) {
  return (await server.call(executionsContract.listExecutions, byKey, { params: { id } })).body.executions;
}

/** Returns the names of the contacts that entered, each as often as it did. */
async function entered(project: TestProject, id: string): Promise<string[]> {
  return (await list(project, id))
    .map(({ contact }) => contact?.email.replace("@example.com", "") ?? "")
    .toSorted();
}

const why = async ({ byKey }: TestProject, id: string, contactId: string) =>
  (await server.call(questions.explainEntry, byKey, { params: { id }, body: { contactId } })).body;

test("a trial reminder is sent once, three days before the end at 9:00 in the contact's zone", async () => {
  const project = await server.createProject();
  await put(project, "ada", { trialEndsAt: inDays(10), timezone: "Asia/Kolkata" });
  await put(project, "bob", { trialEndsAt: inDays(30) });
  const id = await create(project, { ...TRIAL, timezone: "contact" });
  const worker = await server.startAnother({ ROLES: "worker" });
  const due = { ada: `${inDays(7)}T03:30:00.000Z`, bob: `${inDays(27)}T09:00:00.000Z` };
  await expect.poll(() => timesOf(project), WAIT).toEqual(due);
  expect(await entered(project, id)).toEqual([]);
  await letDaysPass(project, "trialEndsAt", 8);
  await expect.poll(() => list(project, id), WAIT).toMatchObject([{ status: "COMPLETED" }]);
  const [one] = await list(project, id);
  const params = { id, executionId: one?.id ?? "" };
  const { body } = await server.call(executionsContract.getExecution, project.byKey, { params });
  expect(body.context).toEqual({ date: inDays(2), scheduledAt: `${inDays(-1)}T03:30:00.000Z` });
  expect(body.startedAt).toBe(`${inDays(-1)}T03:30:00.000Z`);
  await vi.waitFor(async () => {
    const mails = await server.call(mailbox.listMessages, project.byKey);
    expect(mails.body.data).toMatchObject([{ to: "ada@example.com", subject: `It is ${inDays(2)}` }]);
  }, WAIT);
  await worker.stop();
  expect(await entered(project, id)).toEqual(["ada"]);
});

test("a birthday lets a contact enter each year", async () => {
  const project = await server.createProject();
  await put(project, "ada", { birthday: inDays(2, -4) });
  const yearly = { dateField: "data.birthday", repeat: "yearly", until: "09:00" };
  const id = await create(project, yearly, { allowReentry: true });
  await follow(project);
  expect(await timesOf(project)).toEqual({ ada: `${inDays(2)}T09:00:00.000Z` });
  // The next birthday is moved to yesterday or today, which must be another date than this one.
  await letDaysPass(project, "birthday", 5);
  await enter(project);
  expect(await entered(project, id)).toEqual(["ada"]);
  expect(await timesOf(project)).toEqual({ ada: `${inDays(-3, 1)}T09:00:00.000Z` });
  // The first execution has ended when the next birthday comes.
  await complete(project);
  const [row] = await server.rows<{ days: number }>(
    "select ceil(extract(epoch from due_at - now()) / 86400)::int as days from workflow_dates where workflow_id = $1",
    id,
  );
  await letDaysPass(project, "birthday", row?.days ?? 0);
  await enter(project);
  expect(await entered(project, id)).toEqual(["ada", "ada"]);
});

test("a changed date moves the entry, and a removed or past date cancels it", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  await put(project, "moves", { trialEndsAt: inDays(10) });
  await put(project, "removes", { trialEndsAt: inDays(10) });
  await put(project, "passes", { trialEndsAt: inDays(10) });
  await put(project, "breaks", { trialEndsAt: inDays(10) });
  await put(project, "other", { plan: "pro" });
  await follow(project);
  const before = `${inDays(7)}T09:00:00.000Z`;
  expect(await timesOf(project)).toEqual({ breaks: before, moves: before, passes: before, removes: before });
  await put(project, "moves", { trialEndsAt: inDays(20) });
  await put(project, "removes", { trialEndsAt: null });
  await put(project, "passes", { trialEndsAt: inDays(2) });
  await put(project, "breaks", { trialEndsAt: "soon" });
  // Until the changes are processed, the stored times are outdated.
  await makeDue(project);
  await enter(project);
  await follow(project);
  expect(await timesOf(project)).toEqual({ moves: `${inDays(17)}T09:00:00.000Z` });
  await enter(project);
  expect(await entered(project, id)).toEqual([]);
});

test("a zone that changes moves the entry", async () => {
  const project = await server.createProject();
  await create(project, { ...TRIAL, timezone: "contact" });
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await follow(project);
  await put(project, "ada", { timezone: "Asia/Kolkata" });
  await follow(project);
  expect(await timesOf(project)).toEqual({ ada: `${inDays(7)}T03:30:00.000Z` });
});

test("imported contacts enter at their dates", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  await follow(project);
  const worker = await server.startAnother({ ROLES: "worker" });
  const csv = `email,trialEndsAt\nada@example.com,${inDays(10)}\nbob@example.com,${inDays(1)}\n`;
  const started = await uploadCsv(server.call, project.byKey, csv);
  await endOfImport(server.call, project.byKey, started.body.jobId);
  await expect.poll(() => timesOf(project), WAIT).toEqual({ ada: `${inDays(7)}T09:00:00.000Z` });
  await letDaysPass(project, "trialEndsAt", 8);
  await expect.poll(() => entered(project, id), WAIT).toEqual(["ada"]);
  await worker.stop();
});

test("a contact that is being created while the workflow is enabled enters at its date", async () => {
  const project = await server.createProject();
  const connection = await server.pool.connect();
  await connection.query("begin");
  await connection.query(
    `insert into contacts (project_id, id, email, subscribed, data)
     values ($1, new_id(), 'ada@example.com', true, jsonb_build_object('trialEndsAt', $2::text))`,
    [project.id, inDays(10)],
  );
  const workflowId = await create(project, TRIAL);
  const step = (checkpoint: unknown) =>
    transaction(server.database, (tx) =>
      datesStep(tx, {
        projectId: project.id,
        id: newId(),
        input: { workflowId },
        checkpoint,
        createdAt: new Date(),
      }),
    );
  const begun = await step(null);
  const checkpoint = begun.done ? null : begun.checkpoint;
  expect(await step(checkpoint)).toMatchObject({ done: false, checkpoint });
  await connection.query("commit");
  connection.release();
  await vi.waitFor(async () => {
    await step(checkpoint);
    expect(Object.keys(await timesOf(project))).toEqual(["ada"]);
  }, WAIT);
});

test("dates that passed before the workflow was enabled let no one in", async () => {
  const project = await server.createProject();
  await put(project, "ada", { trialEndsAt: inDays(2) });
  await put(project, "bob", { trialEndsAt: inDays(-400) });
  const id = await create(project, TRIAL);
  await follow(project);
  await put(project, "ada", { plan: "pro" });
  await follow(project);
  await enter(project);
  expect(await timesOf(project)).toEqual({});
  expect(await entered(project, id)).toEqual([]);
});

test("a time that came while no worker ran lets the contact in late", async () => {
  const project = await server.createProject();
  const id = await create(project, { dateField: "data.at" });
  await follow(project);
  const at = new Date(Date.now() - 60_000).toISOString();
  await put(project, "ada", { at });
  await letChangesAge(project);
  await put(project, "late", { at });
  await letTriggerAge(project, id);
  await follow(project);
  await enter(project);
  expect(await entered(project, id)).toEqual(["ada"]);
});

test("contacts enter up to seven days late", async () => {
  const project = await server.createProject();
  const id = await create(project, { dateField: "data.at" });
  await put(project, "ada", { at: inDays(1) });
  await put(project, "bob", { at: inDays(3) });
  await follow(project);
  await letDaysPass(project, "at", 9);
  await enter(project);
  expect(await entered(project, id)).toEqual(["bob"]);
  expect(await timesOf(project)).toEqual({});
});

test("a contact that changes while its entry is overdue still enters, once", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL, { allowReentry: true });
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 8);
  await put(project, "ada", { plan: "pro" });
  await follow(project);
  await enter(project);
  await put(project, "ada", { plan: "free" });
  await follow(project);
  await enter(project);
  expect(await entered(project, id)).toEqual(["ada"]);
});

test("each date lets a contact in once, also after an edit, a repetition and enabling again", async () => {
  const project = await server.createProject();
  const at = new Date(Date.now() + 5_000).toISOString();
  const before = { dateField: "data.at", amount: 1, unit: "minutes", direction: "before" };
  const id = await create(project, before, { allowReentry: true });
  await put(project, "ada", { at });
  // As if the contact had changed before its time and the change was processed after it.
  const processLate = async () => {
    await letChangesAge(project);
    await follow(project);
    await enter(project);
    await complete(project);
  };
  await letTriggerAge(project, id);
  await processLate();
  expect(await entered(project, id)).toEqual(["ada"]);
  await put(project, "ada", { plan: "pro" });
  await processLate();
  // The same date at another time.
  for (const enabled of [false, true]) await edit(project, id, { enabled });
  await edit(project, id, { triggerConfig: { dateField: "data.at" } });
  await follow(project);
  await vi.waitFor(async () => {
    await enter(project);
    expect(await timesOf(project)).toEqual({});
  }, WAIT);
  expect(await entered(project, id)).toEqual(["ada"]);
});

test("a later date lets a contact in again only with re-entry", async () => {
  const project = await server.createProject();
  const once = await create(project, TRIAL);
  const often = await create(project, TRIAL, { allowReentry: true });
  for (let round = 0; round < 2; round++) {
    await put(project, "ada", { trialEndsAt: inDays(10 + round) });
    await follow(project);
    await letDaysPass(project, "trialEndsAt", 9);
    await enter(project);
    await complete(project);
  }
  expect(await entered(project, once)).toEqual(["ada"]);
  expect(await entered(project, often)).toEqual(["ada", "ada"]);
});

test("an edit of the trigger moves all entries, and disabling removes them", async () => {
  const project = await server.createProject();
  await put(project, "ada", { trialEndsAt: inDays(10), paidUntil: inDays(20) });
  const id = await create(project, TRIAL);
  await follow(project);
  await edit(project, id, { triggerConfig: { ...TRIAL, dateField: "data.paidUntil" } });
  // Before the job runs, the time of the earlier trigger starts nothing.
  await makeDue(project);
  await enter(project);
  await follow(project);
  expect(await timesOf(project)).toEqual({ ada: `${inDays(17)}T09:00:00.000Z` });
  await edit(project, id, { enabled: false });
  await follow(project);
  expect(await timesOf(project)).toEqual({});
  await edit(project, id, { enabled: true });
  await follow(project);
  expect(await timesOf(project)).toEqual({ ada: `${inDays(17)}T09:00:00.000Z` });
  await edit(project, id, { triggerType: "MANUAL", triggerConfig: {} });
  await follow(project);
  expect(await timesOf(project)).toEqual({});
  expect(await entered(project, id)).toEqual([]);
});

test("a time that was due before the workflow was enabled again starts nothing", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 8);
  for (const enabled of [false, true]) await edit(project, id, { enabled });
  await enter(project);
  await follow(project);
  await enter(project);
  expect(await entered(project, id)).toEqual([]);
});

test("only contacts in the audience at the time enter", async () => {
  const project = await server.createProject();
  const filters = {
    operator: "AND",
    conditions: [{ field: "data.plan", operator: "equals", value: "trial" }],
  };
  const segment = await server.call(segments.createSegment, project.byKey, {
    anyBody: { name: "Trial users", filters },
  });
  const bySegment = await create(project, { ...TRIAL, segmentId: segment.body.id });
  const byFilter = await create(project, { ...TRIAL, audienceFilter: filters });
  await put(project, "ada", { trialEndsAt: inDays(10), plan: "trial" });
  await put(project, "bob", { trialEndsAt: inDays(10), plan: "trial" });
  await follow(project);
  await put(project, "bob", { plan: "pro" });
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 8);
  await enter(project);
  expect(await entered(project, bySegment)).toEqual(["ada"]);
  expect(await entered(project, byFilter)).toEqual(["ada"]);
  expect(await timesOf(project)).toEqual({});
});

test("deleting a contact or the field removes the entry", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  const ada = await put(project, "ada", { trialEndsAt: inDays(10) });
  await put(project, "bob", { trialEndsAt: inDays(10) });
  await follow(project);
  await server.call(contacts.deleteContact, project.byKey, { params: { id: ada } });
  expect(Object.keys(await timesOf(project))).toEqual(["bob"]);
  const params = { field: "data.trialEndsAt" };
  const usage = await server.call(contactFields.getFieldUsage, project.byKey, { params });
  expect(usage.body.usedInWorkflows).toEqual([{ id, name: "By date" }]);
  await server.call(contactFields.deleteContactField, project.byKey, { params });
  // The value is hidden before the job removes it.
  await makeDue(project);
  await enter(project);
  expect(await timesOf(project)).toEqual({});
  expect(await entered(project, id)).toEqual([]);
});

test("a disabled project lets no one in until it is enabled again", async () => {
  const project = await server.createProject();
  await create(project, TRIAL);
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 8);
  const isListed = async () => {
    const lists = [
      await listProjectsWithDueDates(server.database),
      await asCluster(server.pool, listProjectsWithDueDates),
    ];
    return lists.map((ids) => ids.includes(project.id));
  };
  expect(await isListed()).toEqual([true, true]);
  await server.rows("update projects set disabled = true where id = $1", project.id);
  expect(await isListed()).toEqual([false, false]);
});

test("after a rollback of the database due contacts enter held, and a release continues them", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 8);
  await transaction(server.database, (tx) => holdWorkflows(tx));
  expect(await list(project, id)).toMatchObject([{ status: "RUNNING", nextAt: null }]);
  await enter(project);
  expect(await entered(project, id)).toEqual(["ada"]);
  await transaction(server.database, (tx) => releaseHeldWorkflows(tx, project.id));
  const isDue = "select 1 from workflow_executions where workflow_id = $1 and due_at <= now()";
  expect(await server.rows(isDue, id)).toHaveLength(1);
});

test("an execution counts as started with a public key if such a call set its date", async () => {
  const project = await server.createProject();
  await create(project, TRIAL);
  await put(project, "ada", { trialEndsAt: inDays(10) });
  await put(project, "bob", { trialEndsAt: inDays(10) });
  await follow(project);
  const body = { email: "ada@example.com", event: "seen", data: { trialEndsAt: inDays(11) } };
  const tracked = await server.call("POST", "/v1/track", { key: project.publicKey }, body);
  expect(tracked.status).toBe(200);
  await follow(project);
  await letDaysPass(project, "trialEndsAt", 10);
  await enter(project);
  const rows = await server.rows(
    `select email, x.from_public_key as "fromPublicKey" from workflow_executions x
     join contacts c on c.project_id = x.project_id and c.id = x.contact_id where x.project_id = $1 order by email`,
    project.id,
  );
  expect(rows).toEqual([
    { email: "ada@example.com", fromPublicKey: true },
    { email: "bob@example.com", fromPublicKey: null },
  ]);
});

test("10,000 due contacts enter once in bounded batches, also with several workers and after a crash", async () => {
  const project = await server.createProject();
  const id = await create(project, { dateField: "data.at" });
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, gen_random_uuid(), 'c' || n || '@example.com', true, jsonb_build_object('at', $2::text) from generate_series(1, 10000) n`,
    project.id,
    inDays(1),
  );
  await follow(project);
  expect(Object.keys(await timesOf(project))).toHaveLength(10_000);
  await letDaysPass(project, "at", 2);
  const batch = await transaction(server.database, (tx) => claimDueDates(tx, project.id, 500));
  expect(batch).toHaveLength(500);
  const crash = transaction(server.database, async (tx) => {
    await enterByDates(tx, project.id);
    throw new Error("crash");
  });
  await expect(crash).rejects.toThrow("crash");
  expect(await server.rows("select 1 from workflow_executions where workflow_id = $1", id)).toEqual([]);
  const isMore = await transaction(server.database, (tx) => enterByDates(tx, project.id));
  expect(isMore).toBe(true);
  const first = await server.rows("select 1 from workflow_executions where workflow_id = $1", id);
  expect(first).toHaveLength(500);
  await Promise.all([enter(project), enter(project), enter(project)]);
  // A worker that skipped the locked rows of another one finishes first.
  await enter(project);
  const counts = await server.rows(
    "select count(*)::int as all, count(distinct contact_id)::int as contacts from workflow_executions where workflow_id = $1",
    id,
  );
  expect(counts).toEqual([{ all: 10_000, contacts: 10_000 }]);
  expect(await timesOf(project)).toEqual({});
});

test("finding due contacts reads no others", async () => {
  const project = await server.createProject();
  const id = await create(project, { dateField: "data.at" });
  await server.rows(
    `with made as (
       insert into contacts (project_id, id, email, subscribed)
       select $1, gen_random_uuid(), 'i' || n || '@example.com', true from generate_series(1, 20000) n returning id
     )
     insert into workflow_dates (project_id, workflow_id, contact_id, occurs_at, due_at, since)
     select $1, $2, id, now(), now() + interval '1 hour' + random() * interval '9 days', now() from made`,
    project.id,
    id,
  );
  await server.rows(
    `update workflow_dates set due_at = now()
     where project_id = $1 and contact_id in (select contact_id from workflow_dates where project_id = $1 limit 3)`,
    project.id,
  );
  const read = await transaction(server.database, async (tx) => {
    // The connection may also count earlier statements.
    const countRead = async () => {
      const { rows } = await sql<{ count: number }>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as count from pg_stat_xact_user_tables
        where relname in ('workflow_dates', 'contacts')`.execute(tx);
      return rows[0]?.count ?? 0;
    };
    const before = await countRead();
    expect(await claimDueDates(tx, project.id, 500)).toHaveLength(3);
    return (await countRead()) - before;
  });
  expect(read).toBeLessThan(50);
});

test("explains when a contact enters, and why it does not", async () => {
  const project = await server.createProject();
  const filters = { operator: "AND", conditions: [{ field: "data.plan", operator: "exists" }] };
  const id = await create(project, { ...TRIAL, timezone: "contact", audienceFilter: filters });
  const ada = await put(project, "ada", { trialEndsAt: inDays(10), plan: "x", timezone: "Asia/Kolkata" });
  const bob = await put(project, "bob", { trialEndsAt: inDays(10) });
  const cyd = await put(project, "cyd", { plan: "x", trialEndsAt: inDays(1) });
  const dee = await put(project, "dee", { plan: "x" });
  const reasons = async (contactId: string) => {
    const { wouldEnter, reasons: all } = await why(project, id, contactId);
    const shown = all.filter(({ rule }) => rule === "trigger" || rule === "audience");
    return [wouldEnter, ...shown.map(({ message }) => message)];
  };
  const IN = "The contact is in the audience of the trigger.";
  expect(await reasons(ada)).toEqual([true, `The contact enters at ${inDays(7)}T03:30:00.000Z.`, IN]);
  expect(await reasons(bob)).toEqual([
    false,
    `The contact enters at ${inDays(7)}T09:00:00.000Z. The contact has no “data.timezone”, so UTC was used.`,
    "The contact is not in the audience of the trigger.",
  ]);
  expect(await reasons(cyd)).toEqual([false, `The time ${inDays(-2)}T09:00:00.000Z has passed.`, IN]);
  expect(await reasons(dee)).toEqual([false, "“data.trialEndsAt” has no value.", IN]);
});

test("a simulation without a context gets the contact's next date", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL);
  const contactId = await put(project, "ada", { trialEndsAt: inDays(10) });
  const { body } = await server.call(questions.simulateWorkflow, project.byKey, {
    params: { id },
    body: { contactId },
  });
  expect(body.emails).toMatchObject([{ subject: `It is ${inDays(10)}` }]);
});

test("reports a field without dates and a yearly trigger without re-entry", async () => {
  const project = await server.createProject();
  const id = await create(project, { dateField: "data.born", repeat: "yearly" });
  const problems = async () => {
    const { body } = await server.call(workflows.getWorkflow, project.byKey, { params: { id } });
    return body.problems.map(({ code, severity, message }) => `${code} ${severity} ${message}`);
  };
  const ONE_YEAR =
    "ONE_YEAR_ONLY warning The trigger repeats each year, but each contact enters only once. Allow re-entry.";
  expect(await problems()).toEqual([
    "NO_DATES warning No contact has a value in `data.born`, so no contact enters.",
    ONE_YEAR,
  ]);
  await put(project, "ada", { born: "long ago" });
  expect(await problems()).toEqual([
    "NO_DATES warning The field `data.born` has the type string. Only contacts with a date such as 2027-01-31 or 2027-01-31T09:00:00Z enter.",
    ONE_YEAR,
  ]);
  await put(project, "bob", { born: "1990-05-04T10:00:00+02:00" });
  expect(await problems()).toEqual([ONE_YEAR]);
  await edit(project, id, { allowReentry: true, triggerConfig: { dateField: "data.due", repeat: "yearly" } });
  await put(project, "ada", { due: inDays(10) });
  expect(await problems()).toEqual([]);
});

test("rejects a loop in which a step sets the date of the trigger from a variable", async () => {
  const project = await server.createProject();
  const id = await create(project, TRIAL, { allowReentry: true });
  const addUpdate = (value: string) =>
    server.call(workflowSteps.createStep, project.byKey, {
      params: { id },
      anyBody: { type: "UPDATE_CONTACT", config: { updates: { trialEndsAt: value } }, autoConnect: true },
    });
  expect((await addUpdate("2027-01-01")).status).toBe(201);
  const refused = await addUpdate("{{event.next}}");
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("would trigger itself endlessly");
});

test("a copy and an import keep the trigger, with the segment of the other project", async () => {
  const project = await server.createProject();
  const other = await server.createProject();
  const segmentOf = async ({ byKey }: TestProject) => {
    const filters = { operator: "AND", conditions: [{ field: "data.plan", operator: "exists" }] };
    return (await server.call(segments.createSegment, byKey, { anyBody: { name: "Payers", filters } })).body
      .id;
  };
  const [here, there] = [await segmentOf(project), await segmentOf(other)];
  const id = await create(project, { ...TRIAL, segmentId: here });
  const copy = await server.call(workflows.duplicateWorkflow, project.byKey, { params: { id } });
  expect(copy.body).toMatchObject({
    enabled: false,
    triggerType: "DATE",
    triggerConfig: { ...TRIAL, segmentId: here },
  });
  const { body: document } = await server.call(versions.exportWorkflow, project.byKey, { params: { id } });
  const imported = await server.call(versions.importWorkflow, other.byKey, {
    anyBody: document,
    query: { allowMissing: "true" },
  });
  expect(imported.body).toMatchObject({
    enabled: false,
    triggerType: "DATE",
    triggerConfig: { ...TRIAL, segmentId: there },
  });
});

test("rejects a DATE trigger with unknown fields or an unknown segment, and one without a field when enabled", async () => {
  const project = await server.createProject();
  const { id } = (await server.call(workflows.createWorkflow, project.byKey, { body: { name: "w" } })).body;
  const faults = async (triggerConfig: object) =>
    faultsOf(await edit(project, id, { triggerType: "DATE", triggerConfig }));
  expect(await faults({ ...TRIAL, at: "09:00" })).toEqual(["triggerConfig.at unknown_field"]);
  expect(await faults({ ...TRIAL, segmentId: newId() })).toEqual(["triggerConfig.segmentId custom"]);
  expect(await faults({})).toEqual(["triggerConfig.dateField required"]);
});
