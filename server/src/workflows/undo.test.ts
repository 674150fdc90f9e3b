// Undoing and redoing edits of a workflow's graph over HTTP.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";

const server = useTestServer({ ROLES: "api" });

interface Workflow {
  id: string;
  revision: number;
  version: number;
  steps: Array<{ id: string; name: string; note: string | null; updatedAt: string; config: object }>;
  transitions: object[];
  exitConditions: object[];
  goal: object | null;
}

const DELAY = { type: "DELAY", config: { amount: 1, unit: "hours" } };
const call = <Body = never>({ byKey }: TestProject, method: string, path: string, body?: object) =>
  server.call<Body>(method, path, byKey, body);
const make = async (project: TestProject, path: string, body: object) =>
  (await call<{ id: string }>(project, "POST", path, body)).body.id;
const read = async (project: TestProject, path: string) => (await call<Workflow>(project, "GET", path)).body;
const undo = (project: TestProject, path: string, revision: number, expectedRevision: number) =>
  call<Workflow>(project, "POST", `${path}/undo`, { revision, expectedRevision });

/** The graph without the times of its steps. */
function drawn({ steps, transitions, exitConditions, goal }: Workflow) {
  const bare = steps.map(({ updatedAt: _updatedAt, ...step }) => step);
  return { steps: bare, transitions, exitConditions, goal };
}

async function draw(project: TestProject, name = "W") {
  const path = `/workflows/${await make(project, "/workflows", { name, eventName: "signed-up" })}`;
  const first = await make(project, `${path}/steps`, { ...DELAY, autoConnect: true });
  const last = await make(project, `${path}/steps`, { type: "EXIT", autoConnect: true });
  return { path, first, last };
}

test("takes back every kind of edit with the same ids, and redoes it", async () => {
  const project = await server.createProject();
  const { path, first, last } = await draw(project);
  const { transitions } = (await call<{ transitions: Array<{ id: string }> }>(project, "GET", path)).body;
  const edits: Array<[string, string, object?]> = [
    ["DELETE", `${path}/steps/${first}?splice=true`],
    ["DELETE", `${path}/transitions/${transitions[1]?.id}`],
    ["POST", `${path}/transitions/${transitions[1]?.id}/insert-step`, { ...DELAY, name: "Between" }],
    ["POST", `${path}/steps`, DELAY],
    ["PATCH", `${path}/steps/${first}`, { config: { amount: 2, unit: "weeks" }, name: "Renamed" }],
    ["PATCH", `${path}/steps/${first}`, { note: "For Ada" }],
    ["PATCH", `${path}/steps/${last}`, { position: { x: 5, y: 7 } }],
    ["PATCH", path, { goal: { eventName: "bought", days: 3 } }],
  ];
  for (const [method, address, body] of edits) {
    const before = await read(project, path);
    expect((await call(project, method, address, body)).status).toBeLessThan(300);
    const after = await read(project, path);
    expect([address, after.revision]).toEqual([address, before.revision + 1]);
    const undone = await undo(project, path, before.revision, after.revision);
    expect(drawn(undone.body)).toEqual(drawn(before));
    const redone = await undo(project, path, after.revision, undone.body.revision);
    expect(drawn(redone.body)).toEqual(drawn(after));
    expect((await undo(project, path, before.revision, redone.body.revision)).status).toBe(200);
  }
});

test("rejects an undo after another edit, and changes nothing", async () => {
  const project = await server.createProject();
  const { path, first } = await draw(project);
  const { revision } = await read(project, path);
  await call(project, "PATCH", `${path}/steps/${first}`, { note: "Mine" });
  await call(project, "PATCH", `${path}/steps/${first}`, { note: "A colleague's" });
  const refused = await undo(project, path, revision, revision + 1);
  expect(errorOf(refused)).toBe("409 CHANGED_MEANWHILE");
  const { steps } = await read(project, path);
  expect(steps.find(({ id }) => id === first)?.note).toBe("A colleague's");
});

