// Pasting copied steps over HTTP: where they are connected, what they refer to, and what is rejected.
import { expect, test } from "vitest";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

interface Step {
  id: string;
  type: string;
  name: string;
  config: Record<string, unknown>;
  position: object | null;
  note: string | null;
}
interface Workflow {
  revision: number;
  steps: Step[];
  transitions: Array<{ id: string; fromStepId: string; toStepId: string; branch: string | null }>;
  problems: Array<{ code: string; stepId: string | null }>;
}

const call = <Body = never>({ byKey }: TestProject, method: string, path: string, body?: object) =>
  server.call<Body>(method, path, byKey, body);
const make = async (project: TestProject, path: string, body: object) =>
  (await call<{ id: string }>(project, "POST", path, body)).body.id;
const read = async (project: TestProject, path: string) => (await call<Workflow>(project, "GET", path)).body;

const DELAY = { type: "DELAY", config: { amount: 1, unit: "hours" } };
const IF = { type: "CONDITION", config: { field: "data.plan", operator: "equals", value: "pro" } };
const step = (key: string, from: object = DELAY) => ({ ...from, key, name: key, position: { x: 1, y: 2 } });
const way = (from: string, to: string, branch: string | null = null) => ({ from, to, branch, priority: 0 });
const copied = (steps: object[], transitions: object[] = [], names: object = {}) => ({
  format: "postloft.steps",
  formatVersion: 1,
  steps,
  transitions,
  templates: [],
  segments: [],
  ...names,
});

/** A workflow with the steps A and End. Describes its transitions as `A→End`. */
async function draw(project: TestProject) {
  const path = `/workflows/${await make(project, "/workflows", { name: "W", eventName: "signed-up" })}`;
  const first = await make(project, `${path}/steps`, { ...DELAY, name: "A", autoConnect: true });
  const last = await make(project, `${path}/steps`, { type: "EXIT", name: "End", autoConnect: true });
  const { transitions } = await read(project, path);
  const paste = (body: object) => call<{ steps: Step[] }>(project, "POST", `${path}/paste`, body);
  const ways = async () => {
    const graph = await read(project, path);
    const nameOf = (id: string) => graph.steps.find((one) => one.id === id)?.name;
    return graph.transitions
      .map(({ fromStepId, toStepId, branch }) =>
        [nameOf(fromStepId), branch === null ? "" : `:${branch}`, "→", nameOf(toStepId)].join(""),
      )
      .toSorted();
  };
  return { path, first, last, between: transitions[1]?.id ?? "", paste, ways };
}

test("inserts copied steps into a transition in one edit, and continues by their first branch", async () => {
  const project = await server.createProject();
  const { path, between, paste, ways } = await draw(project);
  const { revision } = await read(project, path);
  const chain = copied(
    [step("B"), step("If", IF), { ...step("C"), note: "Why" }, step("D")],
    [way("B", "If"), way("If", "D", "no"), way("If", "C", "yes")],
  );
  const reply = await paste({ copied: chain, transitionId: between });
  expect(reply.status).toBe(201);
  expect(reply.body.steps.map(({ name, position, note }) => [name, position, note])).toEqual([
    ["B", null, null],
    ["If", null, null],
    ["C", null, "Why"],
    ["D", null, null],
  ]);
  expect(await ways()).toEqual(["A→B", "B→If", "C→End", "If:no→D", "If:yes→C", "Trigger→A"]);
  expect((await read(project, path)).revision).toBe(revision + 1);
  const back = { revision, expectedRevision: revision + 1 };
  expect((await call(project, "POST", `${path}/undo`, back)).status).toBe(200);
  expect(await ways()).toEqual(["A→End", "Trigger→A"]);
});

test("continues copied steps by the first branch without an EXIT and without a way back", async () => {
  const project = await server.createProject();
  const { between, paste, ways } = await draw(project);
  const exit = step("Stop", { type: "EXIT", config: {} });
  const chain = copied(
    [step("B"), step("If", IF), exit, step("Or", IF)],
    [way("B", "If"), way("If", "Stop", "yes"), way("If", "Or", "no"), way("Or", "B", "yes")],
  );
  expect((await paste({ copied: chain, transitionId: between })).status).toBe(201);
  const inside = ["B→If", "If:no→Or", "If:yes→Stop", "Or:yes→B"];
  expect(await ways()).toEqual(["A→B", ...inside, "Or:no→End", "Trigger→A"].toSorted());
});

test("continues an open branch with copied steps, also twice with different ids", async () => {
  const project = await server.createProject();
  const { path, between, paste, ways } = await draw(project);
  await paste({ copied: copied([step("If", IF)]), transitionId: between });
  expect(await ways()).toEqual(["A→If", "If:yes→End", "Trigger→A"]);
  const fromStepId = (await read(project, path)).steps.find(({ name }) => name === "If")?.id;
  const open = { copied: copied([step("B")]), fromStepId, branch: "no" };
  expect((await paste(open)).status).toBe(201);
  expect(faultsOf(await paste(open))).toEqual(["branch custom"]);
  const { steps } = await read(project, path);
  const after = steps.find(({ name }) => name === "B")?.id;
  expect((await paste({ ...open, fromStepId: after, branch: null })).status).toBe(201);
  expect(await ways()).toEqual(["A→If", "B→B", "If:no→B", "If:yes→End", "Trigger→A"]);
});

