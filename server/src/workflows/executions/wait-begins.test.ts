// The start of a wait. Events during a webhook call, or at the same time as the step before, are not missed and end one wait each.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { recordEvents } from "../../events/events.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { insertExecutions } from "./entry-queries.ts";
import { drawWorkflow, entryOf, trackEvent, type DrawnWorkflow } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };
const HOUR_S = 3_600;

const onEvent = (eventName: string) => ({ type: "EVENT" as const, config: { eventName }, event: eventName });
const waitFor = (eventName: string, timeout = HOUR_S) => ({ eventName, timeout });

/**
 * Waits until the only execution of a workflow has this state.
 * @returns the branch of each of its steps
 */
async function reach({ byKey }: TestProject, { id }: DrawnWorkflow, status: string) {
  const path = `/workflows/${id}/executions`;
  const one = await vi.waitFor(async () => {
    const { body } = await server.call<{ executions: Array<{ id: string }> }>("GET", path, byKey);
    expect(body.executions).toMatchObject([{ status }]);
    return body.executions[0];
  }, WAIT);
  const { body } = await server.call<{ steps: Array<{ branch: string | null }> }>(
    "GET",
    `${path}/${one?.id}`,
    byKey,
  );
  return body.steps.map(({ branch }) => branch);
}

/** Creates events of one contact at the same time, as when one batch stores them. */
async function happenAtOnce(project: TestProject, names: readonly string[]): Promise<void> {
  const contactId = await trackEvent(server, project, "ada@example.com", "seen");
  const events = names.map((name) => ({ projectId: project.id, contactId, name }));
  await transaction(server.database, (tx) => recordEvents(tx, events));
  await server.hint("workflows");
}

test("ends a wait by an event that happened during the preceding webhook call", async () => {
  const project = await server.createProject();
  const endpoint = createServer((_request, response) => {
    void trackEvent(server, project, "ada@example.com", "charged").finally(() => response.end("{}"));
  });
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  const { port } = endpoint.address() as AddressInfo;
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: onEvent("ordered"),
    steps: [
      ["trigger", "TRIGGER"],
      ["charge", "WEBHOOK", { url: `http://127.0.0.1:${port}/`, method: "POST" }],
      ["charged", "WAIT_FOR_EVENT", waitFor("charged", 2)],
    ],
    links: [
      ["trigger", "charge"],
      ["charge", "charged"],
    ],
  });
  try {
    await trackEvent(server, project, "ada@example.com", "ordered");
    expect(await reach(project, workflow, "COMPLETED")).toEqual([null, null, "event"]);
  } finally {
    endpoint.close();
  }
});

test("ends a wait by an event that happened while the execution was failed, after a retry", async () => {
  const project = await server.createProject();
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: onEvent("ordered"),
    steps: [
      ["trigger", "TRIGGER"],
      ["thank", "SEND_EMAIL", { templateId: newId() }],
      ["paid", "WAIT_FOR_EVENT", waitFor("paid", 1)],
    ],
    links: [
      ["trigger", "thank"],
      ["thank", "paid"],
    ],
  });
  await trackEvent(server, project, "ada@example.com", "ordered");
  await reach(project, workflow, "FAILED");
  await trackEvent(server, project, "ada@example.com", "paid");
  const path = `/workflows/${workflow.id}/steps/${workflow.step("thank")}/skip-failed`;
  expect((await server.call("POST", path, project.byKey)).status).toBe(200);
  expect(await reach(project, workflow, "COMPLETED")).toEqual([null, null, "event"]);
});

test("ends one wait per event at the time of the start or of the previous wait's end", async () => {
  const project = await server.createProject();
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: onEvent("ordered"),
    steps: [
      ["trigger", "TRIGGER"],
      ["paid", "WAIT_FOR_EVENT", waitFor("paid")],
      ["packed", "WAIT_FOR_EVENT", waitFor("packed")],
      ["ordered again", "WAIT_FOR_EVENT", waitFor("ordered")],
    ],
    links: [
      ["trigger", "paid"],
      ["paid", "packed"],
      ["packed", "paid", "timeout"],
      ["packed", "ordered again", "event"],
    ],
  });
  const circle = await drawWorkflow(server.database, project.id, {
    trigger: onEvent("ordered"),
    steps: [
      ["trigger", "TRIGGER"],
      ["paid", "WAIT_FOR_EVENT", waitFor("paid")],
      ["packed", "WAIT_FOR_EVENT", waitFor("packed")],
    ],
    links: [
      ["trigger", "paid"],
      ["paid", "packed"],
      ["packed", "paid"],
    ],
  });
  await happenAtOnce(project, ["ordered", "paid", "packed"]);
  await expect.poll(() => reach(project, workflow, "WAITING"), WAIT).toEqual([null, "event", "event", null]);
  await expect.poll(() => reach(project, circle, "WAITING"), WAIT).toEqual([null, "event", "event", null]);
  const replayed = await server.call(workflowQuestions.replayWorkflow, project.byKey, {
    params: { id: workflow.id },
    body: {},
  });
  expect(replayed.body.steps.map(({ would }) => would.entered)).toEqual([1, 1, 1, 1]);
  expect(replayed.body.steps.map(({ did }) => did.entered)).toEqual([1, 1, 1, 1]);
});

