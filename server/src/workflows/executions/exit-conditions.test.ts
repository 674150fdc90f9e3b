// Exit conditions and goals through the whole service: who leaves, when, why, that nothing is sent afterwards, and what counts as success.
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executionsContract from "@postloft/contract/executions.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { transaction } from "../../platform/database/database.ts";
import { faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf, trackEvent, type DrawnStep } from "../../testing/workflow-fixture.ts";
import { insertExecutions } from "./entry-queries.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const EMAIL = "ada@example.com";
const DAY: DrawnStep = ["stay", "DELAY", { amount: 1, unit: "days" }];

const track = (project: TestProject, event: string, data?: object) =>
  trackEvent(server, project, EMAIL, event, data);

async function makeTemplate({ byKey }: TestProject) {
  const body = {
    name: "Reminder",
    subject: "s",
    body: "b",
    type: "TRANSACTIONAL",
    from: "a@sandbox.localhost",
  } as const;
  return (await server.call(templates.createTemplate, byKey, { body })).body.id;
}

async function makeSegment({ byKey }: TestProject, tracked: boolean) {
  const filters = {
    operator: "AND",
    conditions: [{ field: "data.plan", operator: "equals", value: "trial" }],
  } as const;
  const body = { name: "Trial users", filters, trackMembership: tracked };
  return (await server.call(segments.createSegment, byKey, { body })).body.id;
}

/** Draws: trigger "go", the step to stay at, an email. */
async function draw(project: TestProject, conditions: readonly object[], stay: DrawnStep = DAY) {
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "go" }, event: "go" },
    allowReentry: true,
    steps: [
      ["trigger", "TRIGGER"],
      stay,
      ["email", "SEND_EMAIL", { templateId: await makeTemplate(project) }],
    ],
    links: [
      ["trigger", "stay"],
      ["stay", "email"],
    ],
  });
  const saved = await update(project, workflow.id, { exitConditions: conditions });
  expect([saved.status, faultsOf(saved)]).toEqual([200, []]);
  return workflow;
}

const update = ({ byKey }: TestProject, id: string, anyBody: object) =>
  server.call(workflows.updateWorkflow, byKey, { params: { id }, anyBody });

async function list({ byKey }: TestProject, id: string) {
  return (await server.call(executionsContract.listExecutions, byKey, { params: { id } })).body.executions;
}

async function reach(project: TestProject, id: string, status: string) {
  await vi.waitFor(async () => expect(await list(project, id)).toMatchObject([{ status }]), WAIT);
  const [one] = await list(project, id);
  const params = { id, executionId: one?.id ?? "" };
  return (await server.call(executionsContract.getExecution, project.byKey, { params })).body;
}

async function change({ byKey }: TestProject, data: object) {
  const reply = await server.call(contacts.upsertContact, byKey, { anyBody: { email: EMAIL, data } });
  expect([200, 201]).toContain(reply.status);
}

/** Waits until everything that happened in a project was noticed. */
const settle = ({ id }: TestProject) =>
  vi.waitFor(
    async () =>
      expect(
        await server.rows(
          "select 1 from event_reactions where project_id = $1 and subscriber = 'workflows'",
          id,
        ),
      ).toEqual([]),
    WAIT,
  );

const countEmails = async ({ id }: TestProject) =>
  (await server.rows("select 1 from emails where project_id = $1", id)).length;

const hour = (of: number) => `2026-03-01T${of}:00:00.000Z`;

const OWN_CART = {
  operator: "AND",
  conditions: [{ field: "data.cartId", operator: "equals", value: "{{event.cartId}}" }],
};
const IS_PRO = {
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "equals", value: "pro" }],
} as const;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const PURCHASE: ExitCondition = { type: "EVENT", eventName: "purchase" };

