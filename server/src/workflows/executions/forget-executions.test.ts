// Whoever is deleted is gone from the executions of workflows and from the calls they made, and the numbers stay what they were.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32" });
const WAIT = { timeout: 30_000, interval: 20 };

/** Answers `/codes`, and is out of order everywhere else. */
const endpoint = createServer((request, response) => {
  request.resume();
  const isUp = request.url === "/codes";
  response.writeHead(isUp ? 200 : 503, { "content-type": "application/json" });
  response.end('{"code":"of ada"}');
});
beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
afterAll(() => void endpoint.close().closeAllConnections());

/** A contact whose execution has called one endpoint, and tries another one that does not answer. */
async function contactAmidRetries() {
  const project = await server.createProject();
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "asked" }, event: "asked" },
    steps: [
      ["trigger", "TRIGGER"],
      ["ask", "WEBHOOK", { url: `${url}/codes`, method: "POST" }],
      ["is it?", "CONDITION", { field: "event.plan", operator: "equals", value: "plan of ada" }],
      ["tell", "WEBHOOK", { url: `${url}/down`, method: "POST" }],
    ],
    links: [
      ["trigger", "ask"],
      ["ask", "is it?"],
      ["is it?", "tell", "yes"],
    ],
  });
  const tracked = await server.call<{ data: { contact: string } }>("POST", "/v1/track", project.byKey, {
    email: "ada@example.com",
    event: "asked",
    data: { plan: "plan of ada" },
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

test.each([
  ["by itself", (id: string) => ["DELETE", `/contacts/${id}`, undefined] as const],
  ["in bulk", (id: string) => ["POST", "/contacts/bulk-delete", { contactIds: [id] }] as const],
])(
  "no endpoint is called any more for a contact that was deleted %s, and no call of it stays",
  async (_how, deletion) => {
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
  },
);