test("marks a restored step as changed, so that an edit of its former state conflicts", async () => {
  const project = await server.createProject();
  const { path, first } = await draw(project);
  const before = await read(project, path);
  const { body: edited } = await call<{ updatedAt: string }>(project, "PATCH", `${path}/steps/${first}`, {
    config: { amount: 9, unit: "days" },
  });
  await undo(project, path, before.revision, before.revision + 1);
  const stale = { name: "Mine", expectedUpdatedAt: edited.updatedAt };
  expect((await call(project, "PATCH", `${path}/steps/${first}`, stale)).status).toBe(409);
});

test("restores the credentials of a deleted webhook, although no one can read them", async () => {
  const project = await server.createProject();
  const { path } = await draw(project);
  const config = { url: "https://hooks.example.com/", headers: { authorization: "Bearer first" } };
  const hook = await make(project, `${path}/steps`, { type: "WEBHOOK", config });
  const stored = async () =>
    JSON.stringify(
      await server.rows("select graph from workflow_versions where project_id = $1", project.id),
    );
  const sealed = /"authorization":"([^"]+)"/u.exec(await stored())?.[1] ?? "none";
  const { revision } = await read(project, path);
  const changed = { config: { ...config, headers: { authorization: "Bearer second" } } };
  await call(project, "PATCH", `${path}/steps/${hook}`, changed);
  await call(project, "DELETE", `${path}/steps/${hook}`);
  expect(await stored()).not.toContain(sealed);
  const { body } = await undo(project, path, revision, revision + 2);
  expect(await stored()).toContain(sealed);
  expect(body.steps.find(({ id }) => id === hook)?.config).toMatchObject({
    headers: { authorization: "••••" },
  });
});

test("adds a version if an execution started on the current one, and refuses errors while enabled", async () => {
  const project = await server.createProject();
  const { path, first } = await draw(project);
  const mail = await make(project, `${path}/steps`, { type: "SEND_EMAIL" });
  const { revision } = await read(project, path);
  await call(project, "DELETE", `${path}/steps/${mail}`);
  await call(project, "PATCH", path, { enabled: true });
  const refused = await undo(project, path, revision, revision + 1);
  expect([refused.status, faultsOf(refused)[0]]).toEqual([422, "steps custom"]);

  await server.rows("update workflow_versions set is_used = true where project_id = $1", project.id);
  await call(project, "DELETE", `${path}/steps/${first}?splice=true`);
  const undone = await undo(project, path, revision + 1, revision + 2);
  expect(undone.body.version).toBe(2);
  expect(undone.body.steps.map(({ id }) => id)).toContain(first);
});

test("keeps the last edits only, and names the limit for older ones", async () => {
  const project = await server.createProject();
  const { path, first } = await draw(project);
  const oldest = (await read(project, path)).revision;
  const most = LIMITS.undoableEdits.value;
  for (let edit = 0; edit < most; edit++)
    await call(project, "PATCH", `${path}/steps/${first}`, { note: `Note ${edit}` });
  const tooOld = await undo(project, path, oldest - 1, oldest + most);
  expect([tooOld.status, faultsOf(tooOld)]).toEqual([422, ["revision custom"]]);
  expect(tooOld.text).toContain(`Only the last ${most} edits can be undone.`);
  const [{ kept } = { kept: 0 }] = await server.rows<{ kept: number }>(
    "select count(*)::int as kept from workflow_earlier_graphs where project_id = $1",
    project.id,
  );
  expect(kept).toBe(most);
  const undone = await undo(project, path, oldest, oldest + most);
  expect(undone.body.steps.find(({ id }) => id === first)?.note).toBeNull();
});

test("finds no workflow of another project", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  const { path } = await draw(project);
  expect((await undo(other, path, 1, 2)).status).toBe(404);
});
