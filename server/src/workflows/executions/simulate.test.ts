// Simulations that start at unusual times.
import { expect, test } from "vitest";
import * as workflowQuestions from "@postloft/contract/workflows/questions.ts";
import { createWebhookVault } from "../../webhooks/webhook-vault.ts";
import { createSealer } from "../../platform/crypto.ts";
import { APP_SECRET, useTestServer } from "../../testing/test-server.ts";
import { drawWorkflow } from "../../testing/workflow-fixture.ts";
import { createShares } from "./shares.ts";
import { chosenResponses, newExecution } from "./simulate.ts";
import { walkable } from "./execution.ts";
import { simulateExecution } from "./simulated-environment.ts";

const server = useTestServer({ ROLES: "api" });

const drawNight = (projectId: string) =>
  drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["night", "DELAY", { until: "02:30", timezone: "Europe/Berlin" }],
    ],
    links: [["trigger", "night"]],
  });

async function simulateFrom(from: string) {
  const { id, byKey } = server.project;
  const workflow = await drawNight(id);
  const contact = { email: "ada@example.com" };
  return server.call(workflowQuestions.simulateWorkflow, byKey, {
    params: { id: workflow.id },
    body: { contact, from },
  });
}

test.each([
  "9999-12-31T12:00:00Z",
  "9999-12-31T23:59:59-10:00",
  "2900-01-01T00:00:00Z",
  "1969-12-31T23:59:59Z",
  "0000-01-01T00:00:00+10:00",
])("rejects a simulation from %s with an error for the field", async (from) => {
  const { status, body } = await simulateFrom(from);
  expect(status).toBe(422);
  expect(body).toMatchObject({
    error: { errors: [{ field: "from", message: "Must be a time in the years 1970 to 2899." }] },
  });
});

test.each(["1970-01-01T00:00:00Z", "2899-12-31T23:59:59Z"])(
  "completes a simulation from %s",
  async (from) => {
    expect((await simulateFrom(from)).body).toMatchObject({ status: "COMPLETED" });
  },
);

test("fails a delay until a time that never comes", async () => {
  const { id: projectId } = server.project;
  const workflow = await drawNight(projectId);
  const execution = newExecution({
    projectId,
    workflow: { id: workflow.id, name: "A workflow", triggerEvent: null },
    version: 1,
    graph: walkable(workflow.graph),
    contactId: "ada",
    context: {},
    startedAt: new Date("9999-12-31T12:00:00Z"),
  });
  const at = new Date();
  const contact = {
    email: "ada@example.com",
    subscribed: true,
    data: {},
    createdAt: at,
    updatedAt: at,
    events: new Map<string, Date[]>(),
    segments: new Set<string>(),
  };
  await simulateExecution({
    execution,
    contact,
    events: [],
    mails: new Map(),
    segments: new Map(),
    knownFields: [],
    vault: createWebhookVault(createSealer(APP_SECRET)),
    respond: chosenResponses({}),
    takeShare: createShares(),
  });
  expect(execution).toMatchObject({
    status: "FAILED",
    exitReason: "The time 02:30 never comes.",
    trace: [{}, { is: "FAILED" }],
  });
});

test("does not reuse the event of one wait for the next", async () => {
  const { id: projectId, byKey } = server.project;
  const wait = { eventName: "paid", timeout: 3_600 };
  const workflow = await drawWorkflow(server.database, projectId, {
    steps: [
      ["trigger", "TRIGGER"],
      ["first", "WAIT_FOR_EVENT", wait],
      ["second", "WAIT_FOR_EVENT", wait],
    ],
    links: [
      ["trigger", "first"],
      ["first", "second"],
    ],
  });
  const simulated = await server.call(workflowQuestions.simulateWorkflow, byKey, {
    params: { id: workflow.id },
    body: {
      contact: { email: "ada@example.com" },
      from: "2026-03-01T12:00:00Z",
      events: [{ name: "paid", at: "2026-03-01T12:30:00Z" }],
    },
  });
  expect(simulated.body.steps.map(({ branch }) => branch)).toEqual([null, "event", "timeout"]);
});
