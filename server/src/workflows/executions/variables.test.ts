// Variables in the texts of steps, through the whole service: recipes as their authors write them, and one precedence for all steps.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as executionsContract from "@postloft/contract/executions.ts";
import * as mailbox from "@postloft/contract/mailbox.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as questions from "@postloft/contract/workflows/questions.ts";
import * as workflowSteps from "@postloft/contract/workflows/steps.ts";
import * as workflows from "@postloft/contract/workflows/workflows.ts";
import type { ErrorEnvelope } from "../../platform/http/errors.ts";
import { useTestServer, type TestProject } from "../../testing/test-server.ts";
import { drawWorkflow, trackEvent, type Drawing } from "../../testing/workflow-fixture.ts";

const server = useTestServer({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1/32", WEBHOOK_ALLOW_PORTS: "1024-65535" });
const WAIT = { timeout: 30_000, interval: 20 };

interface Seen {
  url: string | undefined;
  plan: unknown;
  authorization: unknown;
  body: unknown;
}
const seen: Seen[] = [];
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += String(part)));
  request.on("end", () => {
    const { authorization, "x-plan": plan } = request.headers;
    seen.push({ url: request.url, plan, authorization, body: body === "" ? null : JSON.parse(body) });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ number: "R-1", total: 12.5 }));
  });
});
let hook = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => void receiver.close());

/** Draws steps one after the other; `links` replaces the branches. */
const draw = (project: TestProject, eventName: string, steps: Drawing["steps"], links?: Drawing["links"]) => {
  const names = ["trigger", ...steps.map(([name]) => name)];
  return drawWorkflow(server.database, project.id, {
    trigger: { type: "EVENT", config: { eventName }, event: eventName },
    allowReentry: true,
    steps: [["trigger", "TRIGGER"], ...steps],
    links: links ?? names.slice(1).map((name, at) => [names[at] ?? "", name]),
  });
};

async function template(
  { byKey }: TestProject,
  subject: string,
  type: "TRANSACTIONAL" | "MARKETING" = "TRANSACTIONAL",
) {
  const body = {
    name: subject.slice(0, 50),
    subject,
    body: "<p>Hello</p>",
    type,
    from: "hello@sandbox.localhost",
  };
  const made = await server.call(templates.createTemplate, byKey, { body });
  expect(made.status).toBe(201);
  return made.body.id;
}

/** Waits until the only execution of a workflow has a state. */
async function reach({ byKey }: TestProject, id: string, status: string) {
  const params = { id };
  const first = await vi.waitFor(async () => {
    const { body } = await server.call(executionsContract.listExecutions, byKey, { params });
    expect(body.executions).toMatchObject([{ status }]);
    return body.executions[0];
  }, WAIT);
  const executionId = first?.id ?? "";
  const read = await server.call(executionsContract.getExecution, byKey, { params: { id, executionId } });
  return read.body;
}

async function received({ byKey }: TestProject, count: number) {
  return vi.waitFor(async () => {
    const { body } = await server.call(mailbox.listMessages, byKey, {});
    expect(body.data).toHaveLength(count);
    return body.data.map(({ to, subject }) => `${to} ${subject}`).toSorted();
  }, WAIT);
}

