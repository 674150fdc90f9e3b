// Steps that fail. The execution stays at the failed step, everything before it happens once, and a person can resume it.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { errorOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, trackEvent, type DrawnWorkflow } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };

interface Execution {
  id: string;
  status: string;
  exitReason: string | null;
  currentStepId: string | null;
  waitsFor: string | null;
  steps: Array<{ name: string; status: string; branch: string | null }>;
}

const track = (project: TestProject, email: string, event: string, data?: object) =>
  trackEvent(server, project, email, event, data);

/** Waits until the only execution of a contact matches the description. Returns it in full. */
async function reach({ byKey }: TestProject, { id }: DrawnWorkflow, contactId: string, is: object) {
  return vi.waitFor(async () => {
    const path = `/workflows/${id}/executions`;
    const listed = await server.call<{ executions: Execution[] }>(
      "GET",
      `${path}?contactId=${contactId}`,
      byKey,
    );
    expect(listed.body.executions).toMatchObject([is]);
    const [one] = listed.body.executions;
    return (await server.call<Execution>("GET", `${path}/${one?.id}`, byKey)).body;
  }, WAIT);
}

/** The counts of each step, in graph order. */
async function countsOf({ byKey }: TestProject, { id, graph }: DrawnWorkflow) {
  const { body } = await server.call(workflowQuestions.countSteps, byKey, { params: { id } });
  return graph.steps.map(({ id: stepId, name }) => {
    const counts = body.steps.find((step) => step.stepId === stepId);
    return [name, counts?.entered, counts?.passed, counts?.failed, counts?.waiting];
  });
}

test("fails only the step that cannot be stored, and runs each earlier step once", async () => {
  let calls = 0;
  const endpoint = createServer((_request, response) => {
    calls++;
    response.writeHead(200, { "content-type": "application/json" }).end('{"code":"SAVE10"}');
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const { port } = endpoint.address() as AddressInfo;
  const project = await server.createProject();
  const { byKey } = project;
  const template = await server.call(templates.createTemplate, byKey, {
    body: {
      name: "Bill",
      subject: "s",
      body: "b",
      type: "TRANSACTIONAL",
      from: "hello@sandbox.localhost",
    },
  });
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "ordered" }, event: "ordered" },
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 3_600 }],
      ["ask", "WEBHOOK", { url: `http://127.0.0.1:${port}/`, method: "POST" }],
      ["bill", "SEND_EMAIL", { templateId: template.body.id }],
      ["tag", "UPDATE_CONTACT", { updates: { note: "x".repeat(2_000) } }],
      ["late", "EXIT", { reason: "late" }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "ask", "event"],
      ["wait", "late", "timeout"],
      ["ask", "bill"],
      ["bill", "tag"],
    ],
  });
  try {
    const full = await track(project, "full@example.com", "ordered", { all: "y".repeat(1_047_000) });
    const ada = await track(project, "ada@example.com", "ordered");
    await reach(project, workflow, full, { status: "WAITING", waitsFor: "paid" });
    await reach(project, workflow, ada, { status: "WAITING", waitsFor: "paid" });
    await Promise.all(["full@example.com", "ada@example.com"].map((email) => track(project, email, "paid")));
    await reach(project, workflow, ada, { status: "COMPLETED" });
    const failed = await reach(project, workflow, full, {
      status: "FAILED",
      exitReason: "The data of one contact may have at most 1,048,576 bytes.",
      currentStepId: workflow.step("tag"),
    });
    expect(failed.steps.map(({ name, status, branch }) => [name, status, branch])).toEqual([
      ["trigger", "COMPLETED", null],
      ["wait", "COMPLETED", "event"],
      ["ask", "COMPLETED", null],
      ["bill", "COMPLETED", null],
      ["tag", "FAILED", null],
    ]);
    const before = ["trigger", "wait", "ask", "bill"].map((name) => [name, 2, 2, 0, 0]);
    const late = ["late", undefined, undefined, undefined, undefined];
    expect(await countsOf(project, workflow)).toEqual([...before, ["tag", 2, 1, 1, 0], late]);
    await server.call(contacts.updateContact, byKey, { params: { id: full }, body: { data: { all: null } } });
    await server.call(executions.retryExecution, byKey, {
      params: { id: workflow.id, executionId: failed.id },
    });
    await reach(project, workflow, full, { status: "COMPLETED" });
    expect(await countsOf(project, workflow)).toEqual([...before, ["tag", 3, 2, 1, 0], late]);
    expect(calls).toBe(2);
    expect(await server.rows("select 1 from emails where project_id = $1", project.id)).toHaveLength(2);
  } finally {
    endpoint.close();
  }
});

