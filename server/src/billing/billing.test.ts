// Billing against a local Stripe with its real HTTP API: one customer per project, one checkout at a time, and events in any order.
import { randomUUID } from "node:crypto";
import { Stripe } from "stripe";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as instance from "@postloft/contract/instance.ts";
import * as removalContract from "@postloft/contract/project-removal.ts";
import * as projects from "@postloft/contract/projects.ts";
import { readConfig } from "../platform/settings/config.ts";
import type { ErrorEnvelope } from "../platform/http/errors.ts";
import { startStripeFake, type StripeFake } from "../testing/stripe-fake.ts";
import { errorOf, useTestServer, type OneServer, type TestProject } from "../testing/test-server.ts";
import { choose } from "./rules.ts";

const SECRET = "whsec_of_the_test";
const KEY = "sk_test_of_the_test";
const HOOK = "/webhooks/incoming/stripe";
const WAIT = { timeout: 30_000, interval: 20 };
const off = useTestServer();
let fake: StripeFake;
let server: OneServer;

beforeAll(async () => {
  fake = await startStripeFake(KEY);
  const settings = { STRIPE_SECRET_KEY: KEY, STRIPE_WEBHOOK_SECRET: SECRET, STRIPE_PRICE: "price_1" };
  server = await off.startAnother({ ...settings, STRIPE_API_URL: fake.url });
});
afterAll(async () => fake.close());

const own = ({ id }: TestProject, rest: string) => `/users/@me/projects/${id}/${rest}`;
const session = ({ owner: { cookie } }: TestProject) => ({ cookie });
const checkout = (project: TestProject, query = "") =>
  server.call<ErrorEnvelope & { url: string }>("POST", own(project, `checkout${query}`), session(project));
const customerOf = async ({ id }: TestProject) =>
  (
    await off.rows<{ customerId: string }>(
      "select customer_id from billing_customers where project_id = $1",
      id,
    )
  )[0]?.customerId ?? "";
const isPaidFor = async (project: TestProject) => {
  const { body } = await server.call(projects.getSetupState, session(project), {
    params: { projectId: project.id },
  });
  return body.data.hasSubscription;
};

interface Reported {
  id?: string;
  type?: string;
  customer?: string;
  created?: number;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);
const { webhooks } = new Stripe(KEY);

function event({
  id = `evt_${randomUUID()}`,
  type = "customer.subscription.updated",
  customer = "cus_x",
  created,
}: Reported) {
  const object = { id: "sub_1", object: "subscription", customer, status: "whatever it was then" };
  return JSON.stringify(
    {
      id,
      object: "event",
      api_version: "2026-10-28",
      created: created ?? nowSeconds(),
      type,
      data: { object },
    },
    null,
    2,
  );
}

const sign = (payload: string, { secret = SECRET, timestamp = nowSeconds() } = {}) =>
  webhooks.generateTestHeaderString({ payload, secret, timestamp });

/** Sends the exact bytes, because the signature covers them. */
async function post(payload: string, signature: string | null): Promise<number> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(server.url + HOOK, {
    method: "POST",
    headers: signature === null ? headers : { ...headers, "stripe-signature": signature },
    body: payload,
  });
  return status;
}

const notify = async (reported: Reported) => {
  const payload = event(reported);
  return post(payload, sign(payload));
};
const undone = async () =>
  (await off.rows<{ n: number }>("select count(*)::int as n from stripe_events where done_at is null"))[0]?.n;

const remove = (project: TestProject, confirm = "A project") =>
  server.call(removalContract.deleteProject, session(project), {
    params: { projectId: project.id },
    body: { confirm },
  });

test("rejects deleting a project with a paid checkout and expires an open one", async () => {
  const [paid, open] = [await off.createProject(), await off.createProject()];
  for (const project of [paid, open]) expect((await checkout(project)).status).toBe(200);
  const customer = await customerOf(paid);
  fake.setSubscription(customer, "active");
  expect(errorOf(await remove(paid))).toBe("409 CONFLICT");
  expect(await isPaidFor(paid)).toBe(true);
  // A rejected confirmation name deletes nothing and expires nothing.
  expect(errorOf(await remove(open, "Another"))).toBe("422 VALIDATION_ERROR");
  expect(fake.openCheckouts(await customerOf(open))).toHaveLength(1);
  fake.fail(500, 2);
  expect(errorOf(await remove(open))).toBe("503 SERVICE_UNAVAILABLE");
  expect((await remove(open)).status).toBe(202);
  expect(fake.openCheckouts(await customerOf(open))).toEqual([]);
});