test("recipe: waits for the payment of this cart, and passes over that of another one", async () => {
  const project = await server.createProject();
  const steps: Drawing["steps"] = [
    [
      "paid?",
      "WAIT_FOR_EVENT",
      {
        eventName: "paid",
        timeout: 3_600,
        filter: {
          operator: "AND",
          conditions: [
            { field: "data.cartId", operator: "equals", value: "{{event.cartId}}" },
            { field: "data.paidIn", operator: "equals", value: "{{currency}}" },
          ],
        },
      },
    ],
    ["paid", "EXIT", { reason: "Cart {{event.cartId}} paid with {{steps.[paid?].total}}" }],
    ["abandoned", "EXIT", { reason: "Cart {{event.cartId}} of {{email}} abandoned" }],
  ];
  const workflow = await draw(project, "cart filled", steps, [
    ["trigger", "paid?"],
    ["paid?", "paid", "event"],
    ["paid?", "abandoned", "timeout"],
  ]);
  const setCurrency = (currency: string) =>
    server.call(contacts.upsertContact, project.byKey, {
      body: { email: "ada@example.com", data: { currency } },
    });
  await setCurrency("EUR");
  await trackEvent(server, project, "ada@example.com", "cart filled", { cartId: 42 });
  const waiting = await reach(project, workflow.id, "WAITING");
  const conditions = [
    { field: "data.cartId", operator: "equals", value: 42 },
    { field: "data.paidIn", operator: "equals", value: "EUR" },
  ];
  expect(waiting.steps.at(-1)?.output).toEqual({ filter: { operator: "AND", conditions } });
  // A change of the contact doesn't change what the wait is for.
  await setCurrency("USD");
  for (const [cartId, total] of [
    [41, 10],
    [42, 20],
  ])
    await trackEvent(server, project, "ada@example.com", "paid", { cartId, total, paidIn: "EUR" });
  expect(await reach(project, workflow.id, "EXITED")).toMatchObject({ exitReason: "Cart 42 paid with 20" });
  const simulate = (events: object[]) =>
    server.call(questions.simulateWorkflow, project.byKey, {
      params: { id: workflow.id },
      body: {
        contact: { email: "bob@example.com", data: { currency: "EUR" } },
        context: { cartId: 42 },
        from: "2026-03-01T12:00:00Z",
        events: events.map((data) => ({
          name: "paid",
          at: "2026-03-01T12:30:00Z",
          data: { paidIn: "EUR", ...data },
        })),
      },
    });
  const others = await simulate([{ cartId: 41 }, { cartId: "42" }]);
  expect(others.body.exitReason).toBe("Cart 42 of bob@example.com abandoned");
  const own = await simulate([
    { cartId: 41, total: 1 },
    { cartId: 42, total: 2 },
  ]);
  expect(own.body.exitReason).toBe("Cart 42 paid with 2");
});

test("recipe: creates a receipt by webhook and sends its number by email", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, "ordered", [
    [
      "invoice",
      "WEBHOOK",
      {
        url: `${hook}/orders/{{event.orderId}}/invoices?email={{email}}`,
        headers: { "X-Plan": '{{plan ?? "free"}}', Authorization: "Bearer {{event.access}}" },
        body: {
          total: "{{event.total}}",
          text: 'Order {{event.orderId}} of {{name ?? "you"}}',
          items: "{{event.items}}",
          note: "{{event.note}}",
        },
      },
    ],
    [
      "remember",
      "UPDATE_CONTACT",
      {
        updates: {
          receipt: "{{steps.invoice.body.number}}",
          spent: "{{steps.invoice.body.total}}",
          kept: "{{event.note}}",
        },
      },
    ],
    [
      "send",
      "SEND_EMAIL",
      { templateId: await template(project, "Receipt {{receipt}} {{steps.invoice.body.total}}") },
    ],
  ]);
  const byKey = project.byKey;
  await server.call(contacts.upsertContact, byKey, {
    body: { email: "ada@example.com", data: { kept: "as it was" } },
  });
  const order = { orderId: "7/8", access: "t-1", total: 12.5, items: [{ sku: "a" }] };
  const contactId = await trackEvent(server, project, "ada@example.com", "ordered", order);
  await reach(project, workflow.id, "COMPLETED");
  expect(seen.filter(({ url }) => url?.startsWith("/orders"))).toEqual([
    {
      url: "/orders/7%2F8/invoices?email=ada%40example.com",
      plan: "free",
      authorization: "Bearer t-1",
      body: { total: 12.5, text: "Order 7/8 of you", items: [{ sku: "a" }] },
    },
  ]);
  const { body: contact } = await server.call(contacts.getContact, byKey, { params: { id: contactId } });
  expect(contact.data).toMatchObject({ receipt: "R-1", spent: 12.5, kept: "as it was" });
  expect(await received(project, 1)).toEqual(["ada@example.com Receipt R-1 12.5"]);
});

