// Versions of a graph over HTTP, stored while they are used, and exports of workflows from project to project.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { newId } from "../platform/ids.ts";
import { faultsOf, errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

interface Graph {
  version: number;
  steps: Array<{ id: string; type: string; name: string; config: Record<string, unknown> }>;
  transitions: Array<{ id: string; fromStepId: string; toStepId: string; branch: string | null }>;
}
type Workflow = Graph & {
  id: string;
  enabled: boolean;
  triggerConfig: Record<string, unknown>;
  problems: Array<{ code: string }>;
};
type Document = Record<string, unknown> & {
  steps: Array<{ key: string; type: string; config: Record<string, unknown> }>;
  transitions: Array<Record<string, unknown>>;
  templates: Array<{ id: string; name: string }>;
  segments: Array<{ id: string; name: string; slug: string }>;
};

const DELAY = { type: "DELAY", config: { amount: 1, unit: "hours" } };
const call = <Body = never>({ byKey }: TestProject, method: string, path: string, body?: object) =>
  server.call<Body>(method, path, byKey, body);
const make = async <Body = Workflow>(project: TestProject, path: string, body: object) =>
  (await call<Body>(project, "POST", path, body)).body;
const read = async (project: TestProject, id: string) =>
  (await call<Workflow>(project, "GET", `/workflows/${id}`)).body;
/** The graph without timestamps. */
const drawn = ({ steps, transitions }: Graph) => ({ steps, transitions });

/** An execution of a version as the engine would store it. */
async function start({ id: projectId }: TestProject, workflowId: string, version: number) {
  await server.rows(
    "update workflow_versions set is_used = true where workflow_id = $1 and version = $2",
    workflowId,
    version,
  );
  await server.rows(
    `insert into workflow_executions (project_id, id, workflow_id, entry, version, status)
     values ($1, $2, $3, 0, $4, 'WAITING')`,
    projectId,
    newId(),
    workflowId,
    version,
  );
}

test("changes a graph in place until an execution starts on it, and then adds a version", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  const step = await make<{ id: string }>(project, `/workflows/${id}/steps`, { ...DELAY, name: "First" });
  expect((await read(project, id)).version).toBe(1);
  await start(project, id, 1);
  const first = drawn(await read(project, id));
  await call(project, "PATCH", `/workflows/${id}/steps/${step.id}`, { name: "Changed" });
  const exit = await make<{ id: string }>(project, `/workflows/${id}/steps`, {
    type: "EXIT",
    autoConnect: true,
  });
  const second = await read(project, id);
  expect(second.version).toBe(2);
  expect(second.steps.slice(0, 2).map((one) => one.id)).toEqual(first.steps.map((one) => one.id));
  expect(drawn((await call<Graph>(project, "GET", `/workflows/${id}/versions/1`)).body)).toEqual(first);
  expect((await call(project, "GET", `/workflows/${id}/versions`)).body).toMatchObject({
    data: [
      { version: 2, isCurrent: true, isUsed: false, steps: 3, activeExecutions: 0 },
      { version: 1, isCurrent: false, isUsed: true, steps: 2, activeExecutions: 1 },
    ],
    total: 2,
  });
  const compared = await call(project, "GET", `/workflows/${id}/versions/1/compare`);
  expect(compared.body).toMatchObject({
    version: 1,
    with: 2,
    steps: {
      added: [{ id: exit.id }],
      removed: [],
      changed: [{ id: step.id, fields: ["name"], before: { name: "First" }, after: { name: "Changed" } }],
    },
    transitions: { added: [{ fromStepId: step.id, toStepId: exit.id }], removed: [], changed: [] },
  });
  const back = await call(project, "GET", `/workflows/${id}/versions/2/compare?with=1`);
  expect(back.body).toMatchObject({ steps: { added: [], removed: [{ id: exit.id }] } });

  const restored = await call<Workflow>(project, "POST", `/workflows/${id}/versions/1/restore`);
  expect([restored.status, restored.body.version]).toEqual([200, 3]);
  expect(drawn(restored.body)).toEqual(first);
  // The previous graph can be restored too.
  const again = await call<Workflow>(project, "POST", `/workflows/${id}/versions/2/restore`);
  expect(drawn(again.body)).toEqual(drawn(second));
  for (const version of ["0", "9", "-1", "1.5", "nonsense", "99999999999"])
    for (const [method, rest] of [
      ["GET", ""],
      ["GET", "/compare"],
      ["POST", "/restore"],
    ] as const) {
      const path = `/workflows/${id}/versions/${version}${rest}`;
      expect([path, errorOf(await call(project, method, path))]).toEqual([path, "404 VERSION_NOT_FOUND"]);
    }
  expect(errorOf(await call(project, "GET", `/workflows/${id}/versions/1/compare?with=9`))).toBe(
    "404 VERSION_NOT_FOUND",
  );
});

