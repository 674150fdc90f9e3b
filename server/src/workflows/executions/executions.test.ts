// Executions through the whole service: events start them, steps act, and everything can be read afterwards.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executionsContract from "@postloft/contract/executions.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../../testing/typed-call.ts";
import { drawWorkflow, trackEvent, type Drawing } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };

type Execution = ResponseOf<typeof executionsContract.getExecution>;

const draw = (project: TestProject, drawing: Drawing) => drawWorkflow(server.database, project.id, drawing);
const onEvent = (eventName: string, config: object = {}) => ({
  type: "EVENT" as const,
  config: { eventName, ...config },
  event: eventName,
});

const track = (project: TestProject, email: string, event: string, data?: object) =>
  trackEvent(server, project, email, event, data);

async function template({ byKey }: TestProject, edit: object = {}) {
  const reply = await server.call(templates.createTemplate, byKey, {
    body: {
      name: "Welcome",
      subject: "Hello {{name}}",
      body: "<p>{{event.plan}} {{steps.ask.body.code}}</p>",
      type: "MARKETING",
      from: "hello@sandbox.localhost",
      ...edit,
    },
  });
  expect(reply.status).toBe(201);
  return reply.body.id;
}

async function executions({ byKey }: TestProject, workflowId: string, query = "") {
  const reply = await server.call(executionsContract.listExecutions, byKey, {
    params: { id: workflowId },
    anyQuery: query,
  });
  expect(reply.status).toBe(200);
  return reply.body.executions;
}

async function read({ byKey }: TestProject, workflowId: string, id: string) {
  return (
    await server.call(executionsContract.getExecution, byKey, { params: { id: workflowId, executionId: id } })
  ).body;
}

/** Waits until the only execution of a workflow has this state. Returns it in full. */
async function reach(project: TestProject, workflowId: string, status: string): Promise<Execution> {
  const one = await vi.waitFor(async () => {
    const [first] = await executions(project, workflowId);
    expect(first).toMatchObject({ status });
    return first;
  }, WAIT);
  return read(project, workflowId, one?.id ?? "");
}

/** Advances time for everything that waits for a timer. */
const letTimePass = (workflowId: string, by: string) =>
  server.rows(
    `update workflow_executions set due_at = due_at - $2::interval, started_at = started_at - $2::interval,
       trace = (select jsonb_agg(run || case when run ? 'until' then jsonb_build_object('until', (run ->> 'until')::bigint - extract(epoch from $2::interval) * 1000, 'at', (run ->> 'at')::bigint - extract(epoch from $2::interval) * 1000) else '{}' end order by place)
         from jsonb_array_elements(trace) with ordinality as v (run, place))
     where workflow_id = $1 and due_at is not null`,
    workflowId,
    by,
  );

