// Tests that nothing waiting is sent after a database rollback until a person releases it (then each once) or drops it (then never).
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as contactImport from "@postloft/contract/contact-import.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { transaction } from "../platform/database/database.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { uploadCsv } from "../testing/upload.ts";
import { drawWorkflow, type DrawnStep } from "../testing/workflow-fixture.ts";
import { describeHeld, dropHeld, holdEverything, readHeld, releaseHeld } from "./held.ts";

const server = useTestServer({
  ROLES: "api",
  WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32",
  WEBHOOK_ALLOW_PORTS: "1024-65535",
});
const WAIT = { timeout: 30_000, interval: 20 };
const ALL = { projectId: null, campaignId: null };

let isUp = false;
let calls = 0;
const endpoint = createServer((request, response) => {
  request.resume();
  calls += 1;
  response.writeHead(isUp ? 200 : 503).end("{}");
});
beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve)));
afterAll(() => void endpoint.close().closeAllConnections());

const track = (project: TestProject, event: string, name: string) =>
  server.call(v1.track, project.byKey, { body: { email: `${name}@example.com`, event } });
const startWorker = () => server.startAnother({ ROLES: "worker" });

/** A workflow that sends an email in its last step. */
async function draw(project: TestProject, trigger: object, ...between: DrawnStep[]) {
  const template = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: JSON.stringify(trigger).slice(0, 60),
      subject: "Hello",
      body: "<p>{{email}}</p>",
      type: "TRANSACTIONAL",
      from: "hello@sandbox.localhost",
    },
  });
  const steps: DrawnStep[] = [
    ["trigger", "TRIGGER"],
    ...between,
    ["mail", "SEND_EMAIL", { templateId: template.body.id }],
  ];
  const links = steps.slice(1).map(([name], at) => [steps[at]?.[0] ?? "", name] as [string, string]);
  return drawWorkflow(server.database, project.id, { trigger, steps, links });
}
const onEvent = (event: string) => ({ type: "EVENT", config: { eventName: event }, event });

/**
 * Creates waiting items of every kind without a worker: an execution that began, one with its event, a called webhook, a due schedule, and
 * an import.
 */
async function somethingOfEverything() {
  isUp = false;
  calls = 0;
  const project = await server.createProject();
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  const began = await draw(project, onEvent("began"));
  const waits = await draw(project, onEvent("ordered"), ["wait", "WAIT_FOR_EVENT", { eventName: "paid" }]);
  const asks = await draw(project, onEvent("asked"), ["ask", "WEBHOOK", { url, method: "POST" }]);
  const schedule = { cron: "0 9 * * *", audienceType: "ALL" };
  const weekly = await draw(project, { type: "SCHEDULE", config: schedule });
  const worker = await startWorker();
  await track(project, "ordered", "bob");
  await track(project, "asked", "cyd");
  await vi.waitFor(async () => {
    const [row] = await server.rows<{ waiting: number; tried: number }>(
      `select (select count(*)::int from workflow_executions where project_id = $1 and waits_for = 'paid') as waiting,
         (select count(*)::int from webhook_calls where project_id = $1 and tries = 1 and claim_id is null) as tried`,
      project.id,
    );
    expect(row).toEqual({ waiting: 1, tried: 1 });
  }, WAIT);
  await worker.stop();
  await track(project, "began", "ada");
  await track(project, "paid", "bob");
  const at = "update workflows set next_run_at = now() - interval '1 minute' where id = $1";
  await server.rows(at, weekly.id);
  const started = await uploadCsv(server.call, project.byKey, "email\ndee@example.com\n");
  return { project, began, waits, asks, weekly, jobId: started.body.jobId };
}