test.concurrent.each<{
  when: string;
  conditions: (segmentId: string) => object[];
  tracked?: boolean;
  step?: DrawnStep;
  stay: (project: TestProject) => Promise<unknown>;
  leave: (project: TestProject) => Promise<unknown>;
  reason: (segmentId: string) => string;
}>([
  {
    when: "an event happens during a DELAY",
    conditions: () => [PURCHASE],
    stay: (project) => track(project, "visit"),
    leave: (project) => track(project, "purchase"),
    reason: () => 'Exit condition: the event "purchase" happened.',
  },
  {
    when: "the event of a wait happens with matching data",
    conditions: () => [{ ...PURCHASE, filter: OWN_CART }],
    step: ["stay", "WAIT_FOR_EVENT", { eventName: "visit" }],
    stay: (project) => track(project, "purchase", { cartId: "other" }),
    leave: (project) => track(project, "purchase", { cartId: "own" }),
    reason: () => 'Exit condition: the event "purchase" happened.',
  },
  {
    when: "an event happens while a WEBHOOK is retried",
    conditions: () => [{ type: "FILTER", filter: IS_PRO }, PURCHASE],
    step: ["stay", "WEBHOOK", { url: "http://127.0.0.1:1024/closed" }],
    stay: (project) => track(project, "visit"),
    leave: (project) => track(project, "purchase"),
    reason: () => 'Exit condition: the event "purchase" happened.',
  },
  {
    when: "the contact matches a filter",
    conditions: () => [{ type: "FILTER", filter: IS_PRO }],
    stay: (project) => change(project, { seats: 2 }),
    leave: (project) => change(project, { plan: "pro" }),
    reason: () => 'Exit condition: data.plan equals "pro"',
  },
  ...[true, false].map((tracked) => ({
    when: `the contact leaves a segment ${tracked ? "with" : "without"} tracked members`,
    conditions: (segmentId: string) => [{ type: "SEGMENT", segmentId }],
    tracked,
    stay: (project: TestProject) => change(project, { seats: 2 }),
    leave: (project: TestProject) => change(project, { plan: "pro" }),
    reason: () => 'Exit condition: the contact is not in the segment "Trial users".',
  })),
])("ends an execution when $when", async ({ conditions, tracked = true, step, stay, leave, reason }) => {
  const project = await server.createProject();
  await change(project, { plan: "trial" });
  const segmentId = await makeSegment(project, tracked);
  const workflow = await draw(project, conditions(segmentId), step);
  await track(project, "go", { cartId: "own" });
  await reach(project, workflow.id, "WAITING");
  await stay(project);
  await settle(project);
  const waiting = await reach(project, workflow.id, "WAITING");
  expect(waiting.steps.map(({ name, status }) => [name, status])).toEqual([
    ["trigger", "COMPLETED"],
    ["stay", "WAITING"],
  ]);
  await leave(project);
  const exited = await reach(project, workflow.id, "EXITED");
  expect(exited.exitReason).toBe(reason(segmentId));
  expect(exited.steps.at(-1)).toMatchObject({ name: "stay", status: "CANCELLED" });
  expect(exited).toMatchObject({ nextAt: null, waitsFor: null, currentStepId: null });
  const { body } = await server.call(questions.countSteps, project.byKey, { params: { id: workflow.id } });
  expect(body).toMatchObject({ active: 0, steps: [{}, { entered: 1, waiting: 0, cancelled: 1 }] });
  const calls = "select 1 from webhook_calls where project_id = $1 and ended_at is null";
  expect([await countEmails(project), await server.rows(calls, project.id)]).toEqual([0, []]);
});

test("ends an execution that was stored only after its exit event was noticed", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, [PURCHASE]);
  const contactId = await track(project, "visit");
  await track(project, "purchase");
  await settle(project);
  // Started before the event but stored after it was noticed, as by a process that is slow.
  const slow = { ...entryOf(workflow, contactId), startedAt: new Date(Date.now() - 3_600_000) };
  await transaction(server.database, (tx) => insertExecutions(tx, project.id, [slow]));
  expect(await reach(project, workflow.id, "EXITED")).toMatchObject({ steps: [] });
});