test("restores no version with an error into an enabled workflow", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  const unfinished = await make<{ id: string }>(project, `/workflows/${id}/steps`, { type: "SEND_EMAIL" });
  await start(project, id, 1);
  await call(project, "DELETE", `/workflows/${id}/steps/${unfinished.id}`);
  expect((await call(project, "PATCH", `/workflows/${id}`, { enabled: true })).status).toBe(200);
  const restore = () => call(project, "POST", `/workflows/${id}/versions/1/restore`);
  expect(faultsOf(await restore())).toEqual(["steps custom"]);
  await call(project, "PATCH", `/workflows/${id}`, { enabled: false });
  expect((await restore()).status).toBe(200);
});

test("lets an edit wait for a starting execution, which keeps its graph", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  const client = await server.pool.connect();
  try {
    await client.query("begin");
    await client.query(
      "select 1 from workflow_versions where project_id = $1 and workflow_id = $2 for key share",
      [project.id, id],
    );
    const edit = make<{ id: string }>(project, `/workflows/${id}/steps`, DELAY);
    await expect
      .poll(() => server.rows("select 1 from pg_stat_activity where wait_event_type = 'Lock'"))
      .toHaveLength(1);
    await client.query(
      "update workflow_versions set is_used = true where project_id = $1 and workflow_id = $2",
      [project.id, id],
    );
    await client.query(
      `insert into workflow_executions (project_id, id, workflow_id, entry, version, status)
       values ($1, $2, $3, 0, 1, 'WAITING')`,
      [project.id, newId(), id],
    );
    await client.query("commit");
    expect((await edit).id).toBeDefined();
  } finally {
    client.release();
  }
  expect((await read(project, id)).version).toBe(2);
  expect((await call<Graph>(project, "GET", `/workflows/${id}/versions/1`)).body.steps).toHaveLength(1);
});

test("keeps the newest versions and older ones on which an execution started", async () => {
  const project = await server.createProject();
  const { id } = await make(project, "/workflows", { name: "W", eventName: "e" });
  const kept = LIMITS.workflowVersions.value;
  await server.rows(
    `insert into workflow_versions (project_id, workflow_id, version, graph, is_used)
     select project_id, workflow_id, n, graph, n = $2 from workflow_versions, generate_series(2, $2::int) n
     where workflow_id = $1`,
    id,
    kept + 3,
  );
  await server.rows("update workflows set version = $2 where id = $1", id, kept + 3);
  await start(project, id, 2);
  await make(project, `/workflows/${id}/steps`, DELAY);
  const rows = await server.rows<{ version: number }>(
    "select version from workflow_versions where workflow_id = $1 order by version",
    id,
  );
  const newest = Array.from({ length: kept }, (_, at) => at + 5);
  expect(rows.map(({ version }) => version)).toEqual([2, ...newest]);
});

/** A workflow that refers to a template and a segment, in its trigger and in a nested condition. */
async function furnish(project: TestProject) {
  const template = await make<{ id: string }>(project, "/templates", {
    name: "Hello",
    type: "TRANSACTIONAL",
    subject: "s",
    body: "b",
    from: "a@sandbox.localhost",
  });
  const segment = await make<{ id: string }>(project, "/segments", {
    name: "Pros",
    filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
    trackMembership: true,
  });
  return { templateId: template.id, segmentId: segment.id };
}

async function drawWith(project: TestProject) {
  const { templateId, segmentId } = await furnish(project);
  const { id } = await make(project, "/workflows", { name: "W", description: "d", allowReentry: true });
  await call(project, "PATCH", `/workflows/${id}`, {
    triggerType: "SEGMENT_ENTRY",
    triggerConfig: { segmentId },
  });
  const asks = {
    logic: "AND",
    groups: [{ filters: [{ field: `segment.${segmentId}`, operator: "exists" }] }],
  };
  const steps = `/workflows/${id}/steps`;
  await make(project, steps, { type: "CONDITION", config: asks, autoConnect: true });
  await make(project, steps, {
    type: "SEND_EMAIL",
    templateId,
    autoConnect: true,
    position: { x: 1.5, y: 0 },
  });
  await make(project, steps, { type: "EXIT", autoConnect: true, config: { reason: "end" } });
  return { id, templateId, segmentId };
}

const exported = async (project: TestProject, id: string) =>
  (await call<Document>(project, "GET", `/workflows/${id}/export`)).body;

