// Replays of recorded executions under the same graph and under changed ones.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as stepsContract from "@postloft/contract/workflows/steps.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, trackEvent, type DrawnWorkflow } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const PEOPLE = ["paid", "waits", "cancelled", "refused", "retried", "free"] as const;
type Person = (typeof PEOPLE)[number];

const endpoint = createServer((_request, response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"score":10}'),
);
beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
afterAll(() => endpoint.close());

/** The config of a call that fails for contacts with a line break in `data.note`. */
const callTo = (path: string) => ({
  url: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}${path}`,
  method: "POST",
  headers: { "X-Note": "{{data.note}}" },
});

/** Takes six contacts through a workflow and then changes their data, so that its first condition would no longer match. */
async function record(project: TestProject): Promise<DrawnWorkflow> {
  const { byKey } = project;
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "ordered" }, event: "ordered" },
    steps: [
      ["trigger", "TRIGGER"],
      ["pro?", "CONDITION", { field: "data.plan", operator: "equals", value: "pro" }],
      ["ask", "WEBHOOK", callTo("/")],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 3_600 }],
      ["high?", "CONDITION", { field: "steps.ask.body.score", operator: "greaterThan", value: 5 }],
      ["thank", "UPDATE_CONTACT", { updates: { thanked: true } }],
      ["end", "EXIT", {}],
    ],
    links: [
      ["trigger", "pro?"],
      ["pro?", "ask", "yes"],
      ["pro?", "end", "no"],
      ["ask", "wait"],
      ["wait", "high?", "event"],
      ["high?", "thank", "yes"],
      ["high?", "end", "no"],
    ],
  });
  const ids = new Map<Person, string>();
  for (const person of PEOPLE) {
    const email = `${person}@example.com`;
    const note = person === "refused" || person === "retried" ? "two\nlines" : "fine";
    const data = { plan: person === "free" ? "free" : "pro", note };
    await server.call(contacts.upsertContact, byKey, { body: { email, data } });
    ids.set(person, await trackEvent(server, project, email, "ordered"));
  }
  const reach = async (person: Person, is: object) => {
    const query = { contactId: ids.get(person) ?? "" };
    const list = () => server.call(executions.listExecutions, byKey, { params: { id: workflow.id }, query });
    await expect.poll(async () => (await list()).body.executions, WAIT).toMatchObject([is]);
    return { id: workflow.id, executionId: (await list()).body.executions[0]?.id ?? "" };
  };
  const waits = { status: "WAITING", waitsFor: "paid" };
  await reach("waits", waits);
  await reach("paid", waits);
  await trackEvent(server, project, "paid@example.com", "paid");
  await server.call(executions.cancelExecution, byKey, { params: await reach("cancelled", waits) });
  await reach("refused", { status: "FAILED" });
  const setData = (person: Person, data: Record<string, string>) =>
    server.call(contacts.updateContact, byKey, { params: { id: ids.get(person) ?? "" }, body: { data } });
  await setData("retried", { note: "fine" });
  await server.call(executions.retryExecution, byKey, {
    params: await reach("retried", { status: "FAILED" }),
  });
  await reach("retried", waits);
  await reach("paid", { status: "COMPLETED" });
  await reach("free", { status: "EXITED" });
  for (const person of PEOPLE)
    await setData(person, { plan: person === "free" ? "pro" : "free", note: "fine" });
  return workflow;
}

const change = (
  project: TestProject,
  workflow: DrawnWorkflow,
  step: string,
  config: Record<string, unknown>,
) =>
  server.call(stepsContract.updateStep, project.byKey, {
    params: { id: workflow.id, stepId: workflow.step(step) },
    body: { config },
  });

/** Returns entered, passed and failed of each step in the record, and these with the assumed results in the replay. */
async function replay({ byKey }: TestProject, { id }: DrawnWorkflow) {
  const { body } = await server.call(questions.replayWorkflow, byKey, { params: { id }, body: {} });
  expect(body.executions).toBe(PEOPLE.length);
  const numbers = ({ entered, passed, failed }: (typeof body.steps)[number]["did"]) => [
    entered,
    passed,
    failed,
  ];
  return {
    did: Object.fromEntries(body.steps.map(({ name, did }) => [name, numbers(did)])),
    would: Object.fromEntries(
      body.steps.map(({ name, would }) => [name, [...numbers(would), would.assumed]]),
    ),
  };
}

const RECORD = {
  trigger: [6, 6, 0],
  "pro?": [6, 6, 0],
  ask: [6, 4, 2],
  wait: [4, 1, 0],
  "high?": [1, 1, 0],
  thank: [1, 1, 0],
  end: [1, 1, 0],
};
const withoutAssumptions = (counts: Record<string, number[]>) =>
  Object.fromEntries(Object.entries(counts).map(([name, numbers]) => [name, [...numbers, 0]]));

test("repeats the record under an unchanged graph, although the contacts have changed", async () => {
  const project = await server.createProject();
  const workflow = await record(project);
  expect(await replay(project, workflow)).toEqual({ did: RECORD, would: withoutAssumptions(RECORD) });
});

test("continues from the first changed step with the recorded responses, up to now", async () => {
  const project = await server.createProject();
  const workflow = await record(project);
  const high = { field: "steps.ask.body.score", operator: "greaterThan", value: 50 };
  expect((await change(project, workflow, "high?", high)).status).toBe(200);
  const { did, would } = await replay(project, workflow);
  expect(did).toEqual(RECORD);
  const { thank: _thank, ...before } = RECORD;
  expect(would).toEqual({ ...withoutAssumptions(before), thank: [0, 0, 0, 0], end: [2, 2, 0, 0] });

  // Now everyone but the contact that was on no plan fails the first condition, as their data is today.
  const pro = { field: "data.plan", operator: "equals", value: "free" };
  expect((await change(project, workflow, "pro?", pro)).status).toBe(200);
  expect((await replay(project, workflow)).would).toEqual({
    trigger: [6, 6, 0, 0],
    "pro?": [6, 6, 0, 6],
    // The retried call counts with its last response. The cancelled execution waits, because a cancellation is not repeated.
    ask: [5, 4, 1, 0],
    wait: [4, 1, 0, 0],
    "high?": [1, 1, 0, 0],
    thank: [0, 0, 0, 0],
    end: [2, 2, 0, 0],
  });
});

test("counts the responses that it assumes for a changed webhook", async () => {
  const project = await server.createProject();
  const workflow = await record(project);
  expect((await change(project, workflow, "ask", callTo("/other"))).status).toBe(200);
  expect((await replay(project, workflow)).would).toEqual({
    ...withoutAssumptions(RECORD),
    ask: [5, 5, 0, 5],
    wait: [5, 1, 0, 0],
    // An assumed response has an empty body.
    thank: [0, 0, 0, 0],
    end: [2, 2, 0, 0],
  });
});