test("runs email, delay, condition on event data, email and exit when an event starts it", async () => {
  const project = await server.createProject();
  const templateId = await template(project);
  const workflow = await draw(project, {
    trigger: onEvent("signed up"),
    steps: [
      ["trigger", "TRIGGER"],
      ["welcome", "SEND_EMAIL", { templateId }],
      ["a day", "DELAY", { amount: 1, unit: "days" }],
      ["pays?", "CONDITION", { field: "event.plan", operator: "equals", value: "pro" }],
      ["tag", "UPDATE_CONTACT", { updates: { customer: true } }],
      ["thanks", "SEND_EMAIL", { templateId }],
      ["done", "EXIT", { reason: "became a customer" }],
    ],
    links: [
      ["trigger", "welcome"],
      ["welcome", "a day"],
      ["a day", "pays?"],
      ["pays?", "tag", "yes"],
      ["tag", "thanks"],
      ["thanks", "done"],
    ],
  });
  const contactId = await track(project, "ada@example.com", "signed up", { name: "Ada", plan: "pro" });
  const waiting = await reach(project, workflow.id, "WAITING");
  expect(waiting.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "trigger COMPLETED",
    "welcome COMPLETED",
    "a day WAITING",
  ]);
  expect(Date.parse(waiting.nextAt ?? "") - Date.now()).toBeGreaterThan(86_000_000);
  await vi.waitFor(
    async () =>
      expect((await read(project, workflow.id, waiting.id)).steps[1]?.email).toMatchObject({
        status: "DELIVERED",
        subject: "Hello Ada",
      }),
    WAIT,
  );
  await letTimePass(workflow.id, "1 day");
  const ended = await reach(project, workflow.id, "EXITED");
  expect(ended).toMatchObject({ contactId, exitReason: "became a customer", currentStepId: null });
  expect(ended.steps.slice(3)).toMatchObject([
    {
      name: "pays?",
      branch: "yes",
      output: {
        compared: [{ field: "event.plan", operator: "equals", value: "pro", seen: "pro", matches: true }],
      },
    },
    { name: "tag", output: { set: ["customer"] } },
    { name: "thanks", email: { id: expect.any(String) } },
    { name: "done", status: "COMPLETED" },
  ]);
  const { body: contact } = await server.call(contacts.getContact, project.byKey, {
    params: { id: contactId },
  });
  expect(contact.data).toEqual({ name: "Ada", plan: "pro", customer: true });
  await track(project, "ada@example.com", "signed up");
  const { body: stats } = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflow.id },
  });
  expect(stats).toMatchObject({ active: 0 });
  expect(await executions(project, workflow.id)).toHaveLength(1);
});

test("starts one execution for fifty identical events at once", async () => {
  const project = await server.createProject();
  const drawing: Drawing = {
    trigger: onEvent("ping"),
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "DELAY", { amount: 1, unit: "hours" }],
    ],
    links: [["trigger", "wait"]],
  };
  const [once, again] = [
    await draw(project, drawing),
    await draw(project, { ...drawing, allowReentry: true }),
  ];
  await Promise.all(Array.from({ length: 50 }, () => track(project, "ada@example.com", "ping")));
  await reach(project, once.id, "WAITING");
  await vi.waitFor(
    async () =>
      expect(await server.rows("select 1 from event_reactions where project_id = $1", project.id)).toEqual(
        [],
      ),
    WAIT,
  );
  expect(await executions(project, once.id)).toHaveLength(1);
  expect(await executions(project, again.id)).toHaveLength(1);
  await letTimePass(again.id, "1 hour");
  await reach(project, again.id, "COMPLETED");
  await track(project, "ada@example.com", "ping");
  await vi.waitFor(async () => expect(await executions(project, again.id)).toHaveLength(2), WAIT);
  expect(await executions(project, once.id)).toHaveLength(1);
});

test("takes either the event branch or the timeout branch of a wait, never both", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("started"),
    steps: [
      ["trigger", "TRIGGER"],
      [
        "wait",
        "WAIT_FOR_EVENT",
        {
          eventName: "paid",
          timeout: 3600,
          filter: {
            operator: "AND",
            conditions: [{ field: "data.amount", operator: "greaterThan", value: 10 }],
          },
        },
      ],
      ["paid", "EXIT", { reason: "paid" }],
      ["late", "EXIT", { reason: "late" }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "paid", "event"],
      ["wait", "late", "timeout"],
    ],
  });
  await track(project, "ada@example.com", "started");
  await vi.waitFor(
    async () =>
      expect(await executions(project, workflow.id)).toMatchObject([{ status: "WAITING", waitsFor: "paid" }]),
    WAIT,
  );
  await track(project, "ada@example.com", "paid", { amount: 5 });
  await track(project, "bob@example.com", "paid", { amount: 50 });
  await vi.waitFor(
    async () =>
      expect(await server.rows("select 1 from event_reactions where project_id = $1", project.id)).toEqual(
        [],
      ),
    WAIT,
  );
  expect(await executions(project, workflow.id)).toMatchObject([{ status: "WAITING" }]);
  await track(project, "ada@example.com", "paid", { amount: 50 });
  const paid = await reach(project, workflow.id, "EXITED");
  expect(paid).toMatchObject({ exitReason: "paid", steps: [{}, { branch: "event" }, {}] });
  await track(project, "eve@example.com", "started");
  await vi.waitFor(
    async () => expect(await executions(project, workflow.id, "?status=WAITING")).toHaveLength(1),
    WAIT,
  );
  await letTimePass(workflow.id, "2 hours");
  await vi.waitFor(
    async () =>
      expect(await executions(project, workflow.id)).toMatchObject([
        { exitReason: "late" },
        { exitReason: "paid" },
      ]),
    WAIT,
  );
});