test("exports an imported workflow as the same export", async () => {
  const project = await server.createProject();
  const { id, templateId, segmentId } = await drawWith(project);
  const document = await exported(project, id);
  expect(document).toMatchObject({
    format: "postloft.workflow",
    templates: [{ id: templateId, name: "Hello" }],
    segments: [{ id: segmentId, name: "Pros", slug: "pros" }],
  });
  const copy = await make(project, "/workflows/import", document);
  expect(copy.enabled).toBe(false);
  expect(await exported(project, copy.id)).toEqual(document);
  for (const { id: stepId } of (await read(project, id)).steps)
    expect(JSON.stringify(copy)).not.toContain(stepId);
});

test("finds templates by name and segments by slug in another project, and reports missing ones", async () => {
  const project = await server.createProject();
  const { id, templateId, segmentId } = await drawWith(project);
  const document = await exported(project, id);
  const other = await server.createProject();
  const refused = await call(other, "POST", "/workflows/import", document);
  expect([refused.status, ...faultsOf(refused)]).toEqual([
    422,
    "steps.1.config custom",
    "steps.2.config.templateId custom",
    "triggerConfig custom",
  ]);
  expect(refused.text).toContain("Hello");
  expect((await call(other, "GET", "/workflows")).body).toMatchObject({ total: 0 });
  const partly = await make(other, "/workflows/import?allowMissing=true", document);
  expect(partly.problems.map(({ code }) => code)).toEqual([
    "MISSING_SEGMENT",
    "MISSING_SEGMENT",
    "NO_TEMPLATE",
  ]);
  const enabled = await call(other, "PATCH", `/workflows/${partly.id}`, { enabled: true });
  expect(enabled.status).toBe(422);

  const there = await furnish(other);
  const whole = await make(other, "/workflows/import", document);
  expect(whole.problems).toEqual([]);
  expect(whole.triggerConfig).toEqual({ segmentId: there.segmentId });
  const text = JSON.stringify(whole);
  expect(text).toContain(there.templateId);
  for (const foreign of [templateId, segmentId]) expect(text).not.toContain(foreign);
  // With two templates of the same name the reference is ambiguous.
  await furnish(other);
  expect(faultsOf(await call(other, "POST", "/workflows/import", document))).toEqual([
    "steps.2.config.templateId custom",
  ]);
});

const way = (from: string, to: string, branch: string | null = null) => ({ from, to, branch, priority: 0 });

test("validates an import like any other change", async () => {
  const project = await server.createProject();
  const document: Document = {
    format: "postloft.workflow",
    formatVersion: 1,
    name: "W",
    description: null,
    triggerType: "EVENT",
    triggerConfig: {},
    allowReentry: false,
    steps: [
      { key: "t", type: "TRIGGER", config: {} },
      { key: "a", type: "UPDATE_CONTACT", config: { updates: { n: 1 } } },
      { key: "b", type: "UPDATE_CONTACT", config: { updates: { n: 2 } } },
    ].map((step) => ({ ...step, name: step.key, position: null })),
    transitions: [{ from: "t", to: "a", branch: null, priority: 0 }],
    templates: [],
    segments: [],
  };
  const [trigger, update] = document.steps;
  const hook = { key: "h", type: "WEBHOOK", name: "h", position: null, config: { url: "http://[::1]/" } };
  const faulty: Array<[string, object]> = [
    ["format invalid_enum_value", { format: "other" }],
    ["steps custom", { steps: document.steps.slice(1), transitions: [] }],
    ["steps custom", { steps: [...document.steps, { ...trigger, key: "u" }] }],
    ["steps.3.key custom", { steps: [...document.steps, update] }],
    ["steps.1.config.updates required", { steps: [trigger, { ...update, config: {} }] }],
    ["steps.3.config.url invalid_string", { steps: [...document.steps, hook] }],
    ["transitions.1.to custom", { transitions: [way("t", "a"), way("a", "nowhere")] }],
    ["transitions.2.to custom", { transitions: [way("t", "a"), way("a", "b"), way("b", "a")] }],
    ["transitions.0.branch custom", { transitions: [way("t", "a", "yes")] }],
    [
      "triggerConfig.cron custom",
      { triggerType: "SCHEDULE", triggerConfig: { cron: "never", audienceType: "ALL" } },
    ],
    ["triggerConfig.eventName required", { triggerConfig: { filter: null } }],
    [
      "triggerConfig.audienceType required",
      { triggerType: "SCHEDULE", triggerConfig: { cron: "0 9 * * *" } },
    ],
    [
      "steps.1.config.updatez unknown_field",
      { steps: [trigger, { ...update, config: { ...update?.config, updatez: {} } }] },
    ],
  ];
  for (const [fault, change] of faulty) {
    const reply = await call(project, "POST", "/workflows/import", { ...document, ...change });
    expect([reply.status, faultsOf(reply)[0]]).toEqual([422, fault]);
  }
  expect((await call(project, "GET", "/workflows")).body).toMatchObject({ total: 0 });
  expect((await call(project, "POST", "/workflows/import", document)).status).toBe(201);
});
