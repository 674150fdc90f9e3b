// The graph of a workflow over HTTP: steps, transitions, rejected edits, and concurrent edits.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  responsesByName,
  faultsOf,
  errorOf,
  useTestServer,
  type Reply,
  type TestCaller,
} from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

interface Transition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: string | null;
  condition: unknown;
  waitOutcome: string | null;
}
interface Step {
  id: string;
  type: string;
  name: string;
  config: Record<string, unknown>;
  templateId: string | null;
  position: unknown;
  updatedAt: string;
  outgoingTransitions: Transition[];
  incomingTransitions: Transition[];
}
interface Workflow {
  id: string;
  name: string;
  enabled: boolean;
  triggerType: string;
  triggerConfig: unknown;
  version: number;
  nextRunAt: string | null;
  updatedAt: string;
  problems: Array<{ code: string; severity: string; stepId: string | null }>;
  steps: Step[];
  transitions: Transition[];
}

const DELAY = { type: "DELAY", config: { amount: 1, unit: "hours" } };
const WAIT = { type: "WAIT_FOR_EVENT", config: { eventName: "bought", timeout: 60 } };
const CONDITION = { type: "CONDITION", config: { field: "data.plan", operator: "equals", value: "pro" } };
const UPDATE = { type: "UPDATE_CONTACT", config: { updates: { seen: true } } };
const EXIT = { type: "EXIT" };
const HOOK = { type: "WEBHOOK", config: { url: "https://example.com/hook" } };

let byKey: TestCaller = {};
beforeAll(() => {
  byKey = server.project.byKey;
});

const call = <Body = never>(method: string, path: string, body?: unknown) =>
  server.call<Body>(method, path, byKey, body);
const create = async (body: object = {}) =>
  (await call<Workflow>("POST", "/workflows", { name: "Welcome", eventName: "signed-up", ...body })).body;
const read = async (id: string) => (await call<Workflow>("GET", `/workflows/${id}`)).body;
const add = async (id: string, step: object) =>
  (await call<Step>("POST", `/workflows/${id}/steps`, step)).body;
const link = (id: string, from: string, to: string, more: object = {}) =>
  call<Transition>("POST", `/workflows/${id}/transitions`, { fromStepId: from, toStepId: to, ...more });
/** Each transition as `from→to`, by step name. */
function waysOf({ steps, transitions }: Workflow): string[] {
  const nameOf = (id: string) => steps.find((step) => step.id === id)?.name;
  return transitions
    .map(
      ({ fromStepId, toStepId, branch }) =>
        `${nameOf(fromStepId)}${branch === null ? "" : `:${branch}`}→${nameOf(toStepId)}`,
    )
    .toSorted();
}
const told = (reply: Reply<never>) => [reply.status, ...faultsOf(reply)].join(" ");

/** A workflow of named steps, linked in order from the TRIGGER. */
async function chain(...steps: object[]): Promise<{ id: string; ids: string[] }> {
  const { id } = await create();
  const ids: string[] = [];
  for (const [at, step] of steps.entries())
    ids.push((await add(id, { name: String.fromCharCode(65 + at), autoConnect: true, ...step })).id);
  return { id, ids };
}

test("creates a disabled workflow with an EVENT trigger and TRIGGER step for any body", async () => {
  const reply = await call<Workflow>("POST", "/workflows", {
    name: " Welcome ",
    description: "Hello",
    triggerConfig: { eventName: "signed-up" },
    triggerType: "MANUAL",
    enabled: true,
    allowReentry: true,
  });
  expect(reply.status).toBe(201);
  expect(reply.body).toMatchObject({
    name: "Welcome",
    description: "Hello",
    enabled: false,
    triggerType: "EVENT",
    triggerConfig: { eventName: "signed-up" },
    allowReentry: true,
    version: 1,
    transitions: [],
    problems: [{ code: "NO_STEPS", severity: "warning" }],
  });
  expect(reply.body.steps).toMatchObject([
    { type: "TRIGGER", name: "Trigger", config: { eventName: "signed-up" }, outgoingTransitions: [] },
  ]);
  expect(await read(reply.body.id)).toEqual(reply.body);
});