test("leaves finished executions alone, and does not resume a failed one after its exit event", async () => {
  const project = await server.createProject();
  const workflow = await draw(
    project,
    [PURCHASE],
    ["stay", "WEBHOOK", { url: "http://127.0.0.1:1024/{{event.missing}}" }],
  );
  await track(project, "go");
  const failed = await reach(project, workflow.id, "FAILED");
  await track(project, "purchase");
  await settle(project);
  expect(await reach(project, workflow.id, "FAILED")).toMatchObject({ exitReason: failed.exitReason });
  const params = { id: workflow.id, executionId: failed.id };
  expect((await server.call(executionsContract.skipExecution, project.byKey, { params })).status).toBe(200);
  expect(await reach(project, workflow.id, "EXITED")).toMatchObject({
    exitReason: 'Exit condition: the event "purchase" happened.',
  });
  expect(await countEmails(project)).toBe(0);
});

test.concurrent.each<{
  when: string;
  goal: object;
  after: (project: TestProject) => Promise<unknown>;
  reached: boolean;
}>([
  {
    when: "its event happens during the workflow",
    goal: {},
    after: (project) => track(project, "purchase"),
    reached: true,
  },
  {
    when: "its event has matching data",
    goal: { filter: OWN_CART },
    after: async (project) => {
      await track(project, "purchase", { cartId: "other" });
      await track(project, "purchase", { cartId: "own" });
      await track(project, "purchase", { cartId: "own" });
    },
    reached: true,
  },
  {
    when: "its event has other data, so it is not reached",
    goal: { filter: OWN_CART },
    after: (project) => track(project, "purchase", { cartId: "other" }),
    reached: false,
  },
  {
    when: "its event happens after the window, so it is not reached",
    goal: { days: 2 },
    after: async (project) => {
      const past =
        "update workflow_executions set started_at = now() - interval '3 days' where project_id = $1";
      await server.rows(past, project.id);
      await track(project, "purchase");
    },
    reached: false,
  },
  {
    when: "the execution has ended",
    goal: { days: 2 },
    after: async (project) => {
      const end =
        "update workflow_executions set status = 'COMPLETED', due_at = null, step_id = null, ended_at = now() where project_id = $1";
      await server.rows(end, project.id);
      await track(project, "purchase");
    },
    reached: true,
  },
])("counts a goal once: $when", async ({ goal, after, reached }) => {
  const project = await server.createProject();
  const { byKey } = project;
  const workflow = await draw(project, []);
  const params = { id: workflow.id };
  const saved = await update(project, workflow.id, { goal: { eventName: "purchase", days: 7, ...goal } });
  expect([saved.status, saved.body.goal]).toMatchObject([200, { eventName: "purchase" }]);
  const contactId = await track(project, "go", { cartId: "own" });
  const { status } = await reach(project, workflow.id, "WAITING");
  await after(project);
  await settle(project);
  const [one] = await list(project, workflow.id);
  expect([status, one?.goalReachedAt === null]).toEqual(["WAITING", !reached]);
  const stats = await server.call(questions.countSteps, byKey, { params });
  const rate = reached ? 1 : 0;
  expect(stats.body.goal).toEqual({ executions: 1, reached: rate, goalRate: rate });
  const { body } = await server.call(workflows.listWorkflows, byKey, {});
  expect(body.data[0]?.last30Days).toMatchObject({ entered: 1, goals: rate, goalRate: rate });
  expect(contactId).toBe(one?.contactId);
});

