// Moves to the current version over HTTP, with the engine running. No step runs twice because of a move, and a move can be undone.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import * as executions from "@postloft/contract/executions.ts";
import * as moves from "@postloft/contract/workflows/moves.ts";
import * as pauses from "@postloft/contract/workflows/pauses.ts";
import * as steps from "@postloft/contract/workflows/steps.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { newId } from "../../platform/ids.ts";
import { errorOf, faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import {
  drawWorkflow,
  trackEvent,
  type DrawnWorkflow,
  type Drawing,
} from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const DAY = { amount: 1, unit: "days" };

const on = { type: "EVENT", config: { eventName: "go" }, event: "go" } as const;
const draw = ({ id }: TestProject, drawing: Omit<Drawing, "trigger">) =>
  drawWorkflow(server.database, id, { trigger: on, ...drawing });
const enter = (project: TestProject, name: string, data?: object) =>
  trackEvent(server, project, `${name}@example.com`, "go", data);
const read = async ({ byKey }: TestProject, { id }: DrawnWorkflow) =>
  (await server.call(workflows.getWorkflow, byKey, { params: { id } })).body;
const preview = async ({ byKey }: TestProject, { id }: DrawnWorkflow) =>
  (await server.call(moves.previewMove, byKey, { params: { id } })).body;
const edit = async ({ byKey }: TestProject, { id }: DrawnWorkflow, stepId: string, config: object) => {
  const reply = await server.call(steps.updateStep, byKey, { params: { id, stepId }, anyBody: { config } });
  expect(reply.text).toContain(stepId);
};
const remove = async ({ byKey }: TestProject, { id }: DrawnWorkflow, stepId: string) => {
  const query = { splice: true };
  expect((await server.call(steps.deleteStep, byKey, { params: { id, stepId }, query })).status).toBe(204);
};
const ask = ({ byKey }: TestProject, { id }: DrawnWorkflow, body: object = {}) =>
  server.call(moves.moveExecutions, byKey, { params: { id }, anyBody: body });
const askUndo = ({ byKey }: TestProject, { id }: DrawnWorkflow, jobId: string) =>
  server.call(moves.undoMove, byKey, { params: { id, jobId } });

async function endOf({ byKey }: TestProject, { id }: DrawnWorkflow, jobId: string, of: "job" | "undo") {
  const params = { params: { id, jobId } };
  await vi.waitFor(async () => {
    expect((await server.call(moves.getMove, byKey, params)).body[of]?.state).toBe("completed");
  }, WAIT);
  return (await server.call(moves.getMove, byKey, params)).body;
}

/** Moves executions and returns the id of the job and the counts. */
async function move(project: TestProject, workflow: DrawnWorkflow, body: object = {}) {
  const reply = await ask(project, workflow, body);
  expect(`${reply.status} ${reply.text}`).toMatch(/^202 /);
  const { jobId } = reply.body;
  return { jobId, counts: (await endOf(project, workflow, jobId, "job")).job.result };
}

async function undo(project: TestProject, workflow: DrawnWorkflow, jobId: string) {
  expect((await askUndo(project, workflow, jobId)).status).toBe(202);
  return (await endOf(project, workflow, jobId, "undo")).undo?.result;
}

/** Returns the version, the state and the step of each execution by contact. */
async function placesOf({ id: projectId }: TestProject, workflowId: string) {
  const rows = await server.rows<{ name: string; place: string }>(
    `select split_part(c.email, '@', 1) as name, concat_ws(' ', 'v' || x.version, x.status, s ->> 'name', x.waits_for) as place
     from workflow_executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
     join workflow_versions v on v.project_id = x.project_id and v.workflow_id = x.workflow_id and v.version = x.version
     left join lateral jsonb_path_query_first(v.graph, '$.steps[*] ? (@.id == $id)', jsonb_build_object('id', x.step_id)) s on true
     where x.project_id = $1 and x.workflow_id = $2 order by 1`,
    projectId,
    workflowId,
  );
  return Object.fromEntries(rows.map(({ name, place }) => [name, place]));
}

const reach = (project: TestProject, { id }: DrawnWorkflow, places: Record<string, string>) =>
  vi.waitFor(async () => expect(await placesOf(project, id)).toEqual(places), WAIT);

async function traceOf({ id: projectId, byKey }: TestProject, { id }: DrawnWorkflow, contactId: string) {
  const [row] = await server.rows<{ id: string }>(
    "select id from workflow_executions where project_id = $1 and workflow_id = $2 and contact_id = $3",
    projectId,
    id,
    contactId,
  );
  const params = { id, executionId: row?.id ?? "" };
  return (await server.call(executions.getExecution, byKey, { params })).body;
}

const shape = ({ steps: runs }: Awaited<ReturnType<typeof traceOf>>) =>
  runs.map(({ name, status }) => `${name} ${status}`);

async function template({ byKey }: TestProject, name: string) {
  const body = { name, subject: name, body: "b", from: "news@sandbox.localhost" };
  return (await server.call(templates.createTemplate, byKey, { body: { ...body, type: "TRANSACTIONAL" } }))
    .body.id;
}

const subjectsOf = ({ id }: TestProject, name: string) =>
  server
    .rows<{ subject: string }>(
      `select t.name as subject from emails e join templates t on t.project_id = e.project_id and t.id = e.template_id
       where e.project_id = $1 and e.to_address = $2 order by 1`,
      id,
      `${name}@example.com`,
    )
    .then((rows) => rows.map(({ subject }) => subject));

const WAITING: Omit<Drawing, "trigger"> = {
  steps: [
    ["trigger", "TRIGGER"],
    ["rest", "DELAY", DAY],
    ["paid?", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 86_400 }],
    ["thanks", "EXIT", { reason: "thanks" }],
  ],
  links: [
    ["trigger", "rest"],
    ["rest", "paid?"],
    ["paid?", "thanks", "event"],
  ],
};

