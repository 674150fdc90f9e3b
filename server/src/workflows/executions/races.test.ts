// Concurrent changes to executions, and errors within a batch. Each contact takes one path once, in any order of events. Crashes of whole
// programs are tested by `npm run faults -- workflows`.
import { afterEach, expect, test, vi } from "vitest";
import * as v1 from "@postloft/contract/v1.ts";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { armFailpoints, WORKFLOW_FAILPOINT_NAMES } from "../../platform/failpoints.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, type Drawing } from "../../testing/workflow-fixture.ts";

const server = useTestServer();
afterEach(() => armFailpoints([]));
const WAIT = { timeout: 60_000, interval: 20 };
const PEOPLE = 40;
const TIMEOUT_S = 1;

const draw = (project: TestProject, drawing: Drawing) => drawWorkflow(server.database, project.id, drawing);
const onEvent = (name: string) => ({ type: "EVENT" as const, config: { eventName: name }, event: name });

async function track({ byKey }: TestProject, email: string, event: string): Promise<void> {
  expect((await server.call(v1.track, byKey, { body: { email, event } })).status).toBe(200);
}

const countByStatus = async (workflowId: string) =>
  Object.fromEntries(
    (
      await server.rows<{ status: string; count: string }>(
        "select status, count(*) from workflow_executions where workflow_id = $1 group by status",
        workflowId,
      )
    ).map(({ status, count }) => [status, Number(count)]),
  );

/**
 * All contacts enter, and the event of each comes at `comesAt`.
 * @returns the branch each took, with the deciding times
 */
async function raceWaits(comesAt: (entered: Promise<void>, person: number) => Promise<unknown>) {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("go"),
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "WAIT_FOR_EVENT", { eventName: "paid", timeout: TIMEOUT_S }],
      ["came", "UPDATE_CONTACT", { updates: { came: true } }],
      ["late", "UPDATE_CONTACT", { updates: { late: true } }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "came", "event"],
      ["wait", "late", "timeout"],
    ],
  });
  await Promise.all(
    Array.from({ length: PEOPLE }, async (_, person) => {
      const email = `person${person}@example.com`;
      const entered = track(project, email, "go");
      await comesAt(entered, person);
      await Promise.all([entered, track(project, email, "paid")]);
    }),
  );
  await vi.waitFor(async () => expect(await countByStatus(workflow.id)).toEqual({ COMPLETED: PEOPLE }), WAIT);
  return server.rows<{ via: string; steps: number; marks: string[]; isTimely: boolean }>(
    `select x.trace -> 1 ->> 'via' as via, jsonb_array_length(x.trace) as steps,
       array(select key from jsonb_object_keys(c.data) key where key in ('came', 'late')) as marks,
       floor(extract(epoch from e.created_at) * 1000) between floor(extract(epoch from x.started_at) * 1000) and (x.trace -> 1 ->> 'until')::bigint as is_timely
     from workflow_executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
     join events e on e.project_id = x.project_id and e.contact_id = x.contact_id and e.name = 'paid'
     where x.workflow_id = $1`,
    workflow.id,
  );
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.each([
  [
    "start",
    async (entered: Promise<void>, person: number) => (person % 2 === 0 ? entered : pause(person % 20)),
  ],
  [
    "timeout",
    async (entered: Promise<void>, person: number) => {
      await entered;
      await pause(TIMEOUT_S * 1_000 - PEOPLE / 2 + person);
    },
  ],
] as const)("takes one path when the event comes around the %s of its wait", async (_when, comesAt) => {
  const ends = await raceWaits(comesAt);
  expect(ends).toHaveLength(PEOPLE);
  for (const { via, steps, marks, isTimely } of ends) {
    expect([via, ...marks]).toEqual(via === "event" ? ["event", "came"] : ["timeout", "late"]);
    // An event that happened in time but was stored after the timeout is late, because it was not visible.
    expect(via === "timeout" || isTimely).toBe(true);
    expect(steps).toBe(3);
  }
});