test("stores each type of step unchanged, with its transitions", async () => {
  const { byKey: owner } = server.project;
  const template = await server.call(templates.createTemplate, owner, {
    body: {
      name: "T",
      type: "TRANSACTIONAL",
      subject: "s",
      body: "b",
      from: "a@sandbox.localhost",
    },
  });
  const send = { type: "SEND_EMAIL", templateId: template.body.id };
  const { id, ids } = await chain(send, DELAY, WAIT, CONDITION, UPDATE, HOOK, EXIT);
  const workflow = await read(id);
  expect(waysOf(workflow)).toEqual(["A→B", "B→C", "C→D", "D:yes→E", "E→F", "F→G", "Trigger→A"]);
  expect(workflow.problems).toEqual([]);
  expect(workflow.steps[1]).toMatchObject({
    templateId: template.body.id,
    config: { templateId: template.body.id },
    incomingTransitions: [
      { fromStepId: workflow.steps[0]?.id, toStepId: ids[0], branch: null, condition: null },
    ],
    outgoingTransitions: [{ fromStepId: ids[0], toStepId: ids[1] }],
  });
  expect(workflow.steps[4]).toMatchObject({
    config: CONDITION.config,
    outgoingTransitions: [{ branch: "yes", condition: { branch: "yes" }, waitOutcome: null }],
  });
  const changed = await call<Step>("PATCH", `/workflows/${id}/steps/${ids[0]}`, {
    config: { recipient: { type: "CUSTOM", customEmail: "Boss@Example.com" } },
    position: { x: 1, y: -2.5 },
  });
  expect(changed.body).toMatchObject({
    templateId: template.body.id,
    config: { recipient: { customEmail: "boss@example.com" }, templateId: template.body.id },
    position: { x: 1, y: -2.5 },
    name: "A",
  });
  const cleared = await call<Step>("PATCH", `/workflows/${id}/steps/${ids[0]}`, { templateId: null });
  expect(cleared.body).toMatchObject({ templateId: null, config: { recipient: { type: "CUSTOM" } } });
  expect((await read(id)).problems).toMatchObject([
    { code: "NO_TEMPLATE", severity: "error", stepId: ids[0] },
  ]);
});

test("connects a new step to the branch of a given step in the same call", async () => {
  const { id, ids } = await chain(CONDITION, EXIT);
  const [condition = "", exit = ""] = ids;
  await add(id, { ...UPDATE, name: "C", fromStepId: condition.toUpperCase(), branch: "no" });
  expect(waysOf(await read(id))).toEqual(["A:no→C", "A:yes→B", "Trigger→A"]);
  const cases: Record<string, object> = {
    "the same branch again": { fromStepId: condition, branch: "no" },
    "after an exit": { fromStepId: exit },
    "after an unknown step": { fromStepId: randomUUID() },
    "a branch of no step": { branch: "no" },
    "two ways to connect": { fromStepId: condition, branch: "no", autoConnect: true },
  };
  const before = await read(id);
  const responses = await responsesByName(
    Object.entries(cases),
    ([name]) => name,
    async ([, from]) => told(await call("POST", `/workflows/${id}/steps`, { ...UPDATE, ...from })),
  );
  expect(responses).toEqual({
    "the same branch again": "422 branch custom",
    "after an exit": "422 fromStepId custom",
    "after an unknown step": "422 fromStepId custom",
    "a branch of no step": "422 fromStepId required",
    "two ways to connect": "422 fromStepId custom",
  });
  expect(await read(id)).toEqual(before);
});