test("keeps the clock of a wait when its delay changed, unless the delays apply", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, WAITING);
  const ada = await enter(project, "ada");
  await reach(project, workflow, { ada: "v1 WAITING rest" });
  const before = (await traceOf(project, workflow, ada)).nextAt ?? "";
  await edit(project, workflow, workflow.step("rest"), { amount: 3, unit: "days" });
  expect(await preview(project, workflow)).toEqual({
    version: 2,
    updatedAt: (await read(project, workflow)).updatedAt,
    total: 1,
    groups: [
      {
        version: 1,
        count: 1,
        step: { id: workflow.step("rest"), name: "rest", type: "DELAY" },
        target: { id: workflow.step("rest"), name: "rest", type: "DELAY" },
        changes: ["delay"],
        next: [{ branch: null, step: { id: workflow.step("paid?"), name: "paid?", type: "WAIT_FOR_EVENT" } }],
      },
    ],
  });
  const kept = await move(project, workflow);
  expect(kept.counts).toEqual({ moved: 1, ended: 0, leftOut: [] });
  await vi.waitFor(async () => expect((await traceOf(project, workflow, ada)).nextAt).toBe(before), WAIT);
  expect(await preview(project, workflow)).toMatchObject({ total: 0, groups: [] });
  expect(await undo(project, workflow, kept.jobId)).toEqual({ returned: 1, kept: 0 });
  expect(await placesOf(project, workflow.id)).toEqual({ ada: "v1 WAITING rest" });

  await move(project, workflow, { applyDelays: true });
  const later = new Date(new Date(before).getTime() + 2 * 86_400_000).toISOString();
  await vi.waitFor(async () => expect((await traceOf(project, workflow, ada)).nextAt).toBe(later), WAIT);
  const trace = await traceOf(project, workflow, ada);
  expect(shape(trace)).toEqual(["trigger COMPLETED", "rest WAITING"]);
  expect(trace.moves.map(({ fromVersion, toVersion, isUndo }) => [fromVersion, toVersion, isUndo])).toEqual([
    [1, 2, false],
    [2, 1, true],
    [1, 2, false],
  ]);
});

