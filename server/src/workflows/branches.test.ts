// The steps BRANCH and RANDOM_SPLIT over HTTP: configs, transitions by name, renamed branches, references and exports.
import { beforeAll, expect, test } from "vitest";
import * as segments from "@postloft/contract/segments.ts";
import * as steps from "@postloft/contract/workflows/steps.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { errorOf, faultsOf, useTestServer, type Reply, type TestCaller } from "../testing/test-server.ts";
import type { BodyOf } from "../testing/typed-call.ts";

const server = useTestServer({ ROLES: "api" });
let byKey: TestCaller = {};
beforeAll(() => {
  byKey = server.project.byKey;
});

const PLAN = { field: "data.plan", operator: "equals", value: "pro" };
const named = (name: string, filter: object = PLAN) => ({ name, filter });
const BRANCH = { branches: [named("Enterprise"), named("Pro")] };
const share = (name: string, percent: number) => ({ name, percent });
const SPLIT = { shares: [share("A", 50), share("B", 50)] };

const call = (method: string, path: string, body?: unknown) => server.call<never>(method, path, byKey, body);
const messageOf = (reply: Reply<never>) => JSON.stringify(reply.body);

async function create(): Promise<string> {
  const { body } = await server.call(workflows.createWorkflow, byKey, {
    body: { name: "W", eventName: "signed-up" },
  });
  return body.id;
}

async function add(id: string, body: BodyOf<typeof steps.createStep>) {
  const reply = await server.call(steps.createStep, byKey, { params: { id }, body });
  expect(reply.status).toBe(201);
  return reply.body;
}

const link = (id: string, fromStepId: string, toStepId: string, by?: string) =>
  call("POST", `/workflows/${id}/transitions`, { fromStepId, toStepId, branch: by });

/** The transitions of a workflow as `branch→name`, without those of the TRIGGER. */
async function waysOf(id: string): Promise<string[]> {
  const { body } = await server.call(workflows.getWorkflow, byKey, { params: { id } });
  return body.transitions
    .filter(({ branch: by }) => by !== null)
    .map(({ branch: by, toStepId }) => `${by}→${body.steps.find((step) => step.id === toStepId)?.name}`)
    .toSorted();
}

/** A workflow with a step whose branches lead to an EXIT of their name. */
async function fork(type: "BRANCH" | "RANDOM_SPLIT", config: object, names: readonly string[]) {
  const id = await create();
  const step = await add(id, { type, name: "Fork", config: { ...config }, autoConnect: true });
  for (const name of names) await add(id, { type: "EXIT", name, fromStepId: step.id, branch: name });
  return { id, step };
}

test.each<[string, "BRANCH" | "RANDOM_SPLIT", unknown, string]>([
  ["no branches", "BRANCH", {}, "config.branches required"],
  ["an empty list", "BRANCH", { branches: [] }, "config.branches too_small"],
  [
    "21 branches",
    "BRANCH",
    { branches: Array.from({ length: 21 }, (_, at) => named(`b${at}`)) },
    "config.branches too_big",
  ],
  ["two names", "BRANCH", { branches: [named("A"), named(" a ")] }, "config.branches.1.name custom"],
  ["the name else", "BRANCH", { branches: [named("Else")] }, "config.branches.0.name custom"],
  ["no name", "BRANCH", { branches: [named(" ")] }, "config.branches.0.name too_small"],
  ["a long name", "BRANCH", { branches: [named("x".repeat(101))] }, "config.branches.0.name too_big"],
  ["two lines", "BRANCH", { branches: [named("a\nb")] }, "config.branches.0.name invalid_string"],
  ["no filter", "BRANCH", { branches: [{ name: "A" }] }, "config.branches.0.filter required"],
  ["an empty filter", "BRANCH", { branches: [named("A", {})] }, "config.branches.0.filter.operator required"],
  [
    "a group without conditions",
    "BRANCH",
    { branches: [named("A", { operator: "AND", conditions: [] })] },
    "config.branches.0.filter.conditions too_small",
  ],
  [
    "an unknown field",
    "BRANCH",
    { branches: [{ ...named("A"), colour: "red" }] },
    "config.branches.0.colour unknown_field",
  ],
  [
    "a faulty variable",
    "BRANCH",
    { branches: [named("A"), named("B", { ...PLAN, value: "{{x y}}" })] },
    "config.branches.1.filter custom",
  ],
  ["one share", "RANDOM_SPLIT", { shares: [share("A", 100)] }, "config.shares.0.percent too_big"],
  [
    "21 shares",
    "RANDOM_SPLIT",
    { shares: Array.from({ length: 21 }, (_, at) => share(`s${at}`, 100 / 21)) },
    "config.shares too_big",
  ],
  ["99.99 percent", "RANDOM_SPLIT", { shares: [share("A", 50), share("B", 49.99)] }, "config.shares custom"],
  [
    "three decimals",
    "RANDOM_SPLIT",
    { shares: [share("A", 33.333), share("B", 66.667)] },
    "config.shares.0.percent custom",
  ],
  [
    "no percent",
    "RANDOM_SPLIT",
    { shares: [share("A", 0), share("B", 100)] },
    "config.shares.0.percent too_small",
  ],
  [
    "equal names",
    "RANDOM_SPLIT",
    { shares: [share("A", 50), share("A", 50)] },
    "config.shares.1.name custom",
  ],
])("rejects a step with %s", async (_, type, config, fault) => {
  const reply = await call("POST", `/workflows/${await create()}/steps`, { type, config });
  expect([reply.status, ...faultsOf(reply)]).toEqual(expect.arrayContaining([422, fault]));
});

