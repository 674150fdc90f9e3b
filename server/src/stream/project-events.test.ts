// Events of the project itself in its stream: campaigns and workflows, in order with the events of contacts, and redacted with them.
import { expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as eventStream from "@postloft/contract/event-stream.ts";
import * as pauses from "@postloft/contract/workflows/pauses.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { useTestServer, type TestProject } from "../testing/test-server.ts";
import { drawWorkflow, trackEvent } from "../testing/workflow-fixture.ts";

const server = useTestServer({ ROLES: "api,worker" });
const WAIT = { timeout: 30_000, interval: 50 };

async function recordingProject(): Promise<TestProject> {
  const project = await server.createProject();
  await server.call(eventStream.streamEvents, project.byKey, { query: {} });
  return project;
}

/** Returns the events of a project once the last one has the type. */
async function eventsUntil({ byKey }: TestProject, lastType: string) {
  return vi.waitFor(async () => {
    const { events } = (await server.call(eventStream.streamEvents, byKey, { query: {} })).body;
    expect(events.at(-1)?.type).toBe(lastType);
    return events;
  }, WAIT);
}

const upsert = ({ byKey }: TestProject, email: string) =>
  server.call(contacts.upsertContact, byKey, { body: { email, subscribed: true } });

async function createCampaign({ byKey }: TestProject) {
  const { body } = await server.call(campaigns.createCampaign, byKey, {
    body: {
      name: "News",
      subject: "News",
      body: "<p>News</p>",
      from: "news@sandbox.localhost",
      audienceType: "ALL",
    },
  });
  return body.data;
}

test("records the life of a campaign around its emails, with the data of each change", async () => {
  const project = await recordingProject();
  const { byKey } = project;
  await upsert(project, "ada@example.com");
  const { id } = await createCampaign(project);
  const at = new Date(Date.now() + 86_400_000).toISOString();
  await server.call(campaignActions.sendCampaign, byKey, { params: { id }, body: { scheduledFor: at } });
  await server.call(campaignActions.sendCampaign, byKey, { params: { id }, body: {} });
  const events = await eventsUntil(project, "campaign.sent");
  const types = events.map(({ type }) => type).filter((type) => /^campaign\.|^email\.sent$/.test(type));
  expect(types).toEqual(["campaign.scheduled", "campaign.started", "email.sent", "campaign.sent"]);
  const campaign = { id, name: "News", scheduledFor: at, reason: null };
  const dataOf = (type: string) => events.find((event) => event.type === type)?.data;
  expect(dataOf("campaign.scheduled")).toEqual({ campaign: { ...campaign, status: "SCHEDULED" } });
  expect(dataOf("campaign.sent")).toMatchObject({ campaign: { id, status: "SENT" } });
  expect(events.map(({ number, previous }) => number - previous)).toEqual(events.map(() => 1));
});

test("records that a workflow is enabled, paused, resumed and disabled, each once", async () => {
  const project = await recordingProject();
  const { byKey } = project;
  const on = { type: "EVENT", config: { eventName: "go" }, event: "go" } as const;
  const { id } = await drawWorkflow(server.database, project.id, {
    name: "Welcome",
    trigger: on,
    enabled: false,
    steps: [
      ["trigger", "TRIGGER"],
      ["end", "EXIT", {}],
    ],
    links: [["trigger", "end"]],
  });
  const set = (enabled: boolean) =>
    server.call(workflows.updateWorkflow, byKey, { params: { id }, body: { enabled } });
  await set(true);
  await set(true);
  for (const endpoint of [pauses.pauseWorkflow, pauses.pauseWorkflow])
    await server.call(endpoint, byKey, { params: { id } });
  for (const endpoint of [pauses.resumeWorkflow, pauses.resumeWorkflow])
    await server.call(endpoint, byKey, { params: { id } });
  await set(false);
  const events = await eventsUntil(project, "workflow.disabled");
  const workflow = { id, name: "Welcome" };
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ["workflow.enabled", { workflow }],
    ["workflow.paused", { workflow, reason: null }],
    ["workflow.resumed", { workflow }],
    ["workflow.disabled", { workflow }],
  ]);
});

test("records a failed execution with its contact, and redacts it with the contact", async () => {
  const project = await recordingProject();
  const on = { type: "EVENT", config: { eventName: "go" }, event: "go" } as const;
  const workflow = await drawWorkflow(server.database, project.id, {
    name: "Broken",
    trigger: on,
    steps: [
      ["trigger", "TRIGGER"],
      ["mail", "SEND_EMAIL", {}],
    ],
    links: [["trigger", "mail"]],
  });
  const contact = await trackEvent(server, project, "ada@example.com", "go");
  const events = await eventsUntil(project, "workflow.failed");
  const failed = events.at(-1);
  expect(failed?.data).toEqual({
    contact: { id: contact, email: "ada@example.com" },
    workflow: { id: workflow.id, name: "Broken" },
    executionId: expect.any(String),
    step: { id: workflow.step("mail"), name: "mail" },
    error: expect.stringContaining("template"),
  });
  await server.call(contacts.deleteContact, project.byKey, { params: { id: contact } });
  const { body } = await server.call(eventStream.streamEvents, project.byKey, {
    query: { after: failed?.previous },
  });
  expect(body.events).toMatchObject([{ type: "workflow.failed", redacted: true, data: null }]);
});

test("writes nothing for a project without a stream", async () => {
  const project = await server.createProject();
  await upsert(project, "ada@example.com");
  const { id } = await createCampaign(project);
  await server.call(campaignActions.sendCampaign, project.byKey, { params: { id }, body: {} });
  await vi.waitFor(async () => {
    const { body } = await server.call(campaigns.getCampaign, project.byKey, { params: { id } });
    expect(body.status).toBe("SENT");
  }, WAIT);
  expect(await server.rows("select 1 from event_reactions where project_id = $1", project.id)).toEqual([]);
});