test("skips marketing email to unsubscribed contacts and fails steps that cannot send", async () => {
  const project = await server.createProject();
  const marketing = await template(project);
  const silent = await template(project, { type: "TRANSACTIONAL", from: null });
  const workflow = await draw(project, {
    trigger: onEvent("left"),
    steps: [
      ["trigger", "TRIGGER"],
      ["news", "SEND_EMAIL", { templateId: marketing }],
      ["bill", "SEND_EMAIL", { templateId: silent }],
      ["end", "EXIT", {}],
    ],
    links: [
      ["trigger", "news"],
      ["news", "bill"],
      ["bill", "end"],
    ],
  });
  await server.call(contacts.upsertContact, project.byKey, {
    body: { email: "ada@example.com", subscribed: false },
  });
  await track(project, "ada@example.com", "left");
  const failed = await reach(project, workflow.id, "FAILED");
  expect(failed.steps.slice(1)).toMatchObject([
    { name: "news", status: "SKIPPED", output: { reason: "The contact is not subscribed." } },
    { name: "bill", status: "FAILED", error: "Neither the template nor the project has a sender." },
  ]);
  expect(failed.currentStepId).toBe(workflow.step("bill"));
  const path = `/workflows/${workflow.id}/executions/${failed.id}`;
  expect((await server.call("POST", `${path}/retry`, project.byKey)).status).toBe(200);
  await vi.waitFor(
    async () => expect((await read(project, workflow.id, failed.id)).steps).toHaveLength(4),
    WAIT,
  );
  await reach(project, workflow.id, "FAILED");
  const skipped = await server.call(executionsContract.skipFailedAtStep, project.byKey, {
    params: { id: workflow.id, stepId: workflow.step("bill") },
  });
  expect(skipped.body).toEqual({ count: 1 });
  expect(await reach(project, workflow.id, "EXITED")).toMatchObject({ exitReason: "exit_step" });
  expect((await server.call("POST", `${path}/retry`, project.byKey)).status).toBe(409);
  const { body } = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflow.id },
  });
  expect(body.steps).toContainEqual(
    expect.objectContaining({ stepId: workflow.step("bill"), entered: 2, failed: 2, waiting: 0 }),
  );
});

test("stops executions when one or all are cancelled, or when their contact is deleted", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("go"),
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "DELAY", { amount: 1, unit: "hours" }],
      ["tag", "UPDATE_CONTACT", { updates: { reached: true } }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "tag"],
    ],
  });
  const ids = await Promise.all(
    ["a", "b", "c", "d"].map((name) => track(project, `${name}@example.com`, "go")),
  );
  await vi.waitFor(
    async () => expect(await executions(project, workflow.id, "?status=WAITING")).toHaveLength(4),
    WAIT,
  );
  await server.call("DELETE", `/contacts/${ids[0]}`, project.byKey);
  await vi.waitFor(
    async () =>
      expect(await executions(project, workflow.id, "?status=CANCELLED")).toMatchObject([
        { contactId: null, exitReason: "The contact was deleted." },
      ]),
    WAIT,
  );
  const [first] = await executions(project, workflow.id, `?contactId=${ids[1]}`);
  const path = `/workflows/${workflow.id}/executions/${first?.id}`;
  expect((await server.call("DELETE", path, project.byKey)).body).toMatchObject({
    status: "CANCELLED",
    exitReason: "Canceled by a user.",
  });
  expect((await server.call("DELETE", path, project.byKey)).status).toBe(409);
  expect(
    (
      await server.call(executionsContract.cancelAllExecutions, project.byKey, {
        params: { id: workflow.id },
      })
    ).body,
  ).toEqual({ cancelled: 2 });
  await letTimePass(workflow.id, "2 hours");
  const { body } = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflow.id },
  });
  expect(body).toMatchObject({ active: 0 });
  expect(
    await server.rows("select 1 from contacts where project_id = $1 and data ? 'reached'", project.id),
  ).toEqual([]);
});

