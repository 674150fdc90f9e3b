// Deleted contacts disappear from executions and their webhook calls, and the statistics stay the same.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };

/** Responds to `/codes`, and fails everywhere else. */
const endpoint = createServer((request, response) => {
  request.resume();
  const isUp = request.url === "/codes";
  response.writeHead(isUp ? 200 : 503, { "content-type": "application/json" });
  response.end('{"code":"of ada"}');
});
beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
afterAll(() => void endpoint.close().closeAllConnections());

interface Whole {
  steps: Array<{ name: string; status: string; branch: string | null; email: object | null }>;
}

/** A contact whose execution has called one endpoint and is retrying another that fails. */
async function contactAmidRetries() {
  const project = await server.createProject();
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  const template = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: "Welcome",
      subject: "Hello {{event.plan}}",
      body: "<p>{{email}}</p>",
      type: "TRANSACTIONAL",
      from: "hello@sandbox.localhost",
    },
  });
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "asked" }, event: "asked" },
    steps: [
      ["trigger", "TRIGGER"],
      ["welcome", "SEND_EMAIL", { templateId: template.body.id }],
      ["ask", "WEBHOOK", { url: `${url}/codes`, method: "POST" }],
      ["is it?", "CONDITION", { field: "event.plan", operator: "equals", value: "plan of ada" }],
      ["tell", "WEBHOOK", { url: `${url}/down`, method: "POST" }],
    ],
    links: [
      ["trigger", "welcome"],
      ["welcome", "ask"],
      ["ask", "is it?"],
      ["is it?", "tell", "yes"],
    ],
  });
  const tracked = await server.call(v1.track, project.byKey, {
    body: {
      email: "ada@example.com",
      event: "asked",
      data: { plan: "plan of ada" },
    },
  });
  const states = "select state, tries from webhook_calls where project_id = $1 order by id";
  await vi.waitFor(
    async () =>
      expect(await server.rows(states, project.id)).toEqual([
        { state: "done", tries: 1 },
        { state: "waiting", tries: 1 },
      ]),
    WAIT,
  );
  return { project, workflow, contactId: tracked.body.data.contact };
}

test("removes a deleted contact from its executions and keeps their steps and counts", async () => {
  const { project, workflow, contactId } = await contactAmidRetries();
  const [row] = await server.rows<{ id: string }>(
    "select id from workflow_executions where workflow_id = $1",
    workflow.id,
  );
  const read = async <Body = object>(path: string) =>
    (await server.call<Body>("GET", `/workflows/${workflow.id}/${path}`, project.byKey)).body;
  const numbers = async () =>
    (await read<{ steps: Array<Record<string, unknown>> }>("stats")).steps.map(
      ({ stepId, entered, passed, cancelled, waiting, sent }) =>
        [stepId === workflow.step("tell"), entered, passed, cancelled, waiting, sent].join(" "),
    );
  const execution = `executions/${row?.id}`;
  const before = await read(execution);
  expect(before).toMatchObject({
    context: { plan: "plan of ada" },
    results: { ask: { body: { code: "of ada" } } },
  });
  expect(JSON.stringify(before)).toContain('"seen":"plan of ada"');
  await vi.waitFor(async () => expect(await numbers()).toContain("false 1 1 0 0 1"), WAIT);
  const counted = await numbers();
  expect(counted).toContain("true 1 0 0 1 0");

  expect(
    (await server.call(contacts.deleteContact, project.byKey, { params: { id: contactId } })).status,
  ).toBe(204);
  const kept = "select t::text as text from workflow_executions t where workflow_id = $1";
  expect(JSON.stringify(await server.rows(kept, workflow.id))).not.toMatch(/of ada|ada@/);
  await vi.waitFor(async () => expect(await read(execution)).toMatchObject({ status: "CANCELLED" }), WAIT);
  const after = await read<Whole>(execution);
  expect(after).toMatchObject({
    contactId: null,
    exitReason: "The contact was deleted.",
    context: {},
    results: {},
  });
  const steps = after.steps.map(({ name, status, branch, email }) => [name, status, email ? "mail" : branch]);
  expect(steps.map((step) => step.join(" "))).toEqual([
    "trigger COMPLETED ",
    "welcome COMPLETED mail",
    "ask COMPLETED ",
    "is it? COMPLETED yes",
    "tell CANCELLED ",
  ]);
  expect(JSON.stringify(after)).not.toMatch(/of ada|ada@/);
  expect(await numbers()).toEqual(
    counted.map((line) => (line === "true 1 0 0 1 0" ? "true 1 0 1 0 0" : line)),
  );
});

test.each([
  ["individually", (id: string) => ["DELETE", `/contacts/${id}`, undefined] as const],
  ["in bulk", (id: string) => ["POST", "/contacts/bulk-delete", { contactIds: [id] }] as const],
])("cancels and deletes webhook calls when a contact is deleted %s", async (_how, deletion) => {
  const { project, workflow, contactId } = await contactAmidRetries();
  const [method, path, body] = deletion(contactId);
  expect((await server.call(method, path, project.byKey, body)).status).toBeLessThan(300);
  const states = "select contact_id, status from workflow_executions where workflow_id = $1";
  await vi.waitFor(
    async () =>
      expect(await server.rows(states, workflow.id)).toEqual([{ contactId: null, status: "CANCELLED" }]),
    WAIT,
  );
  expect(await server.rows("select body from webhook_calls where project_id = $1", project.id)).toEqual([]);
});