test("recipe: thanks the referrer of a waitlist, but never an address that a public key chose", async () => {
  const project = await server.createProject();
  const thanks = await template(project, "{{contact.email}} joined, {{email}}: {{contact.data.referrer}}");
  const workflow = await draw(
    project,
    "joined",
    [
      ["own?", "CONDITION", { field: "email", operator: "equals", value: "{{event.referrer}}" }],
      ["self", "EXIT", { reason: "own" }],
      [
        "thank",
        "SEND_EMAIL",
        { templateId: thanks, recipient: { type: "CUSTOM", customEmail: "{{event.referrer}}" } },
      ],
      ["done", "EXIT", { reason: "referred by {{event.referrer}}" }],
    ],
    [
      ["trigger", "own?"],
      ["own?", "self", "yes"],
      ["own?", "thank", "no"],
      ["thank", "done"],
    ],
  );
  const join = (email: string, referrer: unknown, key = project.secretKey) =>
    server.call("POST", "/v1/track", { key }, { email, event: "joined", data: { referrer } });
  await join("ada@example.com", "Grace@Example.com");
  await join("eve@example.com", "eve@example.com");
  await join("bob@example.com", "no address");
  await join("cy@example.com", "victim@example.com", project.publicKey);
  const outcomes = await vi.waitFor(async () => {
    const found = await server.rows<{ line: string }>(
      `select concat_ws(' ', c.email, x.status, x.exit_reason, x.trace -> -2 -> 'out' ->> 'code') as line
       from workflow_executions x join contacts c on c.id = x.contact_id
       where x.workflow_id = $1 and x.ended_at is not null order by c.email`,
      workflow.id,
    );
    expect(found).toHaveLength(4);
    return found.map(({ line }) => line);
  }, WAIT);
  expect(outcomes).toEqual([
    "ada@example.com EXITED referred by Grace@Example.com",
    "bob@example.com FAILED With its variables, the custom recipient is not an email address.",
    "cy@example.com EXITED referred by victim@example.com PUBLIC_KEY_RECIPIENT",
    "eve@example.com EXITED own",
  ]);
  expect(await received(project, 1)).toEqual([
    "grace@example.com ada@example.com joined, grace@example.com: Grace@Example.com",
  ]);
  await server.rows("delete from workflow_executions where workflow_id <> $1", workflow.id);
  const [{ id = "" } = {}] = await server.rows<{ id: string }>(
    "select id from contacts where project_id = $1 and email = 'ada@example.com'",
    project.id,
  );
  await server.call(contacts.deleteContact, project.byKey, { params: { id } });
  const kept = await server.rows(
    "select t::text as text from workflow_executions t where contact_id is null",
  );
  expect(JSON.stringify(kept)).not.toMatch(/grace/i);
});

test("shows email, condition, webhook and simulation the same values", async () => {
  const project = await server.createProject();
  const names =
    '{{name}}|{{plan}}|{{event.plan}}|{{data.plan}}|{{contact.data.plan}}|{{city}}|{{data.city}}|{{nick ?? "-"}}';
  const templateId = await template(project, names);
  const workflow = await draw(
    project,
    "upgraded",
    [
      ["before", "SEND_EMAIL", { templateId }],
      ["change", "UPDATE_CONTACT", { updates: { plan: "now {{event.plan}}" } }],
      ["same?", "CONDITION", { field: "data.plan", operator: "equals", value: "{{plan}}" }],
      ["tell", "WEBHOOK", { url: `${hook}/names`, body: names }],
      ["after", "SEND_EMAIL", { templateId }],
    ],
    [
      ["trigger", "change"],
      ["change", "same?"],
      ["same?", "tell", "yes"],
      ["tell", "after"],
    ],
  );
  const stored = { name: "Ada", plan: "free" };
  const event = { name: "", plan: "pro", city: { value: "Turin", persistent: false }, nick: null };
  // The contact's own data, then the event's: `plan` was changed by the step before, `city` is only in the event.
  const expected = "Ada|now pro|pro|now pro|now pro|Turin||-";
  const body = { email: "ada@example.com", data: stored };
  await server.call(contacts.upsertContact, project.byKey, { body });
  await trackEvent(server, project, "ada@example.com", "upgraded", event);
  const ended = await reach(project, workflow.id, "COMPLETED");
  expect(ended.steps.map(({ name }) => name)).toEqual(["trigger", "change", "same?", "tell", "after"]);
  expect(seen.find(({ url }) => url === "/names")?.body).toBe(expected);
  expect(await received(project, 1)).toEqual([`ada@example.com ${expected}`]);
  const simulated = await server.call(questions.simulateWorkflow, project.byKey, {
    params: { id: workflow.id },
    body: {
      contact: { email: "ada@example.com", data: stored },
      context: { name: "", plan: "pro", city: "Turin", nick: null },
    },
  });
  expect(simulated.body.emails.map(({ subject }) => subject)).toEqual([expected]);
  expect(simulated.body.steps.find(({ name }) => name === "same?")).toMatchObject({ branch: "yes" });
});