test("continues immediately when a shortened delay is over", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    steps: [...WAITING.steps, ["nap", "DELAY", DAY]],
    links: [["trigger", "nap"], ["nap", "rest"], ...WAITING.links.slice(1)],
  });
  await enter(project, "ada");
  await reach(project, workflow, { ada: "v1 WAITING nap" });
  // Ends the first delay, because only the first one counts from the entry.
  await server.rows(
    "update workflow_executions set due_at = now(), trace = jsonb_set(trace, '{-1,until}', '1000') where project_id = $1",
    project.id,
  );
  await reach(project, workflow, { ada: "v1 WAITING rest" });
  await server.rows(
    `update workflow_executions set trace = jsonb_set(trace, '{-1,at}', to_jsonb((trace -> -1 ->> 'at')::bigint - 7200000)) where project_id = $1`,
    project.id,
  );
  await edit(project, workflow, workflow.step("rest"), { amount: 1, unit: "hours" });
  await move(project, workflow, { applyDelays: true });
  await reach(project, workflow, { ada: "v2 WAITING paid? paid" });
  // The timeout of a wait is calculated from its beginning, too.
  await edit(project, workflow, workflow.step("paid?"), { eventName: "paid", timeout: 60 });
  await server.rows(
    "update workflow_executions set trace = jsonb_set(trace, '{-1,at}', to_jsonb((trace -> -1 ->> 'at')::bigint - 3600000)) where project_id = $1",
    project.id,
  );
  await move(project, workflow);
  await reach(project, workflow, { ada: "v3 WAITING paid? paid" });
  await edit(project, workflow, workflow.step("paid?"), { eventName: "paid", timeout: 120 });
  await move(project, workflow, { applyDelays: true });
  await vi.waitFor(
    async () => expect((await placesOf(project, workflow.id))["ada"]).toBe("v4 COMPLETED"),
    WAIT,
  );
});

test("waits for the event of the new version, also if it happened before the move", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["paid?", "WAIT_FOR_EVENT", { eventName: "paid" }],
      ["again?", "WAIT_FOR_EVENT", { eventName: "bought" }],
      ["thanks", "EXIT", { reason: "thanks" }],
    ],
    links: [
      ["trigger", "paid?"],
      ["paid?", "again?", "event"],
      ["again?", "thanks", "event"],
    ],
  });
  await enter(project, "ada");
  const bob = await enter(project, "bob");
  await reach(project, workflow, { ada: "v1 WAITING paid? paid", bob: "v1 WAITING paid? paid" });
  await edit(project, workflow, workflow.step("paid?"), {
    eventName: "bought",
    filter: {
      operator: "AND",
      conditions: [{ field: "data.plan", operator: "equals", value: "{{event.plan}}" }],
    },
  });
  await server.rows(
    `update workflow_executions set context = '{"plan": "gold"}' where project_id = $1`,
    project.id,
  );
  await trackEvent(server, project, "bob@example.com", "bought", { plan: "gold" });
  await trackEvent(server, project, "ada@example.com", "bought", { plan: "free" });
  expect((await preview(project, workflow)).groups[0]?.changes).toEqual(["event"]);
  await move(project, workflow);
  // One event ends one wait, also if the first one was for another event in its version.
  await reach(project, workflow, { ada: "v2 WAITING paid? bought", bob: "v2 WAITING again? bought" });
  // Another filter replaces the one that was filled in before.
  await edit(project, workflow, workflow.step("paid?"), {
    eventName: "other",
    filter: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "silver" }] },
  });
  await move(project, workflow);
  await reach(project, workflow, { ada: "v3 WAITING paid? other", bob: "v3 WAITING again? bought" });
  await trackEvent(server, project, "bob@example.com", "bought");
  await trackEvent(server, project, "ada@example.com", "other", { plan: "silver" });
  await reach(project, workflow, { ada: "v3 WAITING again? bought", bob: "v3 EXITED" });
  expect(shape(await traceOf(project, workflow, bob))).toEqual([
    "trigger COMPLETED",
    "paid? COMPLETED",
    "again? COMPLETED",
    "thanks COMPLETED",
  ]);
});