test("leaves at the goal if it says so, counts it without a timely outbox event, and simulates it", async () => {
  const project = await server.createProject();
  const goal = { eventName: "purchase", days: 7, exits: true };
  const workflow = await draw(project, []);
  expect((await update(project, workflow.id, { goal })).status).toBe(200);
  const contactId = await track(project, "visit");
  await track(project, "purchase");
  await settle(project);
  const slow = { ...entryOf(workflow, contactId), startedAt: new Date(Date.now() - 3_600_000) };
  await transaction(server.database, (tx) => insertExecutions(tx, project.id, [slow]));
  const exited = await reach(project, workflow.id, "EXITED");
  expect(exited.goalReachedAt).not.toBeNull();
  const body = {
    contact: { email: EMAIL },
    from: hour(12),
    events: [{ name: "purchase", at: hour(14) }],
  };
  const byId = { params: { id: workflow.id } };
  const simulated = await server.call(questions.simulateWorkflow, project.byKey, { ...byId, body });
  expect(simulated.body).toMatchObject({ status: "EXITED", endedAt: hour(14), goalReachedAt: hour(14) });

  // Copies keep it, and null removes it.
  const copy = await server.call(workflows.duplicateWorkflow, project.byKey, byId);
  const { body: document } = await server.call(versions.exportWorkflow, project.byKey, byId);
  expect([copy.body.goal, document.goal]).toEqual([goal, goal]);
  await makeTemplate(project);
  const imported = await server.call(versions.importWorkflow, project.byKey, { anyBody: document });
  expect(imported.body.goal).toEqual(goal);
  const removed = await update(project, imported.body.id, { goal: null });
  expect(removed.body.goal).toBeNull();

  // A goal that starts the workflow, or that a step causes, is a problem.
  const problems = async (eventName: string) => {
    const { body: read } = await update(project, imported.body.id, { goal: { eventName, days: 1 } });
    return read.problems
      .filter(({ code }) => code.startsWith("GOAL"))
      .map(({ code, severity }) => [code, severity]);
  };
  expect([await problems("go"), await problems("email.sent"), await problems("purchase")]).toEqual([
    [["GOAL_ON_TRIGGER", "error"]],
    [["GOAL_BY_STEP", "warning"]],
    [],
  ]);
  const filter = {
    operator: "AND",
    conditions: [{ field: "data.a", operator: "equals", value: "{{steps.gone.a}}" }],
  };
  const unknown = await update(project, imported.body.id, {
    goal: { eventName: "purchase", days: 1, filter },
  });
  expect(unknown.body.problems).toContainEqual(
    expect.objectContaining({
      code: "UNKNOWN_VARIABLE",
      message: expect.stringContaining('"steps.gone"'),
    }),
  );
  const faulty = await update(project, imported.body.id, { goal: { eventName: "", days: 0 } });
  expect(faultsOf(faulty)).toEqual(["goal.days too_small", "goal.eventName too_small"]);
});

test("simulates an exit at the time of its event", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, [{ ...PURCHASE, filter: OWN_CART }]);
  const from = hour(12);
  const { body } = await server.call(questions.simulateWorkflow, project.byKey, {
    params: { id: workflow.id },
    body: {
      contact: { email: EMAIL },
      context: { cartId: "own" },
      from,
      events: [
        { name: "purchase", at: hour(13), data: { cartId: "other" } },
        { name: "purchase", at: hour(14), data: { cartId: "own" } },
      ],
    },
  });
  expect(body).toMatchObject({
    status: "EXITED",
    exitReason: 'Exit condition: the event "purchase" happened.',
    endedAt: hour(14),
    emails: [],
  });
});

test.each<[string, (segmentId: string) => unknown, string[]]>([
  ["not a list", () => ({}), ["exitConditions invalid_type"]],
  ["an unknown type", () => [{ type: "OTHER" }], ["exitConditions.0.type invalid_union"]],
  ["an event without a name", () => [{ type: "EVENT" }], ["exitConditions.0.eventName required"]],
  [
    "a segment of no one",
    () => [PURCHASE, { type: "SEGMENT", segmentId: UNKNOWN }],
    ["exitConditions.1.segmentId custom"],
  ],
  [
    "a filter on a segment of no one",
    () => [
      {
        type: "FILTER",
        filter: {
          operator: "AND",
          conditions: [{ field: `segment.${UNKNOWN}`, operator: "memberOfSegment" }],
        },
      },
    ],
    ["exitConditions.0.filter custom"],
  ],
  [
    "a filter that compares a text with greaterThan",
    () => [
      {
        type: "FILTER",
        filter: {
          operator: "AND",
          conditions: [{ field: "createdAt", operator: "greaterThan", value: "soon" }],
        },
      },
    ],
    ["exitConditions.0.filter.conditions.0.value invalid_date"],
  ],
  [
    "a filter of an event on the contact",
    () => [
      {
        ...PURCHASE,
        filter: { operator: "AND", conditions: [{ field: "email", operator: "equals", value: "a@b.c" }] },
      },
    ],
    ["exitConditions.0.filter custom"],
  ],
  [
    "a broken variable",
    () => [
      {
        ...PURCHASE,
        filter: {
          operator: "AND",
          conditions: [{ field: "data.a", operator: "equals", value: "{{#if a}}" }],
        },
      },
    ],
    ["exitConditions.0.filter custom"],
  ],
  ["an unknown field", () => [{ ...PURCHASE, within: 3 }], ["exitConditions.0.within unknown_field"]],
  ["too many", () => Array.from({ length: 11 }, () => PURCHASE), ["exitConditions too_big"]],
])("rejects %s with an error for the field", async (_what, conditions, fields) => {
  const { byKey } = server.project;
  const made = await server.call(workflows.createWorkflow, byKey, { body: { name: "W", eventName: "go" } });
  const reply = await update(server.project, made.body.id, { exitConditions: conditions("") });
  expect([reply.status, faultsOf(reply)]).toEqual([422, fields]);
});

