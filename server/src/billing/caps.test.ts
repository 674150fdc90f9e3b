// Caps reject email when it is accepted, separately for each kind. Usage counts sent and waiting email.
import { expect, test, vi } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as contacts from "@postloft/contract/contacts.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import { drawWorkflow } from "../testing/workflow-fixture.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { createCapCheck, monthOf } from "./caps.ts";
import { notifyCaps } from "./tell-caps.ts";

const server = useTestServer();
const WAIT = { timeout: 30_000, interval: 50 };

interface Cap {
  limit: number | null;
  usage: number;
  percentage: number | null;
  isWarning: boolean;
  isBlocked: boolean;
}
type Caps = Record<"transactional" | "campaigns" | "workflows", Cap>;

const pathOf = ({ id }: TestProject, end: string) => `/users/@me/projects/${id}/billing-${end}`;
const cookieOf = ({ owner }: TestProject) => ({ cookie: owner.cookie });
const setCaps = async (project: TestProject, caps: object) =>
  server.call<Caps>("PUT", pathOf(project, "limits"), cookieOf(project), caps);
const readCaps = async (project: TestProject) =>
  (await server.call<Caps>("GET", pathOf(project, "limits"), cookieOf(project))).body;
const send = ({ byKey }: TestProject, ...to: string[]) =>
  server.call(v1.send, byKey, {
    body: {
      to,
      from: "hello@sandbox.localhost",
      subject: "Hello",
      body: "<p>Hello</p>",
    },
  });

const NEWS = {
  name: "News",
  subject: "News",
  body: "<p>News</p>",
  from: "hello@sandbox.localhost",
  audienceType: "ALL",
};

test("rejects a whole call that exceeds the cap, and accepts other calls and kinds", async () => {
  const project = await server.createProject();
  expect((await readCaps(project)).transactional).toEqual({
    limit: null,
    usage: 0,
    percentage: null,
    isWarning: false,
    isBlocked: false,
  });
  const set = await setCaps(project, { transactional: 5, campaigns: 1 });
  expect(set.body.transactional).toMatchObject({ limit: 5, usage: 0, percentage: 0 });
  const four = ["a", "b", "c", "d"].map((name) => `${name}@example.com`);
  expect((await send(project, ...four)).status).toBe(200);
  const refused = await send(project, "e@example.com", "f@example.com");
  expect(errorOf(refused)).toBe("429 BILLING_LIMIT_EXCEEDED");
  expect(refused.text).toContain("leaves room for 1");
  expect((await send(project, "e@example.com")).status).toBe(200);
  expect(errorOf(await send(project, "f@example.com"))).toBe("429 BILLING_LIMIT_EXCEEDED");
  const caps = await readCaps(project);
  expect(caps.transactional).toEqual({
    limit: 5,
    usage: 5,
    percentage: 100,
    isWarning: true,
    isBlocked: true,
  });
  expect(caps.campaigns).toMatchObject({ limit: 1, usage: 0 });
  const { body } = await server.call("GET", pathOf(project, "consumption"), cookieOf(project));
  const { start, end } = monthOf(new Date());
  expect(body).toEqual({
    billingState: "off",
    upcomingInvoice: null,
    period: { start: start.toISOString(), end: end.toISOString() },
    usage: {
      total: 5,
      records: [
        { category: "transactional", count: 5 },
        { category: "campaigns", count: 0 },
        { category: "workflows", count: 0 },
      ],
    },
  });
  expect((await setCaps(project, { transactional: null })).body.transactional.limit).toBeNull();
  expect((await readCaps(project)).campaigns.limit).toBe(1);
  const log = await server.rows<{ action: string }>(
    "select action from audit_log where project_id = $1 and action = 'billing.limitsChanged'",
    project.id,
  );
  expect(log).toHaveLength(2);
});