test("fails a step in words, in the simulation as well, if a value does not fit", async () => {
  const project = await server.createProject();
  const workflow = await draw(project, "broken", [
    ["tell", "WEBHOOK", { url: `${hook}/broken`, headers: { "Content-Type": "text/{{event.kind}}" } }],
  ]);
  const reason =
    "The header Content-Type can't be sent. Must not contain line breaks, control characters or characters beyond ISO 8859-1.";
  const simulated = await server.call(questions.simulateWorkflow, project.byKey, {
    params: { id: workflow.id },
    body: { contact: { email: "ada@example.com" }, context: { kind: "a\r\nX-Other: b" } },
  });
  expect(simulated.body).toMatchObject({ status: "FAILED", exitReason: reason });
  await trackEvent(server, project, "ada@example.com", "broken", { kind: "a\r\nX-Other: b" });
  expect(await reach(project, workflow.id, "FAILED")).toMatchObject({ exitReason: reason });
  expect(seen.some(({ url }) => url === "/broken")).toBe(false);
});

test("rejects faulty variables when a step is saved, and lists unknown ones as problems", async () => {
  const { byKey } = await server.createProject();
  const made = await server.call(workflows.createWorkflow, byKey, { body: { name: "Checked" } });
  const params = { id: made.body.id };
  const add = (type: string, config: object, name = "a step") =>
    server.call(workflowSteps.createStep, byKey, {
      params,
      anyBody: { type, config, name, autoConnect: true },
    });
  const host = "Scheme, host and port must not contain a variable. Use variables in the path or the query.";
  const rejected: Array<[string, object, string]> = [
    ["WEBHOOK", { url: "https://{{event.host}}/x" }, `config.url: ${host}`],
    ["WEBHOOK", { url: "https://hook.example{{event.host}}" }, `config.url: ${host}`],
    ["WEBHOOK", { url: "https://hook.example:{{event.port}}/x" }, `config.url: ${host}`],
    ["WEBHOOK", { url: "{{event.url}}" }, `config.url: ${host}`],
    ["WEBHOOK", { url: "https://127.0.0.2/{{id}}" }, "config.url: Must lead to the public internet"],
    [
      "WEBHOOK",
      { url: "https://hook.example/", body: { a: ["{{#if b}}"] } },
      "config.body.a.0: This block is never closed.",
    ],
    [
      "WEBHOOK",
      { url: "https://hook.example/", headers: { "X-A": "a\n{{b}}" } },
      "config.headers.X-A: Must not contain line breaks",
    ],
    ["UPDATE_CONTACT", { updates: { a: "{{b" } }, "config.updates.a: This mustache is never closed."],
    [
      "UPDATE_CONTACT",
      { updates: { a: "{{b}}".repeat(101) } },
      "config: The texts of a step may have at most 100 variables.",
    ],
    ["EXIT", { reason: "{{> other}}" }, "config.reason: Partials"],
    ["CONDITION", { field: "data.a", operator: "greaterThan", value: "{{x y}}" }, "config: Unknown helper"],
    [
      "CONDITION",
      { field: "event.a", operator: "triggered", value: "{{x}}" },
      "config.value: Must be a whole number.",
    ],
    [
      "SEND_EMAIL",
      { recipient: { type: "CUSTOM", customEmail: "nobody" } },
      "config.recipient.customEmail: ",
    ],
  ];
  const found = await Promise.all(rejected.map(([type, config]) => add(type, config)));
  const shown = found.map(({ status, body }, at) => {
    const { error } = body as Partial<ErrorEnvelope>;
    const [{ field, message } = { field: "", message: "" }] = error?.errors ?? [];
    const start = rejected[at]?.[2] ?? "";
    return `${status} ${`${field}: ${message}`.startsWith(start) ? start : `${field}: ${message}`}`;
  });
  expect(shown).toEqual(rejected.map(([, , start]) => `422 ${start}`));
  const added = await add("WEBHOOK", {
    url: "https://hook.example/{{id}}?a={{plan}}",
    body: "{{steps.ask.body}} {{event.any}}",
  });
  expect(added.status).toBe(201);
  const { body: workflow } = await server.call(workflows.getWorkflow, byKey, { params });
  const ofVariables = workflow.problems.filter(({ code }) => code === "UNKNOWN_VARIABLE");
  expect(ofVariables.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
    'warning: "a step" uses the variable "plan", for which no contact and no event has a value.',
    'warning: "a step" uses the variable "steps.ask", for which no contact and no event has a value.',
  ]);
});