test("reports a faulty config with its field names", async () => {
  const { id } = await create();
  const foreign = await server.createProject();
  const segment = await server.call(segments.createSegment, foreign.byKey, {
    body: {
      name: "S",
      type: "STATIC",
    },
  });
  const cases: Record<string, object> = {
    "no type": { config: {} },
    "unknown type": { type: "SMS" },
    "second trigger": { type: "TRIGGER" },
    "delay of a year and a day": { type: "DELAY", config: { amount: 366, unit: "days" } },
    "delay of nothing": { type: "DELAY" },
    "zone that is none": { type: "DELAY", config: { until: "09:00", timezone: "Mars/Olympus" } },
    "wait without event": { type: "WAIT_FOR_EVENT", config: {} },
    "wait filtered by the contact": {
      type: "WAIT_FOR_EVENT",
      config: {
        eventName: "e",
        filter: { operator: "AND", conditions: [{ field: "email", operator: "exists" }] },
      },
    },
    "condition without operator": { type: "CONDITION", config: { field: "data.a" } },
    "condition on a foreign segment": {
      type: "CONDITION",
      config: { field: `segment.${segment.body.id}`, operator: "memberOfSegment" },
    },
    "update of nothing": { type: "UPDATE_CONTACT", config: {} },
    "update of a long key": { type: "UPDATE_CONTACT", config: { updates: { ["k".repeat(256)]: 1 } } },
    "update of a key without a name": { type: "UPDATE_CONTACT", config: { updates: { "": 1 } } },
    "custom recipient without address": {
      type: "SEND_EMAIL",
      config: { recipient: { type: "CUSTOM" } },
    },
    "foreign template": { type: "SEND_EMAIL", templateId: randomUUID() },
    "template of a delay": { ...DELAY, templateId: randomUUID() },
    "webhook to itself": { type: "WEBHOOK", config: { url: "http://127.0.0.1/" } },
    "webhook to metadata": { type: "WEBHOOK", config: { url: "http://169.254.169.254/latest" } },
    "webhook to a private network": { type: "WEBHOOK", config: { url: "http://10.0.0.1/" } },
    "webhook with a header of two lines": {
      type: "WEBHOOK",
      config: { url: "https://example.com", headers: { "X-A": "a\r\nX-B: b" } },
    },
    "webhook that signs itself": {
      type: "WEBHOOK",
      config: { url: "https://example.com", headers: { "webhook-signature": "v1,a" } },
    },
    "two faults": { type: "DELAY", name: "", config: [] },
  };
  const before = await read(id);
  const responses = await responsesByName(
    Object.entries(cases),
    ([name]) => name,
    async ([, step]) => told(await call("POST", `/workflows/${id}/steps`, step)),
  );
  expect(responses).toEqual({
    "no type": "422 type required",
    "unknown type": "422 type invalid_enum_value",
    "second trigger": "422 type invalid_enum_value",
    "delay of a year and a day": "422 config.amount too_big",
    "delay of nothing": "422 config.amount required config.unit required",
    "zone that is none": "422 config.timezone invalid_string",
    "wait without event": "422 config.eventName required",
    "wait filtered by the contact": "422 config.filter custom",
    "condition without operator": "422 config.operator required",
    "condition on a foreign segment": "422 config custom",
    "update of nothing": "422 config.updates required",
    "update of a long key": "422 config.updates too_big",
    "update of a key without a name": "422 config.updates. custom",
    "custom recipient without address": "422 config.recipient.customEmail required",
    "foreign template": "422 templateId custom",
    "template of a delay": "422 templateId custom",
    "webhook to itself": "422 config.url invalid_string",
    "webhook to metadata": "422 config.url invalid_string",
    "webhook to a private network": "422 config.url invalid_string",
    "webhook with a header of two lines": "422 config.headers.X-A invalid_string",
    "webhook that signs itself": "422 config.headers.webhook-signature custom",
    "two faults": "422 config invalid_type name too_small",
  });
  expect(await read(id)).toEqual(before);
});

