// BRANCH and RANDOM_SPLIT in executions, simulations and replays, with exact shares under concurrency and errors.
import { afterEach, expect, test } from "vitest";
import * as contactsContract from "@postloft/contract/contacts.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as stepsContract from "@postloft/contract/workflows/steps.ts";
import { transaction } from "../../platform/database/database.ts";
import { armFailpoints } from "../../platform/failpoints.ts";
import { stepPartsOf } from "../../testing/step-parts.ts";
import { APP_SECRET, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf, trackEvent, type DrawnWorkflow } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import { insertExecutions } from "./entry-queries.ts";

/** No engine runs, so only the test advances executions. */
const server = useTestServer({ ROLES: "api" });
afterEach(() => armFailpoints([]));

const share = (name: string, percent: number) => ({ name, percent });
const BRANCH = {
  branches: [
    { name: "Enterprise", filter: { field: "event.seats", operator: "greaterThan", value: 100 } },
    {
      name: "Same plan",
      filter: {
        operator: "AND",
        conditions: [{ field: "data.plan", operator: "equals", value: "{{event.plan}}" }],
      },
    },
    { name: "Paid", filter: { field: "event.paid", operator: "triggered" } },
  ],
};

/** TRIGGER → mark → fork, whose branches lead to an UPDATE_CONTACT that stores the branch as `data.path`. */
function drawFork(project: TestProject, type: "BRANCH" | "RANDOM_SPLIT", config: object, names: string[]) {
  return drawWorkflow(server.database, project.id, {
    steps: [
      ["trigger", "TRIGGER"],
      ["mark", "UPDATE_CONTACT", { updates: { marked: true } }],
      ["fork", type, config],
      ...names.map((name): [string, "UPDATE_CONTACT", object] => [
        name,
        "UPDATE_CONTACT",
        { updates: { path: "{{steps.fork.branch}}" } },
      ]),
    ],
    links: [
      ["trigger", "mark"],
      ["mark", "fork"],
      ...names.map((name): [string, string, string] => ["fork", name, name]),
    ],
  });
}