test("retries in the current graph if the failed step can no longer run in its own version", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const template = async (name: string) => {
    const content = { name, subject: name, body: "b", type: "TRANSACTIONAL", from: "a@sandbox.localhost" };
    return (await server.call(templates.createTemplate, byKey, { anyBody: content })).body.id;
  };
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "go" }, event: "go" },
    steps: [
      ["trigger", "TRIGGER"],
      ["tag", "UPDATE_CONTACT", { updates: { tagged: true } }],
      ["mail", "SEND_EMAIL", { templateId: randomUUID() }],
      ["broken", "UPDATE_CONTACT", { updates: { note: "x".repeat(2_000) } }],
    ],
    links: [
      ["trigger", "tag"],
      ["tag", "mail"],
      ["mail", "broken"],
    ],
  });
  const { id } = workflow;
  const contactId = await track(project, "ada@example.com", "go");
  const failed = await reach(project, workflow, contactId, { status: "FAILED" });
  const retry = () =>
    server.call(executions.retryExecution, byKey, { params: { id, executionId: failed.id } });

  // In the new version a step before the failed one is gone, and the failed one has a template.
  const path = `/workflows/${id}/steps`;
  const changed = { templateId: await template("New") };
  expect((await server.call("PATCH", `${path}/${workflow.step("mail")}`, byKey, changed)).status).toBe(200);
  const gone = `${path}/${workflow.step("tag")}?splice=true`;
  expect((await server.call("DELETE", gone, byKey)).status).toBe(204);
  await server.call("DELETE", `${path}/${workflow.step("broken")}`, byKey);
  expect((await retry()).status).toBe(200);
  const done = await reach(project, workflow, contactId, { status: "COMPLETED" });
  expect(done.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
    "trigger COMPLETED",
    "tag COMPLETED",
    "mail FAILED",
    "mail COMPLETED",
  ]);
  const versions = await server.rows<{ version: number; isUsed: boolean }>(
    `select x.version, v.is_used from workflow_executions x
     join workflow_versions v on v.workflow_id = x.workflow_id and v.version = x.version where x.id = $1`,
    failed.id,
  );
  expect(versions).toMatchObject([{ isUsed: true }]);
  expect(versions[0]?.version).toBeGreaterThan(1);
  expect(await server.rows("select 1 from emails where project_id = $1", project.id)).toHaveLength(1);
});

test("fails at the step limit, and allows as many more steps after a retry", async () => {
  const most = LIMITS.executionSteps.value;
  const project = await server.createProject();
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "go" }, event: "go" },
    steps: [
      ["trigger", "TRIGGER"],
      ["pause", "DELAY", { amount: 1, unit: "minutes" }],
      ["mark", "UPDATE_CONTACT", { updates: { marked: true } }],
      ["again?", "CONDITION", { field: "data.done", operator: "equals", value: true }],
      ["end", "EXIT", {}],
    ],
    links: [
      ["trigger", "pause"],
      ["pause", "mark"],
      ["mark", "again?"],
      ["again?", "pause", "no"],
      ["again?", "end", "yes"],
    ],
  });
  const contactId = await track(project, "ada@example.com", "go");
  await reach(project, workflow, contactId, { status: "WAITING" });
  /** Simulates this many more passes of the loop, with the last pause over. */
  const goRound = (steps: number) =>
    server.rows(
      `update workflow_executions set due_at = now(), trace = (select jsonb_agg(run order by place) from (
           select run, place from jsonb_array_elements(trace - -1) with ordinality as v (run, place)
           union all select '{"n":2,"at":1,"end":1}', 1000 from generate_series(1, $2)
           union all select '{"n":1,"at":1,"until":1}', 2000) all_runs)
       where workflow_id = $1`,
      workflow.id,
      steps,
    );
  await goRound(most - 3);
  const failed = await reach(project, workflow, contactId, {
    status: "FAILED",
    exitReason: `More than ${most} steps. A retry allows as many more.`,
    currentStepId: workflow.step("again?"),
  });
  expect(failed.steps).toHaveLength(most + 1);
  expect(failed.steps.at(-1)).toMatchObject({ name: "again?", status: "FAILED" });
  expect((await countsOf(project, workflow)).slice(1, 4)).toEqual([
    ["pause", 1, 1, 0, 0],
    ["mark", 1, 1, 0, 0],
    ["again?", 1, 0, 1, 0],
  ]);
  const path = `/workflows/${workflow.id}/executions/${failed.id}`;
  await server.call("POST", `${path}/retry`, project.byKey);
  await reach(project, workflow, contactId, { status: "WAITING", currentStepId: workflow.step("pause") });
  // Two steps have run since the retry. With these and the waiting one, one is left.
  await goRound(most - 3);
  const again = await reach(project, workflow, contactId, {
    status: "FAILED",
    currentStepId: workflow.step("again?"),
  });
  expect(again.steps).toHaveLength(2 * most + 2);
});

test.each(["retry-failed", "skip-failed"])(
  "%s returns 404 for an unknown step and resumes nothing at a removed step",
  async (what) => {
    const { byKey, ...project } = await server.createProject();
    const workflow = await drawWorkflow(server.database, project.id, {
      steps: [["trigger", "TRIGGER"]],
      links: [],
    });
    const { id } = workflow;
    const former = randomUUID();
    const graph = { steps: [{ id: former, type: "EXIT", name: "Former", config: {} }], transitions: [] };
    await server.rows(
      "insert into workflow_versions (project_id, workflow_id, version, graph) values ($1, $2, 0, $3)",
      project.id,
      id,
      JSON.stringify(graph),
    );
    const ask = (stepId: string) => server.call("POST", `/workflows/${id}/steps/${stepId}/${what}`, byKey);
    for (const unknown of [randomUUID(), "trigger"])
      expect(errorOf(await ask(unknown))).toBe("404 STEP_NOT_FOUND");
    for (const known of [former, former.toUpperCase(), workflow.step("trigger")])
      expect((await ask(known)).body).toEqual({ count: 0 });
  },
);

test.each(["retry-failed", "skip-failed"])(
  "rejects %s while all executions are being cancelled",
  async (what) => {
    const project = await server.createProject();
    const workflow = await drawWorkflow(server.database, project.id, {
      steps: [["trigger", "TRIGGER"]],
      links: [],
    });
    await server.rows("update workflows set cancelled_until = now() where id = $1", workflow.id);
    const path = `/workflows/${workflow.id}/steps/${workflow.step("trigger")}/${what}`;
    expect(errorOf(await server.call("POST", path, project.byKey))).toBe("409 CONFLICT");
  },
);