test("rejects a move without a choice for a missing step, and takes each choice", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, WAITING);
  const names = ["ada", "bob", "cy"];
  for (const name of names) await enter(project, name);
  const at = (place: string) => Object.fromEntries(names.map((name) => [name, place]));
  await reach(project, workflow, at("v1 WAITING rest"));
  const [rest, paid] = [workflow.step("rest"), workflow.step("paid?")];
  await remove(project, workflow, rest);
  expect((await preview(project, workflow)).groups).toMatchObject([{ count: 3, target: null, next: [] }]);
  expect(faultsOf(await ask(project, workflow))).toEqual([`steps.${rest} required`]);
  expect((await ask(project, workflow)).text).toContain(
    "3 executions are at the step “rest”, which version 2 doesn't have.",
  );
  expect(faultsOf(await ask(project, workflow, { steps: { [rest]: newId() } }))).toEqual([
    `steps.${rest} custom`,
  ]);
  expect(faultsOf(await ask(project, workflow, { steps: { [rest]: "leave" } }))).toHaveLength(1);
  expect(faultsOf(await ask(project, workflow, { steps: { rest: "stay" } }))).toHaveLength(1);
  const many = Object.fromEntries(Array.from({ length: 201 }, () => [newId(), "stay"]));
  expect(faultsOf(await ask(project, workflow, { steps: many }))).toEqual(["steps too_big"]);

  const ids = Object.fromEntries(
    (
      await server.rows<{ name: string; id: string }>(
        "select split_part(c.email, '@', 1) as name, x.id from workflow_executions x join contacts c on c.id = x.contact_id where x.project_id = $1",
        project.id,
      )
    ).map(({ name, id }) => [name, id]),
  );
  const only = (name: string) => ({ executionIds: [ids[name]] });
  const stayed = await move(project, workflow, { steps: { [rest]: "stay" } });
  expect(stayed.counts).toEqual({ moved: 0, ended: 0, leftOut: [{ reason: "STAY", count: 3 }] });
  const ended = await move(project, workflow, { ...only("bob"), steps: { [rest]: "exit" } });
  expect(ended.counts).toEqual({ moved: 0, ended: 1, leftOut: [] });
  const jumped = await move(project, workflow, { ...only("cy"), steps: { [rest]: paid } });
  expect(jumped.counts).toEqual({ moved: 1, ended: 0, leftOut: [] });
  await reach(project, workflow, {
    ada: "v1 WAITING rest",
    bob: "v2 EXITED",
    cy: "v2 WAITING paid? paid",
  });
  // The ended one returns. The other has begun its next step.
  expect(await undo(project, workflow, ended.jobId)).toEqual({ returned: 1, kept: 0 });
  expect(await undo(project, workflow, jumped.jobId)).toEqual({ returned: 0, kept: 1 });
  await reach(project, workflow, {
    ada: "v1 WAITING rest",
    bob: "v1 WAITING rest",
    cy: "v2 WAITING paid? paid",
  });
  const counts = await server.rows(
    "select entered::int, passed::int, skipped::int, cancelled::int from workflow_step_counts where project_id = $1 and step_id = $2",
    project.id,
    rest,
  );
  expect(counts).toEqual([{ entered: 3, passed: 0, skipped: 1, cancelled: 0 }]);
});