test("calls a webhook with a signature and execution data, and uses the response in later steps", async () => {
  const calls: Array<{ headers: IncomingHttpHeaders; body: string }> = [];
  const endpoint = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      calls.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(200, { "content-type": "application/json" }).end('{"code":"SAVE10"}');
    });
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const { port } = endpoint.address() as AddressInfo;
  const project = await server.createProject();
  const templateId = await template(project, { type: "TRANSACTIONAL" });
  const workflow = await draw(project, {
    trigger: onEvent("asked"),
    steps: [
      ["trigger", "TRIGGER"],
      ["ask", "WEBHOOK", { url: `http://127.0.0.1:${port}/codes`, method: "POST" }],
      ["got one?", "CONDITION", { field: "steps.ask.body.code", operator: "startsWith", value: "SAVE" }],
      ["tell", "SEND_EMAIL", { templateId }],
    ],
    links: [
      ["trigger", "ask"],
      ["ask", "got one?"],
      ["got one?", "tell", "yes"],
    ],
  });
  try {
    await track(project, "ada@example.com", "asked", { plan: "pro" });
    const ended = await reach(project, workflow.id, "COMPLETED");
    expect(ended.steps.map(({ name, branch }) => [name, branch])).toEqual([
      ["trigger", null],
      ["ask", null],
      ["got one?", "yes"],
      ["tell", null],
    ]);
    expect(calls).toHaveLength(1);
    expect(JSON.parse(calls[0]?.body ?? "")).toMatchObject({
      contact: { email: "ada@example.com", subscribed: true, data: { plan: "pro" } },
      workflow: { id: workflow.id, name: "A workflow" },
      execution: { id: ended.id },
      event: { plan: "pro" },
    });
    expect(calls[0]?.headers).toMatchObject({ "webhook-signature": expect.stringMatching(/^v1,/) });
    const mail = await vi.waitFor(async () => {
      const { body } = await server.call(mailbox.listMessages, project.byKey);
      expect(body.data).toHaveLength(1);
      return server.call<{ html: string }>("GET", `/mailbox/messages/${body.data[0]?.id}`, project.byKey);
    }, WAIT);
    expect(mail.text).toContain("pro SAVE10");
  } finally {
    endpoint.close();
  }
});

test("simulates the same steps with its own clock and rendered emails, without writing anything", async () => {
  const project = await server.createProject();
  const templateId = await template(project, { type: "TRANSACTIONAL" });
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["ask", "WEBHOOK", { url: "https://example.com/x" }],
      ["night", "DELAY", { until: "09:00", timezone: "Europe/Berlin", weekdays: [1] }],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 86_400 }],
      ["tag", "UPDATE_CONTACT", { updates: { paid: true }, subscriptionAction: "unsubscribe" }],
      ["is it?", "CONDITION", { field: "data.paid", operator: "equals", value: true }],
      ["tell", "SEND_EMAIL", { templateId }],
    ],
    links: [
      ["trigger", "ask"],
      ["ask", "night"],
      ["night", "wait"],
      ["wait", "tag", "event"],
      ["tag", "is it?"],
      ["is it?", "tell", "yes"],
    ],
  });
  const before = await server.countRows();
  const path = `/workflows/${workflow.id}/simulate`;
  const { body } = await server.call<object>("POST", path, project.byKey, {
    contact: { email: "eve@example.com", data: { name: "Eve" } },
    context: { plan: "pro" },
    webhooks: { ask: { status: 201, body: { code: "X1" } } },
    // A Wednesday before the Sunday on which Berlin changes to summer time.
    from: "2026-03-25T12:00:00Z",
    events: [{ name: "paid", at: "2026-03-30T10:00:00Z" }],
  });
  expect(body).toMatchObject({
    status: "COMPLETED",
    endedAt: "2026-03-30T10:00:00.000Z",
    steps: [
      { name: "trigger" },
      { name: "ask", output: { status: 201 } },
      { name: "night", waitsUntil: "2026-03-30T07:00:00.000Z", completedAt: "2026-03-30T07:00:00.000Z" },
      { name: "wait", branch: "event" },
      { name: "tag" },
      { name: "is it?", branch: "yes" },
      { name: "tell" },
    ],
    emails: [{ to: "eve@example.com", subject: "Hello Eve", html: "<p>pro X1</p>", error: null }],
    contact: { subscribed: false, data: { name: "Eve", paid: true } },
  });
  const late = await server.call<object>("POST", path, project.byKey, {
    contact: { email: "eve@example.com" },
    from: "2026-03-25T12:00:00Z",
  });
  expect(late.body).toMatchObject({ status: "COMPLETED", endedAt: "2026-03-31T07:00:00.000Z", emails: [] });
  expect(await server.countRows()).toEqual(before);
});