test("rejects graphs that cannot run", async () => {
  const { id, ids } = await chain(CONDITION, UPDATE, EXIT);
  const [condition = "", update = "", exit = ""] = ids;
  const other = await chain(UPDATE);
  const workflow = await read(id);
  const trigger = workflow.steps[0]?.id ?? "";
  const wait = (await add(id, WAIT)).id;
  const dated = await chain({ type: "DELAY", config: { dateField: "data.day" } }, UPDATE);
  const [delay = "", dayAfter = ""] = dated.ids;
  const cases: Record<string, () => Promise<Reply<never>>> = {
    "to itself": () => link(id, update, update) as Promise<Reply<never>>,
    "endless loop": () => link(id, update, condition) as Promise<Reply<never>>,
    "endless loop once the date has passed": () => link(dated.id, dayAfter, delay) as Promise<Reply<never>>,
    "a second way": () => link(id, update, wait) as Promise<Reply<never>>,
    "out of an exit": () => link(id, exit, wait) as Promise<Reply<never>>,
    "into the trigger": () => link(id, wait, trigger) as Promise<Reply<never>>,
    "no branch": () => link(id, condition, wait) as Promise<Reply<never>>,
    "a wait's branch of a condition": () =>
      link(id, condition, wait, { branch: "event" }) as Promise<Reply<never>>,
    "a branch of an update": () => link(id, update, exit, { branch: "yes" }) as Promise<Reply<never>>,
    "the same branch twice": () =>
      link(id, condition, exit, { condition: { branch: "yes" } }) as Promise<Reply<never>>,
    "two branches named": () =>
      link(id, condition, exit, { branch: "no", waitOutcome: "EVENT" }) as Promise<Reply<never>>,
    "a step of another workflow": () => link(id, wait, other.ids[0] ?? "") as Promise<Reply<never>>,
    "a step that is no id": () => link(id, "x", exit) as Promise<Reply<never>>,
  };
  const before = await read(id);
  const responses = await responsesByName(
    Object.entries(cases),
    ([name]) => name,
    async ([, ask]) => told(await ask()),
  );
  expect(responses).toEqual({
    "to itself": "422 toStepId custom",
    "endless loop": "422 fromStepId custom toStepId custom",
    "endless loop once the date has passed": "422 toStepId custom",
    "a second way": "422 fromStepId custom",
    "out of an exit": "422 fromStepId custom",
    "into the trigger": "422 toStepId custom",
    "no branch": "422 branch required",
    "a wait's branch of a condition": "422 branch custom",
    "a branch of an update": "422 branch custom",
    "the same branch twice": "422 branch custom",
    "two branches named": "422 branch custom",
    "a step of another workflow": "422 toStepId custom",
    "a step that is no id": "422 fromStepId invalid_string",
  });
  expect(await read(id)).toEqual(before);
  // A loop is allowed if it contains a wait.
  expect((await link(id, exit, wait)).status).toBe(422);
  await call("DELETE", `/workflows/${id}/steps/${exit}`);
  expect((await link(id, update, wait)).status).toBe(201);
  expect((await link(id, wait, condition, { waitOutcome: "TIMEOUT" })).body).toMatchObject({
    branch: "timeout",
    waitOutcome: "TIMEOUT",
    condition: { branch: "timeout" },
  });
  expect(told((await link(id, wait, update)) as Reply<never>)).toBe("422 branch custom");
});

test("returns the existing transition when it is created again", async () => {
  const { id, ids } = await chain(CONDITION, EXIT);
  const again = await link(id, ids[0] ?? "", ids[1]?.toUpperCase() ?? "", { branch: "yes" });
  expect(again.status).toBe(200);
  expect((await read(id)).transitions.map((one) => one.id)).toContain(again.body.id);
  expect((await read(id)).transitions).toHaveLength(2);
});