test("shares the remaining room among concurrent calls", async () => {
  const project = await server.createProject();
  await setCaps(project, { transactional: 5 });
  const requireRoom = createCapCheck(server.database);
  const calls = Array.from({ length: 20 }, () => requireRoom(project.id, "transactional", 2));
  const ended = await Promise.allSettled(calls);
  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("rejects a campaign that exceeds the cap and keeps it a draft", async () => {
  const project = await server.createProject();
  for (const name of ["a", "b", "c"])
    await server.call(contacts.upsertContact, project.byKey, { body: { email: `${name}@example.com` } });
  const made = await server.call(campaigns.createCampaign, project.byKey, { anyBody: NEWS });
  await setCaps(project, { campaigns: 2 });
  const path = `/campaigns/${made.body.data.id}`;
  expect(errorOf(await server.call("POST", `${path}/send`, project.byKey, {}))).toBe(
    "429 BILLING_LIMIT_EXCEEDED",
  );
  expect((await server.call("GET", path, project.byKey)).body).toMatchObject({ status: "DRAFT" });
  await setCaps(project, { campaigns: 3 });
  expect((await server.call("POST", `${path}/send`, project.byKey, {})).status).toBe(200);
  await vi.waitFor(
    async () => expect((await readCaps(project)).campaigns).toMatchObject({ usage: 3, isBlocked: true }),
    WAIT,
  );
});

test("pauses the later of two campaigns for the same room until there is room again", async () => {
  const project = await server.createProject();
  const { byKey } = project;
  for (const name of ["a", "b", "c"])
    await server.call(contacts.upsertContact, byKey, { body: { email: `${name}@example.com` } });
  await setCaps(project, { campaigns: 5 });
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const paths: string[] = [];
  for (const name of ["First", "Second"]) {
    const made = await server.call<{ data: { id: string } }>("POST", "/campaigns", byKey, { ...NEWS, name });
    paths.push(`/campaigns/${made.body.data.id}`);
    const scheduled = await server.call("POST", `${paths.at(-1)}/send`, byKey, { scheduledFor: inAnHour });
    expect(scheduled.status).toBe(200);
  }
  await server.rows("update campaigns set scheduled_for = now() where project_id = $1", project.id);
  await server.hint("campaigns");
  const statuses = async () =>
    Promise.all(
      paths.map(async (path) => (await server.call<{ status: string }>("GET", path, byKey)).body.status),
    );
  await vi.waitFor(async () => expect((await statuses()).toSorted()).toEqual(["PAUSED", "SENT"]), WAIT);
  const late = paths[(await statuses()).indexOf("PAUSED")] ?? "";
  const { body } = await server.call<{ heldReason: string }>("GET", late, byKey);
  expect(body).toMatchObject({ totalRecipients: 0, sentCount: 0 });
  expect(body.heldReason).toContain("leaves room for 2.");
  expect(body).toMatchObject({
    heldReasonParts: [{ code: "held.overCap", values: { recipients: 3, room: 2 } }],
  });
  const [reported] = await readPlatformEmails(server.pool, { to: project.owner.email, subject: /is paused/ });
  expect(reported?.text).toContain("3 recipients");
  await setCaps(project, { campaigns: 6 });
  expect((await server.call("POST", `${late}/resume`, byKey)).status).toBe(200);
  await vi.waitFor(async () => expect(await statuses()).toEqual(["SENT", "SENT"]), WAIT);
  expect((await readCaps(project)).campaigns).toMatchObject({ usage: 6 });
});

test("skips workflow emails with a reason when the cap is reached", async () => {
  const project = await server.createProject();
  const { body: template } = await server.call(templates.createTemplate, project.byKey, {
    body: {
      name: "Welcome",
      subject: "Welcome",
      body: "<p>Welcome</p>",
      type: "TRANSACTIONAL",
      from: "hello@sandbox.localhost",
    },
  });
  await setCaps(project, { workflows: 1 });
  const workflow = await drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName: "go" }, event: "go" },
    steps: [
      ["trigger", "TRIGGER"],
      ["mail", "SEND_EMAIL", { templateId: template.id }],
      ["mark", "UPDATE_CONTACT", { updates: { reached: true } }],
    ],
    links: [
      ["trigger", "mail"],
      ["mail", "mark"],
    ],
  });
  for (const name of ["a", "b"]) {
    await server.call(v1.track, project.byKey, { body: { email: `${name}@example.com`, event: "go" } });
    await vi.waitFor(async () => {
      const [row] = await server.rows<{ data: object }>(
        "select data from contacts where project_id = $1 and email = $2",
        project.id,
        `${name}@example.com`,
      );
      expect(row?.data).toEqual({ reached: true });
    }, WAIT);
  }
  const mails = await server.rows(
    "select 1 from emails where project_id = $1 and workflow_id = $2",
    project.id,
    workflow.id,
  );
  expect(mails).toHaveLength(1);
  const traces = await server.rows<{ trace: string }>(
    "select trace::text from workflow_executions where project_id = $1 and trace::text like '%This month''s cap on workflow emails%'",
    project.id,
  );
  expect(traces).toHaveLength(1);
});

test("keeps all caps that admins set at the same time", async () => {
  for (let round = 0; round < 5; round++) {
    const project = await server.createProject();
    const all = [{ transactional: 1 }, { campaigns: 2 }, { workflows: 3 }];
    await Promise.all(all.map((caps) => setCaps(project, caps)));
    expect(await readCaps(project)).toMatchObject({
      transactional: { limit: 1 },
      campaigns: { limit: 2 },
      workflows: { limit: 3 },
    });
  }
});

test("notifies members in their language once a month at 80 % of a cap and once at 100 %", async () => {
  const project = await server.createProject();
  const notify = () => notifyCaps({ database: server.database, baseUrl: () => "https://post.example" });
  const told = () => readPlatformEmails(server.pool, { to: project.owner.email, subject: /cap/ });
  await setCaps(project, { transactional: 5 });
  await send(project, "a@example.com", "b@example.com", "c@example.com");
  await notify();
  expect(await told()).toEqual([]);
  await send(project, "d@example.com");
  await Promise.all([notify(), notify()]);
  await notify();
  expect(await told()).toMatchObject([
    { subject: "A project: you've nearly reached a monthly cap", text: expect.stringContaining("4 of 5") },
  ]);
  await server.rows("update users set language = 'de' where id = $1", project.owner.id);
  await send(project, "e@example.com");
  await Promise.all([notify(), notify()]);
  await notify();
  const full = (await readPlatformEmails(server.pool, { to: project.owner.email, subject: /Obergrenze/ }))[0];
  expect(full).toMatchObject({
    subject: "A project: Eine Obergrenze dieses Monats ist erreicht",
    text: expect.stringContaining("5 von 5 Transaktionsmails (100\u00a0%)"),
  });
  expect(await told()).toHaveLength(1);
});

test("requires caps of at least 1 and counts months in UTC", async () => {
  for (const cap of [0, -1, 1.5, "10"])
    expect((await setCaps(server.project, { transactional: cap })).status).toBe(422);
  expect(monthOf(new Date("2026-12-31T23:59:59.999Z"))).toEqual({
    start: new Date("2026-12-01T00:00:00Z"),
    end: new Date("2027-01-01T00:00:00Z"),
  });
  const checkCap = createCapCheck(server.database);
  await expect(checkCap(server.project.id, "transactional", 1_000_000)).resolves.toBeUndefined();
});