test("opens no checkout, or rejects the deletion, when both happen at the same time", async () => {
  const [first, second, third] = [
    await off.createProject(),
    await off.createProject(),
    await off.createProject(),
  ];
  // Deleted during the checkout. Stripe does not know the second project yet.
  await checkout(first);
  fake.setSubscription(await customerOf(first), "canceled");
  for (const [project, request] of [
    [first, "GET /v1/checkout/sessions"],
    [second, "POST /v1/customers"],
  ] as const) {
    const pause = fake.hold(request);
    const asked = checkout(project);
    await pause.arrived;
    expect((await remove(project)).status).toBe(202);
    pause.goOn();
    expect(errorOf(await asked)).toBe("403 PROJECT_DISABLED");
  }
  // Opened after the deletion has expired the open ones.
  await checkout(third);
  const pause = fake.hold("GET /v1/subscriptions");
  const removal = remove(third);
  await pause.arrived;
  expect((await checkout(third)).status).toBe(200);
  pause.goOn();
  expect(errorOf(await removal)).toBe("409 CONFLICT");
  expect(fake.openCheckouts(await customerOf(third))).toHaveLength(1);
  expect((await remove(third)).status).toBe(202);
  expect(fake.openCheckouts(await customerOf(third))).toEqual([]);
});

test("creates one customer and one checkout per project, however often it is requested", async () => {
  const project = await off.createProject();
  const replies = await Promise.all([checkout(project), checkout(project)]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  const before = fake.customers.length;
  const { body } = await checkout(project);
  expect(body.url).toMatch(/^https:\/\/checkout\.stripe\.com\//);
  expect((await checkout(project)).body).toEqual(body);
  expect(fake.customers).toHaveLength(before);
  expect(fake.sent("POST /v1/checkout/sessions")).toMatchObject({
    mode: "subscription",
    customer: await customerOf(project),
    client_reference_id: project.id,
    "line_items[0][price]": "price_1",
  });
  const other = await checkout(project, "?currency=eur");
  expect(other.body.url).not.toBe(body.url);
  expect(errorOf(await checkout(project, "?currency=xyz"))).toBe("422 VALIDATION_ERROR");
});

test("reaches the state at Stripe from repeated, concurrent or unordered events", async () => {
  const project = await off.createProject();
  await checkout(project);
  const customer = await customerOf(project);
  fake.setSubscription(customer, "active");
  const id = `evt_${randomUUID()}`;
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => notify({ id, customer })));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await off.rows("select 1 from stripe_events where id = $1", id)).toHaveLength(1);
  await expect.poll(() => isPaidFor(project), WAIT).toBe(true);
  expect(errorOf(await checkout(project))).toBe("409 CONFLICT");
  expect(errorOf(await remove(project))).toBe("409 CONFLICT");
  fake.setSubscription(customer, "canceled");
  // The end is reported first, and the start three days later.
  await notify({ customer, type: "customer.subscription.deleted" });
  await notify({ customer, type: "customer.subscription.created", created: nowSeconds() - 259_200 });
  await expect.poll(undone, WAIT).toBe(0);
  expect(await isPaidFor(project)).toBe(false);
  const log = await off.rows<{ details: unknown }>(
    "select details from audit_log where project_id = $1 and action = 'billing.subscriptionChanged' order by number",
    project.id,
  );
  expect(log.map(({ details }) => details)).toEqual([
    { status: { from: null, to: "active" } },
    { status: { from: "active", to: "canceled" } },
  ]);
});

test("rejects an event that is unsigned, modified, late, early or signed with another key", async () => {
  // A previous test deletes a project in the background.
  await expect
    .poll(() => off.rows("select 1 from jobs where state in ('waiting', 'active')"), WAIT)
    .toEqual([]);
  const before = await off.countRows();
  const payload = event({});
  const timestamp = nowSeconds();
  const good = sign(payload, { timestamp });
  const bad: Array<[string, string | null]> = [
    [payload, null],
    [payload, ""],
    [payload, "garbage"],
    [payload, good.replace("v1=", "v0=")],
    [payload, sign(payload, { secret: "whsec_of_another" })],
    [payload, sign(payload, { timestamp: nowSeconds() - 310 })],
    [payload, sign(payload, { timestamp: nowSeconds() + 310 })],
    [JSON.stringify(JSON.parse(payload)), good],
  ];
  for (const [body, signature] of bad) expect(await post(body, signature)).toBe(400);
  expect(await off.countRows()).toEqual(before);
  expect(
    await post(payload, `${sign(payload, { secret: "whsec_old", timestamp })},${good.split(",")[1]}`),
  ).toBe(200);
});