test("skips an email once that was sent before a jump, and sends the others", async () => {
  const project = await server.createProject();
  const [welcome, wrong, right] = [
    await template(project, "welcome"),
    await template(project, "wrong"),
    await template(project, "right"),
  ];
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["hello", "SEND_EMAIL", { templateId: welcome }],
      ["paying?", "CONDITION", { field: "event.plan", operator: "equals", value: "glod" }],
      ["no", "DELAY", DAY],
      ["sorry", "SEND_EMAIL", { templateId: wrong }],
      ["yes", "SEND_EMAIL", { templateId: right }],
    ],
    links: [
      ["trigger", "hello"],
      ["hello", "paying?"],
      ["paying?", "no", "no"],
      ["no", "sorry"],
      ["paying?", "yes", "yes"],
    ],
  });
  const ada = await enter(project, "ada", { plan: "gold" });
  await reach(project, workflow, { ada: "v1 WAITING no" });
  await edit(project, workflow, workflow.step("paying?"), {
    field: "event.plan",
    operator: "equals",
    value: "gold",
  });
  await move(project, workflow, { steps: { [workflow.step("no")]: workflow.step("trigger") } });
  await reach(project, workflow, { ada: "v2 COMPLETED" });
  expect(await subjectsOf(project, "ada")).toEqual(["right", "welcome"]);
  expect(shape(await traceOf(project, workflow, ada))).toEqual([
    "trigger COMPLETED",
    "hello COMPLETED",
    "paying? COMPLETED",
    "no SKIPPED",
    "trigger COMPLETED",
    "hello SKIPPED",
    "paying? COMPLETED",
    "yes COMPLETED",
  ]);
});

test("moves executions that have not begun while paused, and undoes jumps before the next step", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, WAITING);
  await enter(project, "ada");
  await reach(project, workflow, { ada: "v1 WAITING rest" });
  const params = { params: { id: workflow.id } };
  await server.call(pauses.pauseWorkflow, project.byKey, params);
  await enter(project, "bob");
  await vi.waitFor(
    async () =>
      expect(
        await server.rows(
          "select 1 from workflow_executions where paused_due_at is not null and project_id = $1",
          project.id,
        ),
      ).toHaveLength(1),
    WAIT,
  );
  const rest = workflow.step("rest");
  await edit(project, workflow, rest, { amount: 2, unit: "days" });
  const { jobId, counts } = await move(project, workflow, { steps: { [rest]: workflow.step("paid?") } });
  expect(counts?.moved).toBe(2);
  await reach(project, workflow, { ada: "v2 RUNNING paid?", bob: "v2 RUNNING trigger" });
  expect(await undo(project, workflow, jobId)).toEqual({ returned: 2, kept: 0 });
  await reach(project, workflow, { ada: "v1 WAITING rest", bob: "v1 RUNNING trigger" });
  await server.call(pauses.resumeWorkflow, project.byKey, params);
  await reach(project, workflow, { ada: "v1 WAITING rest", bob: "v1 WAITING rest" });
  expect(errorOf(await askUndo(project, workflow, jobId))).toBe("409 CONFLICT");
});

test("ends executions by the exit conditions and counts goals of the new version, for earlier events", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, WAITING);
  await enter(project, "ada");
  await trackEvent(server, project, "ada@example.com", "left");
  await enter(project, "bob");
  await reach(project, workflow, { ada: "v1 WAITING rest", bob: "v1 WAITING rest" });
  const body = {
    exitConditions: [{ type: "EVENT" as const, eventName: "left" }],
    goal: { eventName: "won", days: 7 },
  };
  await server.call(workflows.updateWorkflow, project.byKey, { params: { id: workflow.id }, body });
  await move(project, workflow);
  await reach(project, workflow, { ada: "v2 EXITED", bob: "v2 WAITING rest" });
  await trackEvent(server, project, "bob@example.com", "won");
  await trackEvent(server, project, "bob@example.com", "left");
  await reach(project, workflow, { ada: "v2 EXITED", bob: "v2 EXITED" });
  expect(
    await server.rows(
      "select 1 from workflow_executions where project_id = $1 and goal_reached_at is not null",
      project.id,
    ),
  ).toHaveLength(1);
});