test("starts on the edited graph when an event comes during an edit", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("go"),
    steps: [
      ["trigger", "TRIGGER"],
      ["end", "EXIT", {}],
    ],
    links: [["trigger", "end"]],
  });
  const editor = await server.pool.connect();
  try {
    await editor.query("begin");
    await editor.query("select 1 from workflows where project_id = $1 and id = $2 for no key update", [
      project.id,
      workflow.id,
    ]);
    await track(project, "amid@example.com", "go");
    const isWaited =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%workflows w%'";
    await vi.waitFor(async () => expect(await server.rows(isWaited)).toHaveLength(1), WAIT);
    await editor.query(
      `insert into workflow_versions (project_id, workflow_id, version, graph)
       select project_id, workflow_id, 2, graph from workflow_versions where workflow_id = $1`,
      [workflow.id],
    );
    await editor.query("update workflows set version = 2 where id = $1", [workflow.id]);
    await editor.query("commit");
  } finally {
    editor.release();
  }
  await vi.waitFor(
    async () =>
      expect(
        await server.rows(
          "select version, status from workflow_executions where workflow_id = $1",
          workflow.id,
        ),
      ).toEqual([{ version: 2, status: "EXITED" }]),
    WAIT,
  );
});

test("cancels thousands of executions, and resumes an earlier failed one on retry", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("go"),
    steps: [
      ["trigger", "TRIGGER"],
      ["wait", "DELAY", { amount: 1, unit: "hours" }],
      ["tag", "UPDATE_CONTACT", { updates: { reached: true } }],
    ],
    links: [
      ["trigger", "wait"],
      ["wait", "tag"],
    ],
  });
  await track(project, "failed@example.com", "go");
  await vi.waitFor(async () => expect(await countByStatus(workflow.id)).toEqual({ WAITING: 1 }), WAIT);
  const [failed] = await server.rows<{ id: string }>(
    `update workflow_executions set status = 'FAILED', step_id = $2, due_at = null, ended_at = now(),
       trace = jsonb_set(trace, '{1,end}', trace -> 1 -> 'at') where workflow_id = $1 returning id`,
    workflow.id,
    workflow.step("tag"),
  );
  const many = 11_000;
  // Leaves the planner with statistics of a single execution.
  await server.rows("analyze workflow_executions");
  await server.rows(
    `with people as (
       insert into contacts (project_id, id, email, subscribed) select $1, new_id(), 'many' || n || '@example.com', true from generate_series(1, ${many}) n
       returning id
     )
     insert into workflow_executions (project_id, id, workflow_id, contact_id, entry, version, status, step_id, due_at, trace)
     select $1, new_id(), $2, id, 0, 1, 'WAITING', $3, now() + interval '1 hour', '[{"n":0,"at":1,"end":1},{"n":1,"at":1}]' from people`,
    project.id,
    workflow.id,
    workflow.step("wait"),
  );
  const path = `/workflows/${workflow.id}`;
  expect((await server.call("POST", `${path}/executions/cancel-all`, project.byKey)).body).toEqual({
    cancelled: many,
  });
  await vi.waitFor(
    async () => expect(await countByStatus(workflow.id)).toEqual({ CANCELLED: many, FAILED: 1 }),
    WAIT,
  );
  const retry = () =>
    server.call("POST", `${path}/executions/${failed?.id}/retry`, project.byKey).then(({ status }) => status);
  await vi.waitFor(async () => expect(await retry()).toBe(200), WAIT);
  await vi.waitFor(
    async () => expect(await countByStatus(workflow.id)).toEqual({ CANCELLED: many, COMPLETED: 1 }),
    WAIT,
  );
  const { body } = await server.call<{ steps: object[] }>("GET", `${path}/stats`, project.byKey);
  expect(body.steps).toContainEqual(
    expect.objectContaining({ stepId: workflow.step("wait"), cancelled: many }),
  );
});

test.each(WORKFLOW_FAILPOINT_NAMES)("runs each step once after an error at %s", async (name) => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    trigger: onEvent("go"),
    steps: [
      ["trigger", "TRIGGER"],
      ["mark", "UPDATE_CONTACT", { updates: { marked: true } }],
      ["end", "EXIT", {}],
    ],
    links: [
      ["trigger", "mark"],
      ["mark", "end"],
    ],
  });
  armFailpoints([{ name, action: "throw", turn: 1 }]);
  await Promise.all(
    Array.from({ length: PEOPLE }, (_, person) => track(project, `person${person}@example.com`, "go")),
  );
  await vi.waitFor(async () => expect(await countByStatus(workflow.id)).toEqual({ EXITED: PEOPLE }), WAIT);
  const { body } = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflow.id },
  });
  expect(body.steps.map(({ entered, passed }) => [entered, passed])).toEqual([
    [PEOPLE, PEOPLE],
    [PEOPLE, PEOPLE],
    [PEOPLE, PEOPLE],
  ]);
});