test("names the sum of shares that do not add up to 100 percent", async () => {
  const config = { shares: [share("A", 33.33), share("B", 33.33), share("C", 33.33)] };
  const reply = await call("POST", `/workflows/${await create()}/steps`, { type: "RANDOM_SPLIT", config });
  expect(messageOf(reply)).toContain("The shares must add up to 100 percent, not 99.99.");
});

test("connects each branch by its name once, and rejects other names", async () => {
  const { id, step } = await fork("BRANCH", BRANCH, ["Enterprise", "else"]);
  const split = await fork("RANDOM_SPLIT", SPLIT, ["A", "B"]);
  expect([await waysOf(id), await waysOf(split.id)]).toEqual([
    ["Enterprise→Enterprise", "else→else"],
    ["A→A", "B→B"],
  ]);
  const end = await add(id, { type: "EXIT", name: "End" });
  const splitEnd = await add(split.id, { type: "EXIT", name: "End" });
  const refused = [
    await link(id, step.id, end.id, "Enterprise"),
    await link(id, step.id, end.id),
    await link(id, step.id, end.id, "pro"),
    await link(id, step.id, end.id, "x".repeat(101)),
    await link(split.id, split.step.id, splitEnd.id, "else"),
  ];
  expect(refused.map((reply) => [reply.status, ...faultsOf(reply)].join(" "))).toEqual([
    "422 branch custom",
    "422 branch required",
    "422 branch custom",
    "422 branch too_big",
    "422 branch custom",
  ]);
  expect(refused.slice(1, 3).map(messageOf)).toEqual([
    expect.stringContaining("Required after a BRANCH: `Enterprise` or `Pro` or `else`."),
    expect.stringContaining("Must be `Enterprise` or `Pro` or `else` after a BRANCH."),
  ]);
  expect((await link(id, step.id, end.id, "Pro")).status).toBe(201);
});

test("keeps the paths of renamed branches, and refuses to remove a branch that leads to a step", async () => {
  const { id, step } = await fork("BRANCH", BRANCH, ["Enterprise", "Pro", "else"]);
  const patch = (body: object) => call("PATCH", `/workflows/${id}/steps/${step.id}`, body);
  const swapped = { branches: [named("Pro"), named("Large")] };
  const before = await waysOf(id);

  const refused = [
    await patch({ config: swapped }),
    await patch({ config: swapped, renamedBranches: { Enterprise: "Big" } }),
    await patch({ config: swapped, renamedBranches: { Small: "Large" } }),
    await patch({ config: swapped, renamedBranches: { Enterprise: "Pro", Pro: "Pro" } }),
    await patch({ config: { branches: [named("Pro")] } }),
  ];
  expect(refused.map((reply) => [reply.status, ...faultsOf(reply)].join(" "))).toEqual([
    "422 config.branches custom",
    "422 renamedBranches custom",
    "422 renamedBranches custom",
    "422 renamedBranches custom",
    "422 config.branches custom",
  ]);
  expect(messageOf(refused[0] as Reply<never>)).toContain(
    `The branch \\"Enterprise\\" leads to another step.`,
  );
  expect(await waysOf(id)).toEqual(before);

  expect(
    (await patch({ config: swapped, renamedBranches: { Enterprise: "Pro", Pro: "Large" } })).status,
  ).toBe(200);
  expect(await waysOf(id)).toEqual(["Large→Pro", "Pro→Enterprise", "else→else"]);
});

