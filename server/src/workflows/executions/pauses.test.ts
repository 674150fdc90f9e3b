// Paused workflows: no one moves, timers keep running, an endpoint that fails for everyone pauses, and members learn about failures.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import * as activity from "@postloft/contract/activity.ts";
import * as executions from "@postloft/contract/executions.ts";
import * as pauses from "@postloft/contract/workflows/pauses.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { readPlatformEmails } from "../../testing/platform-emails.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import {
  drawWorkflow,
  trackEvent,
  type DrawnWorkflow,
  type Drawing,
} from "../../testing/workflow-fixture.ts";
import { sendFailureDigests } from "./notify-failures.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const MOST = LIMITS.webhookFailuresInARow.value;

const on = { type: "EVENT", config: { eventName: "go" }, event: "go" } as const;
const draw = ({ id }: TestProject, drawing: Omit<Drawing, "trigger">) =>
  drawWorkflow(server.database, id, { trigger: on, ...drawing });
const enter = (project: TestProject, name: string) =>
  trackEvent(server, project, `${name}@example.com`, "go");
const read = async ({ byKey }: TestProject, { id }: DrawnWorkflow) =>
  (await server.call(workflows.getWorkflow, byKey, { params: { id } })).body;
const pause = ({ byKey }: TestProject, { id }: DrawnWorkflow) =>
  server.call(pauses.pauseWorkflow, byKey, { params: { id } });
const resume = ({ byKey }: TestProject, { id }: DrawnWorkflow) =>
  server.call(pauses.resumeWorkflow, byKey, { params: { id } });

/** Returns the statuses of all executions, with the step of the unfinished ones, by contact. */
async function placesOf({ id: projectId }: TestProject, { graph }: DrawnWorkflow) {
  const rows = await server.rows<{ name: string; status: string; stepId: string | null; isStopped: boolean }>(
    `select split_part(c.email, '@', 1) as name, x.status, x.step_id, x.paused_due_at is not null and x.due_at is null as is_stopped
     from workflow_executions x join contacts c on c.project_id = x.project_id and c.id = x.contact_id
     where x.project_id = $1 order by 1`,
    projectId,
  );
  return Object.fromEntries(
    rows.map(({ name, status, stepId, isStopped }) => {
      const step = graph.steps.find(({ id }) => id === stepId)?.name ?? "";
      return [name, `${status} ${step}${isStopped ? " stopped" : ""}`.trim()];
    }),
  );
}

test("holds everyone before the next step while paused, and keeps their timers and events", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    steps: [
      ["trigger", "TRIGGER"],
      ["rest", "DELAY", { amount: 1, unit: "hours" }],
      ["paid?", "WAIT_FOR_EVENT", { eventName: "paid", timeout: 86_400 }],
      ["thanks", "EXIT", { reason: "thanks" }],
    ],
    links: [
      ["trigger", "rest"],
      ["rest", "paid?"],
      ["paid?", "thanks", "event"],
    ],
  });
  const places = () => placesOf(project, workflow);
  /** Ends the delay of a contact, as after an hour. */
  const endDelay = (contactId: string) =>
    server.rows(
      `update workflow_executions set due_at = now() - interval '1 second',
         trace = jsonb_set(trace, '{-1,until}', to_jsonb(floor(extract(epoch from now()) * 1000) - 1000))
       where project_id = $1 and contact_id = $2`,
      project.id,
      contactId,
    );
  const [ada, bob] = [await enter(project, "ada"), await enter(project, "bob")];
  await enter(project, "cy");
  await vi.waitFor(
    async () => expect(Object.values(await places())).toEqual(Array(3).fill("WAITING rest")),
    WAIT,
  );
  await endDelay(bob);
  await vi.waitFor(async () => expect(await places()).toMatchObject({ bob: "WAITING paid?" }), WAIT);

  expect((await pause(project, workflow)).body).toMatchObject({ pausedReason: null });
  const { pausedAt } = (await pause(project, workflow)).body;
  await endDelay(ada);
  await trackEvent(server, project, "bob@example.com", "paid");
  const dan = await enter(project, "dan");
  await vi.waitFor(
    async () =>
      expect(await places()).toEqual({
        ada: "WAITING rest stopped",
        bob: "WAITING paid? stopped",
        cy: "WAITING rest",
        dan: "RUNNING trigger stopped",
      }),
    WAIT,
  );
  // The second pause changed nothing, and a stopped execution can still be cancelled.
  expect((await read(project, workflow)).pausedAt).toBe(pausedAt);
  const [one] = await server.rows<{ id: string }>(
    "select id from workflow_executions where contact_id = $1",
    dan,
  );
  const cancelled = { params: { id: workflow.id, executionId: one?.id ?? "" } };
  expect((await server.call(executions.cancelExecution, project.byKey, cancelled)).status).toBe(200);

  expect((await resume(project, workflow)).body.pausedAt).toBeNull();
  await vi.waitFor(
    async () =>
      expect(await places()).toEqual({
        ada: "WAITING paid?",
        bob: "EXITED",
        cy: "WAITING rest",
        dan: "CANCELLED",
      }),
    WAIT,
  );
});