async function addContacts(project: TestProject, count: number): Promise<string[]> {
  const rows = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'c' || new_id() || '@example.com', true from generate_series(1, $2::integer) returning id`,
    project.id,
    count,
  );
  return rows.map(({ id }) => id);
}

const enter = (project: TestProject, workflow: DrawnWorkflow, contactIds: readonly string[]) =>
  transaction(server.database, (tx) =>
    insertExecutions(
      tx,
      project.id,
      contactIds.map((id) => entryOf(workflow, id)),
    ),
  );

/** Advances executions until none is due. */
async function advanceAll(project: TestProject, limit = 500): Promise<void> {
  const parts = stepPartsOf(server.database, APP_SECRET);
  while ((await advanceDue(server.database, parts, project.id, limit)) > 0);
}

/** How many contacts took each branch, by the traces of their executions. */
async function countPaths(workflow: DrawnWorkflow): Promise<Record<string, number>> {
  const rows = await server.rows<{ branch: string; count: number }>(
    `select run ->> 'via' as branch, count(*)::integer from workflow_executions, jsonb_array_elements(trace) run
     where workflow_id = $1 and run ? 'via' group by 1 order by 1`,
    workflow.id,
  );
  return Object.fromEntries(rows.map(({ branch, count }) => [branch, count]));
}

test("takes the first branch that matches, else `else`, and records the compared values", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const names = ["Enterprise", "Same plan", "Paid", "else"];
  const workflow = await drawFork(project, "BRANCH", BRANCH, names);
  const read = async (email: string, plan: string, context: Record<string, unknown>) => {
    const contactId = await trackEvent(server, project, email, "visit", { plan });
    const started = await server.call(executions.startExecution, byKey, {
      params: { id: workflow.id },
      body: { contactId, context },
    });
    if (!("id" in started.body)) throw new Error(started.text);
    await advanceAll(project);
    const params = { id: workflow.id, executionId: started.body.id };
    const { body } = await server.call(executions.getExecution, byKey, { params });
    const contact = await server.call(contactsContract.getContact, byKey, { params: { id: contactId } });
    const simulated = await server.call(questions.simulateWorkflow, byKey, {
      params: { id: workflow.id },
      body: { contactId, context },
    });
    const { branch, output } = body.steps[2] ?? {};
    expect(simulated.body.steps[2]).toMatchObject({ branch, output });
    return { status: body.status, branch, output, path: contact.body.data["path"] };
  };
  expect(await read("large@example.com", "pro", { seats: 500, plan: "pro" })).toEqual({
    status: "COMPLETED",
    branch: "Enterprise",
    output: {
      compared: [
        {
          branch: "Enterprise",
          field: "event.seats",
          operator: "greaterThan",
          value: 100,
          seen: 500,
          matches: true,
        },
      ],
    },
    path: "Enterprise",
  });
  expect(await read("same@example.com", "pro", { seats: 5, plan: "pro" })).toMatchObject({
    branch: "Same plan",
    output: {
      compared: [
        { branch: "Enterprise", seen: 5, matches: false },
        { branch: "Same plan", field: "data.plan", value: "pro", seen: "pro", matches: true },
      ],
    },
    path: "Same plan",
  });
  expect(await read("other@example.com", "free", { plan: "pro" })).toMatchObject({
    branch: "else",
    output: { compared: [{ matches: false }, { matches: false }, { branch: "Paid", matches: false }] },
    path: "else",
  });
  await trackEvent(server, project, "payer@example.com", "paid");
  expect(await read("payer@example.com", "free", { plan: "pro" })).toMatchObject({
    branch: "Paid",
    output: { compared: [{}, {}, { branch: "Paid", seen: { count: 1 }, matches: true }] },
    path: "Paid",
  });
});

test("ends an execution at a branch without a transition", async () => {
  const project = await server.createProject();
  const workflow = await drawFork(project, "BRANCH", BRANCH, ["Enterprise"]);
  await enter(project, workflow, await addContacts(project, 1));
  await advanceAll(project);
  expect(
    await server.rows("select status, step_id from workflow_executions where workflow_id = $1", workflow.id),
  ).toEqual([{ status: "COMPLETED", stepId: null }]);
  expect(await countPaths(workflow)).toEqual({ else: 1 });
});

test("fails a BRANCH whose filters together search too much of a contact's data", async () => {
  const project = await server.createProject();
  const branches = ["a", "b"].map((value) => ({
    name: value,
    filter: { field: "data.note", operator: "contains", value },
  }));
  const workflow = await drawFork(project, "BRANCH", { branches }, []);
  const [contactId = ""] = await addContacts(project, 1);
  await server.rows(
    "update contacts set data = jsonb_build_object('note', repeat('x', 1020000)) where id = $1",
    contactId,
  );
  await enter(project, workflow, [contactId]);
  await advanceAll(project);
  expect(
    await server.rows(
      "select status, exit_reason from workflow_executions where workflow_id = $1",
      workflow.id,
    ),
  ).toEqual([{ status: "FAILED", exitReason: "The condition searches too much of this contact's data." }]);
});

test("divides contacts exactly when four processes advance them at the same time, with errors", async () => {
  const project = await server.createProject();
  const config = { shares: [share("A", 33.33), share("B", 33.34), share("C", 23.33), share("D", 10)] };
  const workflow = await drawFork(project, "RANDOM_SPLIT", config, ["A", "B", "C", "D"]);
  armFailpoints([{ name: "workflow.before_commit", action: "throw", turn: 5 }]);
  await enter(project, workflow, await addContacts(project, 500));
  await Promise.all([1, 2, 3, 4].map(() => advanceAll(project, 7)));
  await advanceAll(project);
  const { A = 0, B = 0, C = 0, D = 0 } = await countPaths(workflow);
  expect(A + B + C + D).toBe(500);
  expect([166, 167]).toContain(A);
  expect([166, 167]).toContain(B);
  expect([116, 117]).toContain(C);
  expect(D).toBe(50);
  // Each contact took the path of its recorded share.
  const paths = await server.rows(
    "select data ->> 'path' as path, count(*)::integer from contacts where project_id = $1 group by 1 order by 1",
    project.id,
  );
  expect(paths).toEqual(Object.entries({ A, B, C, D }).map(([path, count]) => ({ path, count })));
});

test("continues the counts of a split in later batches, and after a change of another step", async () => {
  const project = await server.createProject();
  const config = { shares: [share("A", 10), share("B", 90)] };
  const workflow = await drawFork(project, "RANDOM_SPLIT", config, ["A", "B"]);
  for (let round = 1; round <= 5; round++) {
    await enter(project, workflow, await addContacts(project, 10));
    await advanceAll(project, 4);
    expect(await countPaths(workflow)).toEqual({ A: round, B: 9 * round });
    const rename = await server.call(stepsContract.updateStep, project.byKey, {
      params: { id: workflow.id, stepId: workflow.step("mark") },
      body: { name: `mark ${round}` },
    });
    expect(rename.status).toBe(200);
  }
});

test("shuffles contacts that arrive together before it divides them", async () => {
  const project = await server.createProject();
  const config = { shares: [share("A", 50), share("B", 50)] };
  const workflow = await drawFork(project, "RANDOM_SPLIT", config, ["A", "B"]);
  await enter(project, workflow, await addContacts(project, 64));
  await server.rows(
    `update workflow_executions x set due_at = now() - interval '1 hour' + o.place * interval '1 second'
     from (select id, row_number() over (order by id) as place from workflow_executions where workflow_id = $1) o
     where x.workflow_id = $1 and x.id = o.id`,
    workflow.id,
  );
  await advanceAll(project);
  const rows = await server.rows<{ branch: string }>(
    "select trace -> 2 ->> 'via' as branch from workflow_executions where workflow_id = $1 order by id",
    workflow.id,
  );
  // By chance, an alternating order comes once in 10^18 runs.
  expect(new Set(rows.map(({ branch }, at) => `${at % 2} ${branch}`)).size).toBe(4);
});

test("simulates the chosen share of a split, and replays the recorded one", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  const config = { shares: [share("A", 20), share("B", 50), share("C", 30)] };
  const workflow = await drawFork(project, "RANDOM_SPLIT", config, ["A", "B", "C"]);
  const params = { id: workflow.id };
  const simulate = async (splits?: Record<string, string>) => {
    const reply = await server.call(questions.simulateWorkflow, byKey, {
      params,
      body: { contact: { email: "ada@example.com" }, splits },
    });
    const run = reply.body.steps.find(({ name }) => name === "fork");
    return [run?.branch, run?.output, reply.body.contact.data["path"]];
  };
  expect(await simulate()).toEqual(["B", { percent: 50 }, "B"]);
  expect(await simulate({ fork: "C" })).toEqual(["C", { percent: 30 }, "C"]);
  expect(await simulate({ fork: "unknown" })).toEqual(["B", { percent: 50 }, "B"]);

  await enter(project, workflow, await addContacts(project, 20));
  await server.rows("update workflow_versions set is_used = true where workflow_id = $1", workflow.id);
  await advanceAll(project);
  const replay = async () => {
    const { body } = await server.call(questions.replayWorkflow, byKey, { params, body: {} });
    return ["A", "B", "C"].map((name) => {
      const { did, would } = body.steps.find((step) => step.name === name) ?? {};
      return [name, did?.entered, would?.entered];
    });
  };
  const recorded = [
    ["A", 4, 4],
    ["B", 10, 10],
    ["C", 6, 6],
  ];
  expect(await replay()).toEqual(recorded);
  const patch = (shares: ReadonlyArray<ReturnType<typeof share>>, renamedBranches?: Record<string, string>) =>
    server.call(stepsContract.updateStep, byKey, {
      params: { id: workflow.id, stepId: workflow.step("fork") },
      body: { config: { shares }, renamedBranches },
    });
  expect((await patch([share("A", 50), share("B", 20), share("C", 30)])).status).toBe(200);
  expect(await replay()).toEqual(recorded);
  // The contacts of a share that no longer exists are divided by the new ones.
  expect((await patch([share("N", 50), share("B", 25), share("C", 25)], { A: "N" })).status).toBe(200);
  expect(await replay()).toEqual([
    ["A", 4, 2],
    ["B", 10, 11],
    ["C", 6, 7],
  ]);
});

test("continues a skipped BRANCH at `else`, and a RANDOM_SPLIT at its first share", async () => {
  const project = await server.createProject();
  for (const [type, config, names, path] of [
    ["BRANCH", BRANCH, ["Enterprise", "else"], "else"],
    ["RANDOM_SPLIT", { shares: [share("A", 10), share("B", 90)] }, ["A", "B"], "A"],
  ] as const) {
    const workflow = await drawFork(project, type, config, [...names]);
    await enter(project, workflow, await addContacts(project, 1));
    await server.rows(
      `update workflow_executions set status = 'FAILED', step_id = $2, due_at = null, ended_at = now(),
         trace = '[{"n":2,"at":1,"end":1,"is":"FAILED"}]' where workflow_id = $1`,
      workflow.id,
      workflow.step("fork"),
    );
    const skipped = await server.call(executions.skipFailedAtStep, project.byKey, {
      params: { id: workflow.id, stepId: workflow.step("fork") },
    });
    expect(skipped.body).toEqual({ count: 1 });
    await advanceAll(project);
    const [row] = await server.rows<{ n: number }>(
      "select (trace -> 1 ->> 'n')::integer as n from workflow_executions where workflow_id = $1",
      workflow.id,
    );
    expect(workflow.graph.steps[row?.n ?? -1]?.name).toBe(path);
  }
});