test("removes a branch and its transition on request, also while contacts are on its path", async () => {
  const { id, step } = await fork("RANDOM_SPLIT", SPLIT, ["A", "B"]);
  await server.rows("update workflow_versions set is_used = true where workflow_id = $1", id);
  const path = `/workflows/${id}/steps/${step.id}`;
  const config = { shares: [share("A", 90), share("C", 10)] };
  expect(faultsOf(await call("PATCH", path, { config }))).toEqual(["config.shares custom"]);
  expect(await waysOf(id)).toEqual(["A→A", "B→B"]);
  expect((await call("PATCH", path, { config, renamedBranches: { B: null } })).status).toBe(200);
  expect(await waysOf(id)).toEqual(["A→A"]);
  const former = await server.call(versions.getVersion, byKey, { params: { id, version: "1" } });
  expect(former.body.steps[1]?.config).toEqual(SPLIT);
  const other = await add(id, { type: "DELAY", config: { amount: 1, unit: "hours" } });
  const refused = await call("PATCH", `/workflows/${id}/steps/${other.id}`, { renamedBranches: { a: "b" } });
  expect(faultsOf(refused)).toEqual(["renamedBranches custom"]);
});

test("inserting a branching step uses its first branch, and splicing one needs a single next step", async () => {
  const id = await create();
  const first = await add(id, { type: "DELAY", config: { amount: 1, unit: "hours" }, autoConnect: true });
  const last = await add(id, { type: "EXIT", name: "End", autoConnect: true });
  const { body } = await server.call(workflows.getWorkflow, byKey, { params: { id } });
  const between = body.transitions.find((one) => one.fromStepId === first.id);
  const { body: step } = await server.call(steps.insertStep, byKey, {
    params: { id, transitionId: between?.id ?? "" },
    body: { type: "BRANCH", config: BRANCH },
  });
  expect(await waysOf(id)).toEqual(["Enterprise→End"]);
  const splice = () => call("DELETE", `/workflows/${id}/steps/${step.id}?splice=true`);
  const other = await add(id, { type: "EXIT", name: "Other", fromStepId: step.id, branch: "Pro" });
  expect(errorOf(await splice())).toBe("409 CONFLICT");
  expect((await call("DELETE", `/workflows/${id}/steps/${other.id}`)).status).toBe(204);
  expect((await link(id, step.id, last.id, "else")).status).toBe(201);
  // The branch "Pro" leads nowhere.
  expect((await splice()).status).toBe(204);
  const after = await server.call(workflows.getWorkflow, byKey, { params: { id } });
  expect(after.body.transitions.find((one) => one.id === between?.id)).toMatchObject({
    fromStepId: first.id,
    toStepId: last.id,
  });
});

test("protects what branch filters use, and finds segments by slug in another project", async () => {
  const project = await server.createProject();
  const make = async (body: BodyOf<typeof segments.createSegment>, owner = project.byKey) =>
    (await server.call(segments.createSegment, owner, { body })).body.id;
  const segmentId = await make({ name: "Pros", type: "STATIC" });
  const inSegment = {
    operator: "OR",
    conditions: [PLAN, { field: `segment.${segmentId}`, operator: "memberOfSegment" }],
  };
  const { body: made } = await server.call(workflows.createWorkflow, project.byKey, {
    body: { name: "W", eventName: "signed-up" },
  });
  const config = { branches: [named("A"), named("B", inSegment)] };
  await server.call(steps.createStep, project.byKey, {
    params: { id: made.id },
    body: { type: "BRANCH", config, autoConnect: true },
  });
  await server.call(workflows.updateWorkflow, project.byKey, {
    params: { id: made.id },
    body: { enabled: true },
  });
  const inUse = await server.call<never>("DELETE", `/segments/${segmentId}`, project.byKey);
  expect(errorOf(inUse)).toBe("409 CONFLICT");
  await server.call("POST", "/contacts", project.byKey, { email: "ada@example.com", data: { plan: "pro" } });
  const field = await server.call<{ workflows: unknown[] }>(
    "GET",
    "/contacts/fields/data.plan/usage",
    project.byKey,
  );
  expect(JSON.stringify(field.body)).toContain(made.id);

  const document = await server.call(versions.exportWorkflow, project.byKey, { params: { id: made.id } });
  const other = await server.createProject();
  const importIt = () => server.call<never>("POST", "/workflows/import", other.byKey, document.body);
  expect(faultsOf(await importIt())).toEqual(["steps.1.config custom"]);
  const there = await make({ name: "Pros", type: "STATIC" }, other.byKey);
  const imported = await importIt();
  expect(imported.status).toBe(201);
  expect(JSON.stringify(imported.body)).toContain(`segment.${there}`);
  expect(JSON.stringify(imported.body)).not.toContain(segmentId);
});
