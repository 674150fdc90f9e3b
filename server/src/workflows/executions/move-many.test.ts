// Many people in a workflow with a wrong condition. The corrected version takes them over in few statements, and no one is emailed twice.
import { expect, test } from "vitest";
import * as moves from "@postloft/contract/workflows/moves.ts";
import * as steps from "@postloft/contract/workflows/steps.ts";
import * as templates from "@postloft/contract/templates.ts";
import { transaction } from "../../platform/database/database.ts";
import { readJobInput } from "../../platform/background/jobs.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { stepPartsOf } from "../../testing/step-parts.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow, entryOf } from "../../testing/workflow-fixture.ts";
import { advanceDue } from "./advance.ts";
import { insertExecutions, markVersionsUsed } from "./entry-queries.ts";
import { MOVE_JOB, moveStep } from "./move-executions.ts";

/** No engine and no jobs run, so only the test moves and advances executions. */
const server = useTestServer({ ROLES: "api" });
const PEOPLE = Number(process.env["PEOPLE"] ?? 2_500);
/** Pages of the job. */
const PAGES = Math.ceil((PEOPLE + 1) / 1_000);

async function template(name: string): Promise<string> {
  const body = { name, subject: name, body: "b", from: "news@sandbox.localhost" };
  const { byKey } = server.project;
  return (await server.call(templates.createTemplate, byKey, { body: { ...body, type: "TRANSACTIONAL" } }))
    .body.id;
}

async function advanceAll(projectId: string): Promise<void> {
  const parts = stepPartsOf(server.database, APP_SECRET);
  while ((await advanceDue(server.database, parts, projectId)) > 0);
}

/** Runs all steps of a job and returns its result. */
async function runMove(projectId: string, id: string): Promise<unknown> {
  const about = await readJobInput(server.database, { projectId, id }, [MOVE_JOB]);
  for (let checkpoint: unknown = null; ;) {
    const job = { projectId, id, input: about?.input, checkpoint, createdAt: new Date() };
    const outcome = await transaction(server.database, (tx) => moveStep(tx, job));
    if (outcome.done) return outcome.result;
    ({ checkpoint } = outcome);
  }
}

test("corrects a wrong condition for many people with few statements and emails no one twice", async () => {
  const { id: projectId, byKey } = server.project;
  const [welcome, wrong, right] = [
    await template("welcome"),
    await template("wrong"),
    await template("right"),
  ];
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["hello", "SEND_EMAIL", { templateId: welcome }],
      ["paying?", "CONDITION", { field: "data.plan", operator: "equals", value: "glod" }],
      ["rest", "DELAY", { amount: 7, unit: "days" }],
      ["sorry", "SEND_EMAIL", { templateId: wrong }],
      ["thanks", "SEND_EMAIL", { templateId: right }],
    ],
    links: [
      ["trigger", "hello"],
      ["hello", "paying?"],
      ["paying?", "rest", "no"],
      ["rest", "sorry"],
      ["paying?", "thanks", "yes"],
    ],
  });
  const contacts = await server.rows<{ id: string }>(
    `insert into contacts (project_id, id, email, subscribed, data)
     select $1, new_id(), 'c' || n || '@example.com', true, '{"plan": "gold"}' from generate_series(1, $2::integer) n returning id`,
    projectId,
    PEOPLE,
  );
  const entries = contacts.map((contact) => entryOf(workflow, contact.id));
  await transaction(server.database, async (tx) => {
    await insertExecutions(tx, projectId, entries);
    await markVersionsUsed(tx, projectId, [{ workflowId: workflow.id, version: 1 }]);
  });
  await advanceAll(projectId);
  await server.call(steps.updateStep, byKey, {
    params: { id: workflow.id, stepId: workflow.step("paying?") },
    anyBody: { config: { field: "data.plan", operator: "equals", value: "gold" } },
  });
  const params = { id: workflow.id };
  const { body: preview } = await server.call(moves.previewMove, byKey, { params });
  expect(preview.groups).toMatchObject([{ version: 1, count: PEOPLE, step: { name: "rest" } }]);

  const reply = await server.call(moves.moveExecutions, byKey, {
    params,
    body: {
      steps: { [workflow.step("rest")]: workflow.step("hello") },
      expectedUpdatedAt: preview.updatedAt,
    },
  });
  const sinceMs = performance.now();
  const { result, statements } = await countStatements(() => runMove(projectId, reply.body.jobId));
  const tookMs = Math.round(performance.now() - sinceMs);
  expect(result).toEqual({ moved: PEOPLE, ended: 0, leftOut: [] });
  expect(statements).toBeLessThanOrEqual(PAGES * 8);
  await advanceAll(projectId);
  const allMs = Math.round(performance.now() - sinceMs);
  if (process.env["PEOPLE"] !== undefined)
    // oxlint-disable-next-line no-console -- whoever chose the number wants to know
    console.log(
      `moved ${PEOPLE} executions in ${tookMs} ms, ${statements} statements; with the engine ${allMs} ms`,
    );
  expect(
    await server.rows(
      `select t.name, count(*)::integer, count(distinct e.contact_id)::integer as contacts
       from emails e join templates t on t.project_id = e.project_id and t.id = e.template_id
       where e.project_id = $1 group by 1 order by 1`,
      projectId,
    ),
  ).toEqual([
    { name: "right", count: PEOPLE, contacts: PEOPLE },
    { name: "welcome", count: PEOPLE, contacts: PEOPLE },
  ]);
});