test("explains why a contact would not enter, and replays the last executions", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("left", {
      filter: { operator: "AND", conditions: [{ field: "data.total", operator: "greaterThan", value: 10 }] },
    }),
    steps: [
      ["trigger", "TRIGGER"],
      ["big?", "CONDITION", { field: "event.total", operator: "greaterThan", value: 100 }],
      ["end", "EXIT", {}],
    ],
    links: [
      ["trigger", "big?"],
      ["big?", "end", "yes"],
    ],
  });
  const why = async (contactId: string) =>
    (
      await server.call(workflowQuestions.explainEntry, project.byKey, {
        params: { id: workflow.id },
        body: { contactId },
      })
    ).body;
  const ada = await track(project, "ada@example.com", "left", { total: 5 });
  expect(await why(ada)).toMatchObject({
    wouldEnter: false,
    reasons: [
      { rule: "enabled", holds: true },
      { rule: "trigger", holds: false },
      { rule: "reentry", holds: true },
    ],
  });
  await track(project, "ada@example.com", "left", { total: 50 });
  await reach(project, workflow.id, "COMPLETED");
  expect(await why(ada)).toMatchObject({
    wouldEnter: false,
    reasons: [{}, { rule: "trigger", holds: true }, { rule: "reentry", holds: false }],
  });
  const { body } = await server.call(workflowQuestions.replayWorkflow, project.byKey, {
    params: { id: workflow.id },
    body: {},
  });
  expect(body.executions).toBe(1);
  expect(body.steps).toContainEqual(
    expect.objectContaining({
      name: "big?",
      did: { entered: 1, passed: 1, skipped: 0, failed: 0 },
      would: { entered: 1, passed: 1, skipped: 0, failed: 0, assumed: 0 },
    }),
  );
});

