// Recipes that other services document, imported and tried through the API. Long waits run with the simulation's clock, because it takes
// the same steps as the engine (model.test.ts). Other recipes are in variables.test.ts and dates.test.ts.
import { expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executionsContract from "@postloft/contract/executions.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as segments from "@postloft/contract/segments.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as versions from "@postloft/contract/workflows/versions.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { trackEvent } from "../../testing/workflow-fixture.ts";

const server = useTestServer({});
const WAIT = { timeout: 30_000, interval: 20 };
const START = "2026-03-02T10:00:00.000Z";
const DAY_MS = 86_400_000;
const after = (days: number, hours = 0) =>
  new Date(Date.parse(START) + days * DAY_MS + hours * 3_600_000).toISOString();

type Step = [key: string, type: string, config: object];
type Link = [from: string, to: string, branch?: string];

interface Recipe {
  trigger: { triggerType: string; triggerConfig: object };
  steps: Step[];
  links: Link[];
  goal?: { eventName: string; days: number };
}

/** Imports a recipe, enables it, and returns its id. */
async function addRecipe({ byKey }: TestProject, { trigger, steps, links, goal }: Recipe): Promise<string> {
  const document = {
    format: "postloft.workflow",
    formatVersion: 1,
    name: "Recipe",
    description: null,
    allowReentry: false,
    ...trigger,
    ...(goal === undefined ? {} : { goal }),
    steps: [["start", "TRIGGER", {}] as Step, ...steps].map(([key, type, config]) => ({
      key,
      type,
      name: key,
      config,
      position: null,
    })),
    transitions: links.map(([from, to, branch = null]) => ({ from, to, branch, priority: 0 })),
    templates: [],
    segments: [],
  };
  const imported = await server.call(versions.importWorkflow, byKey, { body: document as never });
  expect(imported.status).toBe(201);
  const { id } = imported.body;
  const enabled = await server.call(workflows.updateWorkflow, byKey, {
    params: { id },
    body: { enabled: true },
  });
  expect(enabled.body).toMatchObject({ enabled: true, problems: [] });
  return id;
}

/** Creates a template and returns a step that sends it. */
async function mail({ byKey }: TestProject, subject: string, type: "TRANSACTIONAL" | "MARKETING") {
  const body = { name: subject, subject, body: "<p>Hello</p>", type, from: "hello@sandbox.localhost" };
  const made = await server.call(templates.createTemplate, byKey, { body });
  expect(made.status).toBe(201);
  return (key: string): Step => [key, "SEND_EMAIL", { templateId: made.body.id }];
}

/** Creates a segment whose changes are tracked, and returns the trigger for contacts that enter it. */
async function onEntry({ byKey }: TestProject, condition: object): Promise<Recipe["trigger"]> {
  const made = await server.call(segments.createSegment, byKey, {
    body: {
      name: "Recipe",
      trackMembership: true,
      filters: { operator: "AND", conditions: [condition] } as never,
    },
  });
  expect(made.status).toBe(201);
  return { triggerType: "SEGMENT_ENTRY", triggerConfig: { segmentId: made.body.id } };
}

/** Simulates a recipe from START and returns its end and the emails with their times. */
async function simulate(
  { byKey }: TestProject,
  id: string,
  {
    data = {},
    events = [],
  }: { data?: Record<string, unknown>; events?: Array<{ name: string; at: string }> },
) {
  const { body } = await server.call(questions.simulateWorkflow, byKey, {
    params: { id },
    body: { contact: { email: "ada@example.com", subscribed: true, data }, from: START, events },
  });
  const { status, exitReason, endedAt, goalReachedAt, emails, contact } = body;
  return {
    end: exitReason ?? status,
    endedAt,
    goalReachedAt,
    emails: emails.map(({ at, subject }) => `${at} ${subject}`),
    contact: { subscribed: contact.subscribed, ...contact.data },
  };
}

async function receivedSubjects({ byKey }: TestProject): Promise<string[]> {
  const { body } = await server.call(mailbox.listMessages, byKey, {});
  return body.data.map(({ to, subject }) => `${to} ${subject}`);
}

test("welcome: greets immediately, and shows tips three days later only to those who are not customers", async () => {
  const project = await server.createProject();
  await server.call(contacts.upsertContact, project.byKey, {
    body: { email: "grace@example.com", data: { firstName: "Grace", plan: "free" } },
  });
  const welcome = await mail(project, "Welcome, {{firstName}}", "TRANSACTIONAL");
  const tips = await mail(project, "Three tips", "TRANSACTIONAL");
  const id = await addRecipe(project, {
    trigger: { triggerType: "EVENT", triggerConfig: { eventName: "signed-up" } },
    steps: [
      welcome("welcome"),
      ["three days", "DELAY", { amount: 3, unit: "days" }],
      ["customer?", "CONDITION", { field: "data.plan", operator: "equals", value: "paid" }],
      ["customer", "EXIT", { reason: "Customer" }],
      tips("tips"),
    ],
    links: [
      ["start", "welcome"],
      ["welcome", "three days"],
      ["three days", "customer?"],
      ["customer?", "customer", "yes"],
      ["customer?", "tips", "no"],
    ],
  });
  expect(await simulate(project, id, { data: { firstName: "Ada", plan: "free" } })).toMatchObject({
    end: "COMPLETED",
    endedAt: after(3),
    emails: [`${START} Welcome, Ada`, `${after(3)} Three tips`],
  });
  expect(await simulate(project, id, { data: { firstName: "Ada", plan: "paid" } })).toMatchObject({
    end: "Customer",
    endedAt: after(3),
    emails: [`${START} Welcome, Ada`],
  });
  for (let times = 0; times < 2; times++) await trackEvent(server, project, "grace@example.com", "signed-up");
  await vi.waitFor(async () => {
    const { body } = await server.call(executionsContract.listExecutions, project.byKey, { params: { id } });
    expect(body.executions).toMatchObject([{ status: "WAITING" }]);
    expect(await receivedSubjects(project)).toEqual(["grace@example.com Welcome, Grace"]);
  }, WAIT);
});

test("win-back: offers a discount to those who don't return within a week, and counts orders as its goal", async () => {
  const project = await server.createProject();
  const missed = await mail(project, "We miss you", "MARKETING");
  const offer = await mail(project, "10 % off", "MARKETING");
  const id = await addRecipe(project, {
    trigger: await onEntry(project, {
      field: "data.lastOrderAt",
      operator: "olderThan",
      value: 60,
      unit: "days",
    }),
    steps: [
      missed("missed"),
      ["returns?", "WAIT_FOR_EVENT", { eventName: "ordered", timeout: 7 * 86_400 }],
      ["returned", "EXIT", { reason: "Returned" }],
      offer("offer"),
    ],
    links: [
      ["start", "missed"],
      ["missed", "returns?"],
      ["returns?", "returned", "event"],
      ["returns?", "offer", "timeout"],
    ],
    goal: { eventName: "ordered", days: 14 },
  });
  expect(await simulate(project, id, { events: [{ name: "ordered", at: after(2) }] })).toMatchObject({
    end: "Returned",
    endedAt: after(2),
    goalReachedAt: after(2),
    emails: [`${START} We miss you`],
  });
  expect(await simulate(project, id, { events: [{ name: "ordered", at: after(7, 1) }] })).toMatchObject({
    end: "COMPLETED",
    endedAt: after(7),
    // The discount worked.
    goalReachedAt: after(7, 1),
    emails: [`${START} We miss you`, `${after(7)} 10 % off`],
  });
  const tooLate = await simulate(project, id, { events: [{ name: "ordered", at: after(15) }] });
  expect(tooLate).toMatchObject({ end: "COMPLETED", goalReachedAt: null });
  // Only contacts who became inactive enter, and only once.
  for (const [email, days] of [
    ["ada@example.com", 61],
    ["grace@example.com", 3],
  ] as const)
    await server.call(contacts.upsertContact, project.byKey, {
      body: {
        email,
        subscribed: true,
        data: { lastOrderAt: new Date(Date.now() - days * DAY_MS).toISOString() },
      },
    });
  await vi.waitFor(
    async () => expect(await receivedSubjects(project)).toEqual(["ada@example.com We miss you"]),
    WAIT,
  );
  await trackEvent(server, project, "ada@example.com", "ordered");
  await vi.waitFor(async () => {
    const { body } = await server.call(executionsContract.listExecutions, project.byKey, { params: { id } });
    expect(body.executions).toMatchObject([{ status: "EXITED", exitReason: "Returned" }]);
    expect(body.executions[0]?.goalReachedAt).not.toBeNull();
  }, WAIT);
});

test("re-permission: keeps those who confirm within two weeks, and unsubscribes all others", async () => {
  const project = await server.createProject();
  const question = await mail(project, "Do you still want our news?", "MARKETING");
  const id = await addRecipe(project, {
    trigger: await onEntry(project, { field: "data.consentIsOld", operator: "equals", value: true }),
    steps: [
      question("question"),
      ["confirms?", "WAIT_FOR_EVENT", { eventName: "news-confirmed", timeout: 14 * 86_400 }],
      ["confirmed", "UPDATE_CONTACT", { updates: { consentIsOld: null } }],
      ["silent", "UPDATE_CONTACT", { subscriptionAction: "unsubscribe" }],
    ],
    links: [
      ["start", "question"],
      ["question", "confirms?"],
      ["confirms?", "confirmed", "event"],
      ["confirms?", "silent", "timeout"],
    ],
  });
  const data = { consentIsOld: true };
  expect(await simulate(project, id, { data })).toMatchObject({
    end: "COMPLETED",
    endedAt: after(14),
    emails: [`${START} Do you still want our news?`],
    contact: { subscribed: false, consentIsOld: true },
  });
  const confirmed = await simulate(project, id, {
    data,
    events: [{ name: "news-confirmed", at: after(13) }],
  });
  expect(confirmed).toMatchObject({ end: "COMPLETED", endedAt: after(13) });
  expect(confirmed.contact).toEqual({ subscribed: true });
  // A contact who already left gets no question.
  for (const [email, subscribed] of [
    ["ada@example.com", true],
    ["left@example.com", false],
  ] as const)
    await server.call(contacts.upsertContact, project.byKey, { body: { email, subscribed, data } });
  await vi.waitFor(async () => {
    const { body } = await server.call(executionsContract.listExecutions, project.byKey, { params: { id } });
    expect(body.executions).toMatchObject([{ status: "WAITING" }, { status: "WAITING" }]);
    expect(await receivedSubjects(project)).toEqual(["ada@example.com Do you still want our news?"]);
  }, WAIT);
  await trackEvent(server, project, "ada@example.com", "news-confirmed");
  await vi.waitFor(async () => {
    const { body } = await server.call(contacts.searchContacts, project.byKey, {
      body: {
        filters: {
          operator: "AND",
          conditions: [{ field: "email", operator: "equals", value: "ada@example.com" }],
        },
      } as never,
    });
    expect(body.data).toMatchObject([{ subscribed: true, data: {} }]);
  }, WAIT);
});