test("pauses when an endpoint fails for everyone, and calls again under the same IDs when resumed", async () => {
  const calls: Array<{ id: string; name: string; status: number }> = [];
  let status = 503;
  const endpoint = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const { contact } = JSON.parse(text) as { contact: { email: string } };
      const id = String(request.headers["webhook-id"]);
      calls.push({ id, name: contact.email.split("@")[0] ?? "", status });
      response.writeHead(status).end(status === 200 ? "x".repeat(70_000) : "Out of order");
    });
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const { port } = endpoint.address() as AddressInfo;
  const project = await server.createProject();
  const workflow = await draw(project, {
    name: "Sync",
    steps: [
      ["trigger", "TRIGGER"],
      ["ask", "WEBHOOK", { url: `http://127.0.0.1:${port}/`, method: "POST" }],
    ],
    links: [["trigger", "ask"]],
  });
  const places = async () => Object.entries(await placesOf(project, workflow));
  const mails = async () =>
    (await readPlatformEmails(server.pool, { to: project.owner.email })).map(({ subject }) => subject);
  // The first failure of a call is its last.
  await server.rows("alter table webhook_calls alter column tries set default 5");
  try {
    await enter(project, "first");
    await vi.waitFor(async () => expect(await places()).toEqual([["first", "FAILED ask"]]), WAIT);
    expect(await mails()).toEqual(["The workflow “Sync” failed"]);
    expect(await read(project, workflow)).toMatchObject({
      failedExecutions: 1,
      pausedAt: null,
      problems: [
        {
          code: "EXECUTIONS_FAILED",
          severity: "warning",
          stepId: workflow.step("ask"),
          message: '"ask" failed for 1 contact: The endpoint responded with 503. Last response: Out of order',
        },
      ],
    });

    const names = Array.from({ length: MOST + 2 }, (_, at) => `next${at}`);
    await Promise.all(names.map((name) => enter(project, name)));
    await vi.waitFor(async () => {
      expect((await read(project, workflow)).pausedReason).toMatchObject({ stepName: "ask" });
      expect((await places()).filter(([, place]) => !/^FAILED ask$| stopped$/.test(place))).toEqual([]);
    }, WAIT);
    const { failedExecutions, pausedReason } = await read(project, workflow);
    expect(failedExecutions).toBeLessThan(MOST);
    expect(pausedReason?.contacts).toBeGreaterThanOrEqual(MOST);
    expect(pausedReason?.error).toBe("The endpoint responded with 503.");
    expect(await mails()).toEqual(["The workflow “Sync” failed", "The workflow “Sync” is paused"]);

    status = 200;
    await resume(project, workflow);
    const retried = { params: { id: workflow.id, stepId: workflow.step("ask") } };
    await server.call(executions.retryFailedAtStep, project.byKey, retried);
    await vi.waitFor(
      async () => expect(new Set((await places()).map(([, place]) => place))).toEqual(new Set(["COMPLETED"])),
      WAIT,
    );
    for (const name of ["first", ...names]) {
      const own = calls.filter((call) => call.name === name);
      expect([
        new Set(own.map(({ id }) => id)).size,
        own.filter((call) => call.status === 200).length,
      ]).toEqual([1, 1]);
    }
    const [done] = await server.rows<{ trace: Array<{ out?: object }>; results: Record<string, object> }>(
      "select trace, results from workflow_executions where project_id = $1 limit 1",
      project.id,
    );
    expect(done?.trace.at(-1)?.out).toEqual({ status: 200, truncated: true });
    expect(done?.results["ask"]).toMatchObject({ status: 200, truncated: true });
  } finally {
    await server.rows("alter table webhook_calls alter column tries set default 0");
    endpoint.close();
  }
});

test("notifies members of the first failure, and of later ones in a digest a day after it", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, {
    name: "Broken",
    steps: [
      ["trigger", "TRIGGER"],
      ["mail", "SEND_EMAIL", {}],
    ],
    links: [["trigger", "mail"]],
  });
  const mails = async () =>
    (await readPlatformEmails(server.pool, { to: project.owner.email })).map(({ text }) => text);
  const fail = async (name: string, count: number) => {
    await enter(project, name);
    await vi.waitFor(async () => expect((await read(project, workflow)).failedExecutions).toBe(count), WAIT);
  };
  await fail("ada", 1);
  await server.rows(
    "update workflow_executions set ended_at = now() - interval '26 hours' where project_id = $1",
    project.id,
  );
  await fail("bob", 2);
  await fail("cy", 3);
  const digest = () => sendFailureDigests({ database: server.database, baseUrl: () => "" });
  await digest();
  expect(await mails()).toHaveLength(1);
  await server.rows(
    "update told_members set told_at = now() - interval '25 hours' where project_id = $1",
    project.id,
  );
  expect(await digest()).toBe(1);
  expect(await digest()).toBe(0);
  expect((await mails()).at(-1)).toContain("failed for 2 contacts, last at the step “mail”");
  const feed = await server.call(activity.listActivity, project.byKey, {
    query: { type: "workflow.failed" },
  });
  expect(feed.body.data).toHaveLength(3);
  expect(feed.body.data[0]?.metadata).toMatchObject({
    workflowName: "Broken",
    stepId: workflow.step("mail"),
  });
});