test("accepts an event about an unknown customer or of an irrelevant type without any change", async () => {
  expect(await notify({ customer: "cus_unknown" })).toBe(200);
  expect(await notify({ type: "radar.early_fraud_warning.created" })).toBe(200);
  await expect.poll(undone, WAIT).toBe(0);
});

test("keeps events and reports an error while Stripe does not respond", async () => {
  const project = await off.createProject();
  await checkout(project);
  const customer = await customerOf(project);
  fake.setSubscription(customer, "active");
  for (const status of [500, 0]) {
    // The SDK makes two attempts.
    fake.fail(status, 2);
    const reply = await server.call("GET", own(project, "billing-invoices"), session(project));
    expect([errorOf(reply), reply.headers.get("retry-after")]).toEqual(["503 SERVICE_UNAVAILABLE", "20"]);
  }
  fake.fail(500, 2);
  await notify({ customer });
  const failed = async () =>
    (await off.rows("select 1 from stripe_events where failures = 1 and done_at is null")).length;
  await expect.poll(failed, WAIT).toBe(1);
  await off.rows("update stripe_events set due_at = now() where done_at is null");
  await off.hint("billing");
  await expect.poll(() => isPaidFor(project), WAIT).toBe(true);
});

test("returns invoices and portal from Stripe, and none before the first checkout", async () => {
  const project = await off.createProject();
  const invoices = () =>
    server.call<{ invoices: unknown[]; unpaidInvoices: unknown[] }>(
      "GET",
      own(project, "billing-invoices"),
      session(project),
    );
  const portal = () =>
    server.call<ErrorEnvelope & { url: string }>("POST", own(project, "billing-portal"), session(project));
  expect((await invoices()).body).toEqual({ invoices: [], hasUnpaidInvoices: false, unpaidInvoices: [] });
  expect(errorOf(await portal())).toBe("409 CONFLICT");
  await checkout(project);
  for (const status of ["paid", "open"]) fake.addInvoice(await customerOf(project), status);
  const { body } = await invoices();
  const open = {
    status: "open",
    paid: false,
    amountDue: 2900,
    amountPaid: 0,
    created: "2026-02-02T02:40:00.000Z",
  };
  expect(body).toMatchObject({
    invoices: [open, { status: "paid", paid: true }],
    hasUnpaidInvoices: true,
    unpaidInvoices: [open],
  });
  await off.rows("update projects set disabled = true where id = $1", project.id);
  expect((await portal()).body.url).toMatch(/^https:\/\/billing\.stripe\.com\//);
  expect(errorOf(await checkout(project))).toBe("403 PROJECT_DISABLED");
});

const features = async (one: OneServer) => (await one.call(instance.getConfig)).body.features.billing;

test("turns billing off without its settings, and names the missing ones at the start", async () => {
  const { project } = off;
  for (const [method, rest] of [
    ["POST", "checkout"],
    ["POST", "billing-portal"],
    ["GET", "billing-invoices"],
  ] as const)
    expect(errorOf(await off.call(method, own(project, rest), session(project)))).toBe(
      "404 RESOURCE_NOT_FOUND",
    );
  expect(errorOf(await off.call("POST", HOOK, {}, JSON.parse(event({}))))).toBe("404 RESOURCE_NOT_FOUND");
  expect([await features(off), await features(server)]).toEqual([false, true]);
  const { faultsOfBilling } = await import("./settings.ts");
  expect(() => readConfig({ STRIPE_PRICE: "price_1" }, [faultsOfBilling])).toThrow(
    /STRIPE_SECRET_KEY: required[^]*STRIPE_WEBHOOK_SECRET: required/,
  );
});

test("prefers the running subscription, or else the newest", () => {
  const [old, running, newest] = [
    { id: "a", status: "canceled", created: 1 },
    { id: "b", status: "past_due", created: 2 },
    { id: "c", status: "incomplete_expired", created: 3 },
  ] as const;
  expect(choose([old, newest, running])?.id).toBe("b");
  expect(choose([old, newest])?.id).toBe("c");
  expect(choose([])).toBeNull();
});
