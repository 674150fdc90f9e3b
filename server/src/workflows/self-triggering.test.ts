// Loops of workflows. They are found directly, through other workflows and through segments, and cannot be enabled until the author
// confirms them.
import { expect, test } from "vitest";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import type { GraphStep } from "@postloft/contract/workflows/graph.ts";
import { faultsOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { findLoop, type ReenteredWorkflow, type SegmentDependencies } from "./self-triggering.ts";

const server = useTestServer({ ROLES: "api" });

const base = { name: "s", position: null, createdAt: "", updatedAt: "" };
const EMAIL = { ...base, id: "1", type: "SEND_EMAIL", config: {} } as GraphStep;
const EMAIL_ELSEWHERE = {
  ...EMAIL,
  config: { recipient: { type: "CUSTOM", customEmail: "team@example.com" } },
} as GraphStep;
const update = (config: object) => ({ ...base, id: "2", type: "UPDATE_CONTACT", config }) as GraphStep;
const workflow = (name: string, triggerEvent: string | null, ...steps: GraphStep[]): ReenteredWorkflow => ({
  id: name,
  name,
  triggerEvent,
  steps,
});
const PROS: SegmentDependencies = {
  entryEvent: "segment.pros.entry",
  exitEvent: "segment.pros.exit",
  fields: new Set(["data.plan"]),
  events: new Set(["email.sent"]),
};
const SUBSCRIBE = update({ subscriptionAction: "subscribe" });
const UNSUBSCRIBE = update({ subscriptionAction: "unsubscribe" });

test.each([
  ["an email sent by an email sent", workflow("A", "email.sent", EMAIL), [], ["A"]],
  ["an email sent by a bounce", workflow("A", "email.bounce", EMAIL), [], ["A"]],
  ["no email to the contact itself", workflow("A", "email.sent", EMAIL_ELSEWHERE), [], null],
  ["an email after a click of a person", workflow("A", "email.click", EMAIL), [], null],
  ["an email after an event of the caller's", workflow("A", "order", EMAIL), [], null],
  [
    "subscribing and unsubscribing",
    workflow("A", "contact.unsubscribed", SUBSCRIBE),
    [workflow("B", "contact.subscribed", UNSUBSCRIBE)],
    ["A", "B"],
  ],
  ["subscribing alone", workflow("A", "contact.unsubscribed", SUBSCRIBE), [], null],
  [
    "three workflows",
    workflow("A", "email.sent", SUBSCRIBE),
    [
      workflow("B", "contact.subscribed", update({ updates: { plan: "pro" } })),
      workflow("C", "segment.pros.entry", EMAIL),
    ],
    ["A", "B", "C"],
  ],
  [
    "a segment of a field",
    workflow("A", "segment.pros.entry", update({ updates: { plan: "x" } })),
    [],
    ["A"],
  ],
  [
    "a segment of another field",
    workflow("A", "segment.pros.exit", update({ updates: { city: "x" } })),
    [],
    null,
  ],
  ["a segment of an email event", workflow("A", "segment.pros.exit", EMAIL), [], ["A"]],
  [
    "another loop that it is not part of",
    workflow("A", "contact.subscribed", EMAIL),
    [workflow("B", "email.sent", EMAIL)],
    null,
  ],
] as const)("finds the right loop for %s", (_name, one, others, names) => {
  const loop = findLoop(one, others, [PROS]);
  expect(loop?.map(({ name }) => name) ?? null).toEqual(names);
});

interface Confirmed {
  confirmedProblems: string[];
  problems: Array<{ code: string; severity: string }>;
}

const patch = <Body = never>({ byKey }: TestProject, id: string, body: object) =>
  server.call<Body>("PATCH", `/workflows/${id}`, byKey, body);

/** A workflow with re-entry and one step after its trigger. */
async function make(project: TestProject, name: string, eventName: string, step: object): Promise<string> {
  const { body } = await server.call(workflows.createWorkflow, project.byKey, {
    body: {
      name,
      eventName,
      allowReentry: true,
    },
  });
  const added = await server.call("POST", `/workflows/${body.id}/steps`, project.byKey, {
    ...step,
    autoConnect: true,
  });
  expect(added.status).toBe(201);
  return body.id;
}

const subscription = (subscriptionAction: string) => ({
  type: "UPDATE_CONTACT",
  config: { subscriptionAction },
});

test("enables a workflow that closes a loop only after its author confirms it", async () => {
  const project = await server.createProject();
  const back = await make(project, "Win back", "contact.unsubscribed", subscription("subscribe"));
  const away = await make(project, "Clean up", "contact.subscribed", subscription("unsubscribe"));
  expect((await patch(project, back, { enabled: true })).status).toBe(200);
  const refused = await patch(project, away, { enabled: true });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('"Clean up\\" → \\"Win back\\" → \\"Clean up\\"'.slice(1));
  const confirmed = await patch<Confirmed>(project, away, {
    enabled: true,
    confirmedProblems: ["TRIGGERS_ITSELF"],
  });
  expect(confirmed.status).toBe(200);
  expect(confirmed.body.confirmedProblems).toEqual(["TRIGGERS_ITSELF"]);
  expect(confirmed.body.problems).toMatchObject([{ code: "TRIGGERS_ITSELF", severity: "warning" }]);
  expect(faultsOf(await patch(project, away, { confirmedProblems: [] }))).toEqual([
    "confirmedProblems custom",
  ]);
});

test("rejects a change after which an enabled workflow would trigger itself", async () => {
  const project = await server.createProject();
  const id = await make(project, "W", "contact.subscribed", {
    type: "DELAY",
    config: { amount: 1, unit: "days" },
  });
  expect((await patch(project, id, { enabled: true })).status).toBe(200);
  const step = { ...subscription("unsubscribe"), autoConnect: true };
  expect(
    (await server.call(workflowSteps.createStep, project.byKey, { params: { id }, anyBody: step })).status,
  ).toBe(201);
  const again = { ...subscription("subscribe"), autoConnect: true };
  const refused = await server.call(workflowSteps.createStep, project.byKey, {
    params: { id },
    anyBody: again,
  });
  expect(faultsOf(refused)).toEqual(["steps custom"]);
  // The rejected edits changed nothing, so other edits still work.
  expect((await patch(project, id, { name: "Renamed" })).status).toBe(200);
});

test("reports no problem without re-entry because a contact enters only once", async () => {
  const project = await server.createProject();
  const id = await make(project, "W", "contact.subscribed", subscription("subscribe"));
  expect((await patch(project, id, { allowReentry: false, enabled: true })).status).toBe(200);
  expect(faultsOf(await patch(project, id, { allowReentry: true }))).toEqual(["allowReentry custom"]);
});

test("rejects one of two workflows that close a loop when both are enabled at the same time", async () => {
  const project = await server.createProject();
  const ids = await Promise.all([
    make(project, "A", "contact.unsubscribed", subscription("subscribe")),
    make(project, "B", "contact.subscribed", subscription("unsubscribe")),
  ]);
  const replies = await Promise.all(ids.map((id) => patch(project, id, { enabled: true })));
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 422]);
});

test("finds a loop through a tracked segment by the fields in its filters", async () => {
  const project = await server.createProject();
  const filters = { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] };
  const { body: segment } = await server.call<{ id: string }>("POST", "/segments", project.byKey, {
    name: "Pros",
    filters,
    trackMembership: true,
  });
  const step = { type: "UPDATE_CONTACT", config: { updates: { plan: "free" } } };
  const id = await make(project, "W", "e", step);
  const trigger = { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: segment.id } };
  expect(faultsOf(await patch(project, id, { ...trigger, enabled: true }))).toEqual(["enabled custom"]);
});

test("reports a schedule more often than daily for everyone until it is confirmed", async () => {
  const project = await server.createProject();
  const id = await make(project, "W", "e", subscription("subscribe"));
  const trigger = { triggerType: "SCHEDULE", triggerConfig: { cron: "0 * * * *", audienceType: "ALL" } };
  expect(faultsOf(await patch(project, id, { ...trigger, enabled: true }))).toEqual(["enabled custom"]);
  const confirmed = { ...trigger, enabled: true, confirmedProblems: ["FREQUENT_SCHEDULE"] };
  expect((await patch(project, id, confirmed)).status).toBe(200);
});