test("versions, copies, exports and protects exit conditions, and reports them as problems", async () => {
  const project = await server.createProject();
  const segmentId = await makeSegment(project, false);
  const conditions = [PURCHASE, { type: "SEGMENT", segmentId }];
  const workflow = await draw(project, conditions);
  await change(project, { plan: "trial" });
  await track(project, "go");
  await reach(project, workflow.id, "WAITING");
  const { byKey } = project;
  const byId = { params: { id: workflow.id } };

  // The execution keeps the version it started on.
  const edited = await update(project, workflow.id, {
    exitConditions: [{ ...PURCHASE, eventName: "refund" }],
  });
  expect(edited.body).toMatchObject({ version: 2, exitConditions: [{ eventName: "refund" }] });
  const params = { ...byId.params, version: "1" };
  const compared = await server.call(versions.compareVersions, byKey, { params });
  expect(compared.body.exitConditions).toMatchObject({
    before: conditions,
    after: [{ eventName: "refund" }],
  });
  const deleted = await server.call(segments.deleteSegment, byKey, { params: { id: segmentId } });
  expect(deleted.status).toBe(409);
  await track(project, "purchase");
  await reach(project, workflow.id, "EXITED");

  const restored = await server.call(versions.restoreVersion, byKey, { params });
  expect(restored.body.exitConditions).toEqual(conditions);
  const step = restored.body.steps.find(({ name }) => name === "stay")?.id ?? "";
  await server.call("DELETE", `/workflows/${workflow.id}/steps/${step}?splice=true`, byKey);
  const copy = await server.call(workflows.duplicateWorkflow, byKey, byId);
  expect(copy.body.exitConditions).toEqual(conditions);
  const usage = await server.call<object>("GET", "/events/purchase/usage", byKey);
  expect(JSON.stringify(usage.body)).toContain(workflow.id);

  const { body: document } = await server.call(versions.exportWorkflow, byKey, byId);
  const other = await server.createProject();
  const own = await makeSegment(other, false);
  await makeTemplate(other);
  const imported = await server.call(versions.importWorkflow, other.byKey, { anyBody: document });
  expect(imported.body.exitConditions).toEqual([PURCHASE, { type: "SEGMENT", segmentId: own }]);
  const third = await server.createProject();
  await makeTemplate(third);
  const missing = await server.call(versions.importWorkflow, third.byKey, { anyBody: document });
  expect(faultsOf(missing)).toEqual(["exitConditions.1.segmentId custom"]);

  // The trigger's event can't also be an exit, also in an enabled workflow.
  const closed = await update(project, workflow.id, { exitConditions: [{ ...PURCHASE, eventName: "go" }] });
  expect([closed.status, faultsOf(closed)]).toEqual([422, ["exitConditions custom"]]);
  await update(other, imported.body.id, { exitConditions: [{ ...PURCHASE, eventName: "go" }] });
  const read = await server.call(workflows.getWorkflow, other.byKey, { params: { id: imported.body.id } });
  expect(read.body.problems).toContainEqual(
    expect.objectContaining({ code: "EXIT_ON_TRIGGER", severity: "error" }),
  );
});