test("rejects the second of two edits only if it gives the version it read", async () => {
  const { id, ids } = await chain(DELAY);
  const before = await read(id);
  const change = (path: string, body: object) => call("PATCH", `/workflows/${id}${path}`, body);
  const step = `/steps/${ids[0]}`;
  const readOf = ({ steps }: Workflow) => steps.find((one) => one.id === ids[0])?.updatedAt;
  const expectedUpdatedAt = readOf(before);
  const both = await Promise.all(
    [2, 3].map((amount) => change(step, { config: { amount, unit: "days" }, expectedUpdatedAt })),
  );
  expect(both.map(errorOf).toSorted()).toEqual(["200 undefined", "409 CHANGED_MEANWHILE"]);
  const one = await change("", { name: "One", expectedUpdatedAt: before.updatedAt });
  expect(errorOf(one)).toBe("409 CHANGED_MEANWHILE");
  const now = await read(id);
  expect(now.name).toBe(before.name);
  expect((await change("", { name: "One", expectedUpdatedAt: now.updatedAt })).status).toBe(200);
  expect(errorOf(await change("", { name: "Two", expectedUpdatedAt: now.updatedAt }))).toBe(
    "409 CHANGED_MEANWHILE",
  );
  // A change elsewhere in the workflow does not affect the step.
  expect((await change(step, { name: "Wait", expectedUpdatedAt: readOf(now) })).status).toBe(200);
  expect((await change(step, { name: "Wait on" })).status).toBe(200);
});

test("inserts a step between two others and splices it out", async () => {
  const { id, ids } = await chain(DELAY, EXIT);
  const [, between] = (await read(id)).transitions;
  const path = `/workflows/${id}/transitions/${between?.id}/insert-step`;
  const inserted = await call<Step>("POST", path, { ...CONDITION, name: "If" });
  expect(inserted.status).toBe(201);
  expect(inserted.body.incomingTransitions).toMatchObject([{ id: between?.id, fromStepId: ids[0] }]);
  expect(waysOf(await read(id))).toEqual(["A→If", "If:yes→B", "Trigger→A"]);
  for (const type of ["TRIGGER", "EXIT"])
    expect(told(await call("POST", path, { type }))).toBe("422 type invalid_enum_value");
  const splice = (step: string) => call("DELETE", `/workflows/${id}/steps/${step}?splice=true`);
  expect((await splice(inserted.body.id)).status).toBe(204);
  expect(waysOf(await read(id))).toEqual(["A→B", "Trigger→A"]);
  expect((await splice(ids[0] ?? "")).status).toBe(204);
  expect(waysOf(await read(id))).toEqual(["Trigger→B"]);
  const trigger = (await read(id)).steps[0]?.id ?? "";
  for (const query of ["", "?splice=true"])
    expect(errorOf(await call("DELETE", `/workflows/${id}/steps/${trigger}${query}`))).toBe("409 CONFLICT");
});

test("rejects splicing the wait out of a loop", async () => {
  const { id, ids } = await chain(UPDATE, HOOK, DELAY);
  await link(id, ids[2] ?? "", ids[0] ?? "");
  const before = await read(id);
  expect(errorOf(await call("DELETE", `/workflows/${id}/steps/${ids[2]}?splice=true`))).toBe("409 CONFLICT");
  expect(await read(id)).toEqual(before);
});

test("keeps later steps, with a problem, when a step is deleted without splice", async () => {
  const { id, ids } = await chain(DELAY, UPDATE, EXIT);
  expect((await call("DELETE", `/workflows/${id}/steps/${ids[1]}`)).status).toBe(204);
  const workflow = await read(id);
  expect(waysOf(workflow)).toEqual(["Trigger→A"]);
  expect(workflow.problems).toMatchObject([
    { code: "UNREACHABLE_STEP", severity: "warning", stepId: ids[2] },
  ]);
  const [first] = workflow.transitions;
  expect((await call("DELETE", `/workflows/${id}/transitions/${first?.id}`)).status).toBe(204);
  expect(waysOf(await read(id))).toEqual([]);
});