/** The recipients of emails, and the workflow that sent each. */
async function written(projectId: string, names: Record<string, { id: string }>): Promise<string[]> {
  const rows = await server.rows<{ to: string; workflowId: string }>(
    "select to_address as to, workflow_id from emails where project_id = $1 order by 1",
    projectId,
  );
  const nameOf = (id: string) => Object.entries(names).find(([, workflow]) => workflow.id === id)?.[0];
  return rows
    .map(({ to, workflowId }) => `${to.replace("@example.com", "")} ${nameOf(workflowId)}`)
    .toSorted();
}
const stateOf = async ({ byKey }: TestProject, jobId: string) =>
  (await server.call(contactImport.getImport, byKey, { params: { jobId } })).body.state;

test("holds workflows, webhooks and jobs with the emails, sends new ones, and releases each once", async () => {
  const { project, jobId, ...workflows } = await somethingOfEverything();
  await transaction(server.database, (tx) => holdEverything(tx, "It went back."));
  const held = await readHeld(server.database);
  expect(held === null ? "" : describeHeld(held)).toBe(
    "1 schedule, 3 executions of workflows, 1 webhook and 1 job",
  );
  const worker = await startWorker();
  await track(project, "began", "eve");
  await vi.waitFor(async () => expect(await written(project.id, workflows)).toEqual(["eve began"]), WAIT);
  const [execution] = (
    await server.call(executions.listExecutions, project.byKey, { params: { id: workflows.waits.id } })
  ).body.data;
  expect(execution).toMatchObject({
    status: "WAITING",
    nextAt: null,
    exitReason: expect.stringMatching(/^Held: the database was rolled back/),
  });
  expect([calls, await stateOf(project, jobId)]).toEqual([1, "waiting"]);
  await worker.stop();

  isUp = true;
  const released = await releaseHeld(server.database, ALL);
  expect(released).toMatchObject({ executions: 3, schedules: 1, webhooks: 1, jobs: 1 });
  expect(await readHeld(server.database)).toBeNull();
  const another = await startWorker();
  const everyone = ["ada", "bob", "cyd", "eve"];
  await vi.waitFor(async () => {
    const mails = await written(project.id, workflows);
    expect(mails.filter((mail) => !mail.startsWith("dee"))).toEqual(
      [
        "ada began",
        "bob waits",
        "cyd asks",
        "eve began",
        ...everyone.map((name) => `${name} weekly`),
      ].toSorted(),
    );
    expect([calls, await stateOf(project, jobId)]).toEqual([2, "completed"]);
  }, WAIT);
  await another.stop();
});

test("dropped items never happen, count as cancelled, and schedules keep their next time", async () => {
  const { project, jobId, ...workflows } = await somethingOfEverything();
  await transaction(server.database, (tx) => holdEverything(tx, "It went back."));
  const other = await server.createProject();
  await dropHeld(server.database, { projectId: other.id, campaignId: null });
  expect(await readHeld(server.database)).toMatchObject({ executions: 3 });
  const dropped = await dropHeld(server.database, { projectId: project.id, campaignId: null });
  expect(dropped).toMatchObject({ executions: 3, schedules: 1, webhooks: 1, jobs: 1 });
  isUp = true;
  const worker = await startWorker();
  await vi.waitFor(async () => {
    const rows = await server.rows(
      "select distinct status, left(exit_reason, 8) as reason, due_at from workflow_executions where project_id = $1",
      project.id,
    );
    expect(rows).toEqual([{ status: "CANCELLED", reason: "Dropped:", dueAt: null }]);
  }, WAIT);
  expect(await written(project.id, workflows)).toEqual([]);
  const numbers = await server.call(workflowQuestions.countSteps, project.byKey, {
    params: { id: workflows.waits.id },
  });
  const wait = numbers.body.steps.find(({ stepId }) => stepId === workflows.waits.step("wait"));
  expect(wait).toMatchObject({ entered: 1, cancelled: 1 });
  const [schedule] = await server.rows(
    "select next_run_at > now() as is_ahead from workflows where id = $1",
    workflows.weekly.id,
  );
  expect([calls, await stateOf(project, jobId), schedule]).toEqual([1, "failed", { isAhead: true }]);
  await worker.stop();
});