test("starts executions for a contact or, in the background, a segment, but not across projects", async () => {
  const project = await server.createProject();
  const drawing: Drawing = {
    steps: [
      ["trigger", "TRIGGER"],
      ["end", "EXIT", {}],
    ],
    links: [["trigger", "end"]],
  };
  const [workflow, off] = [await draw(project, drawing), await draw(project, { ...drawing, enabled: false })];
  const ada = await track(project, "ada@example.com", "x", { plan: "pro" });
  await track(project, "bob@example.com", "x", { plan: "pro" });
  await track(project, "eve@example.com", "x");
  const start = (
    id: string,
    body: BodyOf<typeof executionsContract.startExecution>,
    caller = project.byKey,
  ) => server.call(executionsContract.startExecution, caller, { params: { id }, body });
  expect((await start(workflow.id, { contactId: ada, context: { a: 1 } })).status).toBe(201);
  expect((await start(workflow.id, { contactId: ada })).status).toBe(409);
  expect((await start(off.id, { contactId: ada })).status).toBe(409);
  expect((await start(workflow.id, { contactId: randomUUID() })).status).toBe(404);
  expect((await start(off.id, { contactId: randomUUID() })).status).toBe(404);
  expect((await start(off.id, { segmentId: randomUUID() })).status).toBe(404);
  expect((await start(workflow.id, { contactId: ada, context: { a: "x".repeat(40_000) } })).status).toBe(422);
  const stranger = await server.createProject();
  expect((await start(workflow.id, { contactId: ada }, stranger.byKey)).status).toBe(404);
  const segment = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "Pros",
      filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
    },
  });
  expect((await start(workflow.id, { segmentId: segment.body.id })).status).toBe(202);
  await vi.waitFor(
    async () => expect(await executions(project, workflow.id, "?status=EXITED")).toHaveLength(2),
    WAIT,
  );
  const { body } = await server.call(executionsContract.listContactExecutions, project.byKey, {
    params: { id: ada },
  });
  expect(body).toMatchObject({
    total: 1,
    data: [{ workflow: { id: workflow.id, name: "A workflow" }, contactId: ada }],
  });
});

test("fails only the execution with a step that cannot be stored, with the reason", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["tag", "UPDATE_CONTACT", { updates: { note: "x".repeat(2_000) } }],
    ],
    links: [["trigger", "tag"]],
  });
  const full = await track(project, "full@example.com", "x", { all: "y".repeat(1_047_000) });
  const ada = await track(project, "ada@example.com", "x");
  const segment = await server.call(segments.createSegment, project.byKey, {
    body: {
      name: "Both",
      type: "STATIC",
    },
  });
  await server.call(segments.addSegmentMembers, project.byKey, {
    params: { id: segment.body.id },
    body: { emails: ["full@example.com", "ada@example.com"] },
  });
  await server.call(executionsContract.startExecution, project.byKey, {
    params: { id: workflow.id },
    body: { segmentId: segment.body.id },
  });
  await vi.waitFor(
    async () =>
      expect(await executions(project, workflow.id, `?contactId=${ada}`)).toMatchObject([
        { status: "COMPLETED" },
      ]),
    WAIT,
  );
  await vi.waitFor(
    async () =>
      expect(await executions(project, workflow.id, `?contactId=${full}`)).toMatchObject([
        {
          status: "FAILED",
          exitReason: "The data of one contact may have at most 1,048,576 bytes.",
          currentStepId: workflow.step("tag"),
        },
      ]),
    WAIT,
  );
  const { body } = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflow.id },
  });
  expect(body).toMatchObject({ active: 0 });
});

test("counts events from before the first check of a wait, but not the one that started it", async () => {
  const project = await server.createProject();
  const trigger = onEvent("ordered");
  const paid = await draw(project, {
    trigger,
    steps: [
      ["trigger", "TRIGGER"],
      ["tag", "UPDATE_CONTACT", { updates: { ordered: true } }],
      ["packed", "WAIT_FOR_EVENT", { eventName: "packed" }],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid" }],
    ],
    links: [
      ["trigger", "tag"],
      ["tag", "packed"],
      ["packed", "wait"],
    ],
  });
  const again = await draw(project, {
    trigger,
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "WAIT_FOR_EVENT", { eventName: "ordered", timeout: 1 }],
    ],
    links: [["trigger", "wait"]],
  });
  const emails = Array.from({ length: 5 }, (_, at) => `c${at}@example.com`);
  for (const email of emails) {
    for (const event of ["ordered", "packed", "paid"]) await track(project, email, event);
  }
  const branches = async ({ id }: { id: string }) => {
    const ended = await executions(project, id, "?status=COMPLETED");
    const whole = ended.map(async (one) => (await read(project, id, one.id)).steps.at(-1)?.branch);
    return Promise.all(whole);
  };
  await expect.poll(() => branches(paid)).toEqual(emails.map(() => "event"));
  await expect.poll(() => branches(again)).toEqual(emails.map(() => "timeout"));
});