test("starts at the oldest step without incoming transition while the TRIGGER is unlinked", async () => {
  const { id } = await create();
  const first = await add(id, { ...DELAY, name: "A" });
  const second = await add(id, { ...EXIT, name: "B" });
  await link(id, first.id, second.id);
  expect((await read(id)).problems).toEqual([]);
});

test("returns 404 for unknown ids and ids of other projects", async () => {
  const { id, ids } = await chain(DELAY, EXIT);
  const foreign = await server.createProject();
  const [transition] = (await read(id)).transitions;
  const no = randomUUID();
  const asked: Array<[string, string, object?]> = [
    ["GET", `/workflows/${id}`],
    ["PATCH", `/workflows/${id}`, {}],
    ["DELETE", `/workflows/${id}`],
    ["POST", `/workflows/${id}/duplicate`],
    ["POST", `/workflows/${id}/steps`, EXIT],
    ["PATCH", `/workflows/${id}/steps/${ids[0]}`, {}],
    ["DELETE", `/workflows/${id}/steps/${ids[0]}`],
    ["POST", `/workflows/${id}/transitions`, { fromStepId: ids[0], toStepId: ids[1] }],
    ["DELETE", `/workflows/${id}/transitions/${transition?.id}`],
    ["POST", `/workflows/${id}/transitions/${transition?.id}/insert-step`, DELAY],
  ];
  for (const [method, path, body] of asked)
    for (const [caller, where] of [
      [foreign.byKey, path],
      [byKey, path.replace(id, no)],
      [byKey, path.replace(id, "nonsense")],
    ] as const)
      expect([where, errorOf(await server.call(method, where, caller, body))]).toEqual([
        where,
        "404 WORKFLOW_NOT_FOUND",
      ]);
  for (const wrong of [no, "nonsense"]) {
    expect(errorOf(await call("PATCH", `/workflows/${id}/steps/${wrong}`, {}))).toBe("404 STEP_NOT_FOUND");
    expect(errorOf(await call("DELETE", `/workflows/${id}/steps/${wrong}`))).toBe("404 STEP_NOT_FOUND");
    expect(errorOf(await call("DELETE", `/workflows/${id}/transitions/${wrong}`))).toBe(
      "404 TRANSITION_NOT_FOUND",
    );
    expect(errorOf(await call("POST", `/workflows/${id}/transitions/${wrong}/insert-step`, DELAY))).toBe(
      "404 TRANSITION_NOT_FOUND",
    );
  }
});

test("keeps all concurrent edits except those that break the graph together", async () => {
  const { id, ids } = await chain(CONDITION);
  await Promise.all(Array.from({ length: 8 }, () => call("POST", `/workflows/${id}/steps`, EXIT)));
  const { steps } = await read(id);
  expect(steps).toHaveLength(10);
  const replies = await Promise.all(
    steps.slice(2).map((exit) => link(id, ids[0] ?? "", exit.id, { branch: "no" })),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(422)]);
  expect((await read(id)).transitions.filter(({ branch }) => branch === "no")).toHaveLength(1);
});

test("rejects more steps than the limit of a workflow", async () => {
  const { id } = await create();
  await server.rows(
    `update workflow_versions set graph = jsonb_set(graph, '{steps}', (graph -> 'steps') || (
       select jsonb_agg(jsonb_build_object('id', gen_random_uuid(), 'type', 'EXIT', 'name', 'E', 'config', '{}'::jsonb,
         'position', null, 'createdAt', now(), 'updatedAt', now())) from generate_series(1, $2::int)))
     where workflow_id = $1`,
    id,
    LIMITS.workflowSteps.value - 2,
  );
  expect((await call("POST", `/workflows/${id}/steps`, EXIT)).status).toBe(201);
  expect(told(await call("POST", `/workflows/${id}/steps`, EXIT))).toBe("422 steps too_big");
});