test("counts a delay from the entry if no worker ran then, and reports a time zone that a contact lacks", async () => {
  const project = await server.createProject();
  const { id: projectId } = project;
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["tag", "UPDATE_CONTACT", { updates: { tagged: true } }],
      ["over", "DELAY", { amount: 1, unit: "hours" }],
      ["morning", "DELAY", { until: "09:00", timezone: "contact" }],
    ],
    links: [
      ["trigger", "tag"],
      ["tag", "over"],
      ["over", "morning"],
    ],
  });
  const startedAt = new Date(Date.now() - 2 * HOUR_S * 1000);
  const entries = await Promise.all(
    ["", "Mars/Olympus", "Asia/Tokyo"].map(async (timezone) => {
      const contactId = await trackEvent(server, project, `${timezone.slice(0, 4)}x@example.com`, "seen");
      await server.rows(
        "update contacts set data = $2 where id = $1",
        contactId,
        JSON.stringify({ timezone }),
      );
      return { ...entryOf(workflow, contactId), startedAt };
    }),
  );
  const beganMs = Date.now();
  await transaction(server.database, (tx) => insertExecutions(tx, projectId, entries));
  await server.hint("workflows");
  const rows = await vi.waitFor(async () => {
    const found = await server.rows<{ trace: Array<{ until?: number; out?: { problem?: string } }> }>(
      "select trace from workflow_executions where project_id = $1 and step_id = $2 order by id",
      projectId,
      workflow.step("morning"),
    );
    expect(found).toHaveLength(3);
    expect(found.every(({ trace }) => trace.length === 4)).toBe(true);
    return found;
  }, WAIT);
  for (const { trace } of rows) {
    expect(trace[2]?.until).toBe(startedAt.getTime() + HOUR_S * 1000);
    // A second delay begins when the first one is over.
    expect(trace[3]?.until).toBeGreaterThan(beganMs);
  }
  expect(new Set(rows.map(({ trace }) => trace[3]?.out?.problem))).toEqual(
    new Set([
      "The contact has no “data.timezone”, so UTC was used.",
      "The contact's “data.timezone” is not a time zone of the IANA database, so UTC was used.",
      undefined,
    ]),
  );
});

test("a delay until a date waits for the contact's date, continues if it has passed, and fails without one", async () => {
  const project = await server.createProject();
  const { id: projectId } = project;
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["ending", "DELAY", { dateField: "data.endsAt", amount: 3, unit: "days", direction: "before" }],
      ["tag", "UPDATE_CONTACT", { updates: { tagged: true } }],
    ],
    links: [
      ["trigger", "ending"],
      ["ending", "tag"],
    ],
  });
  const entries: Array<ReturnType<typeof entryOf>> = [];
  for (const endsAt of ["2999-01-31", "2020-01-31", "soon"]) {
    const contactId = await trackEvent(server, project, `${endsAt}@example.com`, "seen");
    await server.rows("update contacts set data = $2 where id = $1", contactId, JSON.stringify({ endsAt }));
    entries.push(entryOf(workflow, contactId));
  }
  await transaction(server.database, (tx) => insertExecutions(tx, projectId, entries));
  await server.hint("workflows");
  const rows = await vi.waitFor(async () => {
    const found = await server.rows<{ status: string; due: Date | null; error: string | null }>(
      "select status, due_at as due, trace -> -1 ->> 'error' as error from workflow_executions where project_id = $1 order by id",
      projectId,
    );
    expect(found.map(({ status }) => status)).toEqual(["WAITING", "COMPLETED", "FAILED"]);
    return found;
  }, WAIT);
  expect(rows[0]?.due).toEqual(new Date("2999-01-28T00:00:00Z"));
  expect(rows[2]?.error).toMatch(/^“data.endsAt” is not a date /);
});