test("leaves out executions that wait for a response if their step is left, and moves the others", async () => {
  const held: Array<() => void> = [];
  const endpoint = createServer((request, response) => {
    request.resume();
    held.push(() => response.writeHead(200).end("{}"));
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const { port } = endpoint.address() as AddressInfo;
  const project = await server.createProject();
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["sync", "WEBHOOK", { url: `http://127.0.0.1:${port}/` }],
      ["rest", "DELAY", DAY],
    ],
    links: [
      ["trigger", "sync"],
      ["sync", "rest"],
    ],
  });
  await enter(project, "ada");
  await vi.waitFor(() => expect(held).toHaveLength(1), WAIT);
  const sync = workflow.step("sync");
  await edit(project, workflow, workflow.step("rest"), { amount: 2, unit: "days" });
  for (const choice of [workflow.step("rest"), "exit"])
    expect((await move(project, workflow, { steps: { [sync]: choice } })).counts).toEqual({
      moved: 0,
      ended: 0,
      leftOut: [{ reason: "WEBHOOK", count: 1 }],
    });
  expect((await move(project, workflow)).counts?.moved).toBe(1);
  held.forEach((respond) => respond());
  await reach(project, workflow, { ada: "v2 WAITING rest" });
  expect(held).toHaveLength(1);
  endpoint.closeAllConnections();
  endpoint.close();
});

test("rejects a move by an outdated preview, and jobs of other workflows and projects", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, WAITING);
  const other = await draw(project, { ...WAITING, name: "Other", enabled: false });
  const stranger = await server.createProject();
  const { updatedAt } = await preview(project, workflow);
  await edit(project, workflow, workflow.step("rest"), { amount: 2, unit: "days" });
  expect(errorOf(await ask(project, workflow, { expectedUpdatedAt: updatedAt }))).toBe(
    "409 CHANGED_MEANWHILE",
  );
  const now = await preview(project, workflow);
  const { jobId, counts } = await move(project, workflow, { expectedUpdatedAt: now.updatedAt });
  expect(counts).toEqual({ moved: 0, ended: 0, leftOut: [] });
  // The version stays as it was previewed.
  await edit(project, workflow, workflow.step("rest"), { amount: 3, unit: "days" });
  expect((await read(project, workflow)).version).toBe(2);
  const readMove = (who: TestProject, id: string, job: string) =>
    server.call(moves.getMove, who.byKey, { params: { id, jobId: job } });
  expect(errorOf(await readMove(project, other.id, jobId))).toBe("404 JOB_NOT_FOUND");
  expect(errorOf(await readMove(project, workflow.id, newId()))).toBe("404 JOB_NOT_FOUND");
  expect(errorOf(await readMove(stranger, workflow.id, jobId))).toBe("404 WORKFLOW_NOT_FOUND");
  expect(errorOf(await ask(stranger, workflow))).toBe("404 WORKFLOW_NOT_FOUND");
  expect(errorOf(await askUndo(project, other, jobId))).toBe("404 JOB_NOT_FOUND");
  await server.rows("update workflows set cancelled_until = now() where id = $1", workflow.id);
  expect(errorOf(await ask(project, workflow))).toBe("409 CONFLICT");
});

test("leaves out held executions, and undoes no move of one that was moved again or ended", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, { ...WAITING, allowReentry: true });
  await enter(project, "ada");
  const bob = await enter(project, "bob");
  await enter(project, "cy");
  await reach(project, workflow, {
    ada: "v1 WAITING rest",
    bob: "v1 WAITING rest",
    cy: "v1 WAITING rest",
  });
  const rest = workflow.step("rest");
  await server.rows(
    "update workflow_executions set due_at = 'infinity', exit_reason = 'Held' where project_id = $1 and contact_id = $2",
    project.id,
    bob,
  );
  await edit(project, workflow, rest, { amount: 2, unit: "days" });
  const first = await move(project, workflow);
  expect(first.counts).toEqual({ moved: 2, ended: 0, leftOut: [{ reason: "HELD", count: 1 }] });
  await edit(project, workflow, rest, { amount: 3, unit: "days" });
  const second = await move(project, workflow, { versions: [2], steps: { [rest]: "exit" } });
  expect(second.counts?.ended).toBe(2);
  await enter(project, "ada");
  await vi.waitFor(
    async () =>
      expect(
        await server.rows(
          "select 1 from workflow_executions where project_id = $1 and version = 3 and status = 'WAITING'",
          project.id,
        ),
      ).toHaveLength(1),
    WAIT,
  );
  expect(await undo(project, workflow, first.jobId)).toEqual({ returned: 0, kept: 2 });
  expect(await undo(project, workflow, second.jobId)).toEqual({ returned: 1, kept: 1 });
});