const furnish = async (one: TestProject) => ({
  templateId: await make(one, "/templates", {
    name: "Hello",
    type: "TRANSACTIONAL",
    subject: "s",
    body: "b",
    from: "a@sandbox.localhost",
  }),
  segmentId: await make(one, "/segments", {
    name: "Pros",
    filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
  }),
});

test("finds templates and segments of the target project by name, and reports missing ones", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { templateId, segmentId } = await furnish(project);
  const chain = copied(
    [
      step("Mail", { type: "SEND_EMAIL", config: { templateId } }),
      step("In", {
        type: "CONDITION",
        config: { field: `segment.${segmentId}`, operator: "memberOfSegment" },
      }),
      step("Call", {
        type: "WEBHOOK",
        config: { url: "https://hooks.example.com/", headers: { authorization: "••••" } },
      }),
    ],
    [way("Mail", "In"), way("In", "Call", "yes")],
    {
      templates: [{ id: templateId, name: "Hello" }],
      segments: [{ id: segmentId, name: "Pros", slug: "pros" }],
    },
  );
  const { path, between, paste } = await draw(other);
  const bare = await paste({ copied: chain, transitionId: between });
  expect(bare.status).toBe(201);
  expect(bare.body.steps[0]?.config).toEqual({});
  const { problems } = await read(other, path);
  expect(problems.map(({ code, stepId }) => [code, stepId])).toEqual(
    expect.arrayContaining([
      ["NO_TEMPLATE", bare.body.steps[0]?.id],
      ["MISSING_SEGMENT", bare.body.steps[1]?.id],
      ["MISSING_HEADER", bare.body.steps[2]?.id],
    ]),
  );
  const there = await furnish(other);
  const found = await paste({ copied: chain, transitionId: between });
  const text = JSON.stringify(found.body);
  for (const id of Object.values(there)) expect(text).toContain(id);
  for (const id of [templateId, segmentId]) expect(text).not.toContain(id);
});

test("refuses steps with problems in an enabled workflow", async () => {
  const project = await server.createProject();
  const { path, between, paste } = await draw(project);
  await call(project, "PATCH", path, { enabled: true });
  const mail = copied([step("Mail", { type: "SEND_EMAIL", config: {} })]);
  expect(faultsOf(await paste({ copied: mail, transitionId: between }))).toEqual(["steps custom"]);
  expect((await paste({ copied: copied([step("B")]), transitionId: between })).status).toBe(201);
});

test("rejects copied steps that could not run, names the field, and changes nothing", async () => {
  const project = await server.createProject();
  const { path, first, last, between, paste } = await draw(project);
  const before = await read(project, path);
  const one = copied([step("B")]);
  const into = { transitionId: between };
  const exit = step("X", { type: "EXIT", config: {} });
  const update = { type: "UPDATE_CONTACT", config: { updates: { n: 1 } } };
  const hook = { type: "WEBHOOK", config: { url: "http://[::1]/" } };
  const faulty: Array<[string, object]> = [
    ["transitionId custom", { copied: one }],
    ["transitionId custom", { copied: one, ...into, fromStepId: last }],
    ["fromStepId required", { copied: one, ...into, branch: "yes" }],
    ["fromStepId custom", { copied: one, fromStepId: last }],
    ["fromStepId custom", { copied: one, fromStepId: first }],
    ["transitionId custom", { copied: copied([step("B"), exit], [way("B", "X")]), ...into }],
    ["copied.format invalid_enum_value", { copied: { ...one, format: "postloft.workflow" }, ...into }],
    ["copied.formatVersion invalid_enum_value", { copied: { ...one, formatVersion: 2 }, ...into }],
    ["copied.steps.0.type custom", { copied: copied([step("T", { type: "TRIGGER", config: {} })]), ...into }],
    ["copied.steps.1.key custom", { copied: copied([step("B"), step("B")]), ...into }],
    ["copied.steps.0.config.url invalid_string", { copied: copied([step("H", hook)]), ...into }],
    [
      "copied.steps.0.config.unit required",
      { copied: copied([step("B", { ...DELAY, config: { amount: 1 } })]), ...into },
    ],
    ["copied.transitions.0.to custom", { copied: copied([step("B")], [way("B", first)]), ...into }],
    [
      "copied.transitions.0.branch custom",
      { copied: copied([step("B"), step("C")], [way("B", "C", "yes")]), fromStepId: first },
    ],
    [
      "transitionId custom",
      { copied: copied([step("B"), step("C")], [way("B", "C"), way("C", "B")]), ...into },
    ],
    [
      "copied.transitions.1.to custom",
      {
        copied: copied([step("B", update), step("C", update)], [way("B", "C"), way("C", "B")]),
        fromStepId: first,
      },
    ],
  ];
  for (const [fault, body] of faulty) {
    const reply = await paste(body);
    expect([reply.status, faultsOf(reply)[0]]).toEqual([422, fault]);
  }
  expect(errorOf(await paste({ copied: one, transitionId: first }))).toBe("404 TRANSITION_NOT_FOUND");
  expect(await read(project, path)).toEqual(before);
});
