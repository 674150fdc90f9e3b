// Metered usage against a local Stripe with its real HTTP API: each day of a project is reported once, and the invoice preview.
import { afterAll, beforeAll, expect, test } from "vitest";
import * as billingLimits from "@postloft/contract/limits/billing.ts";
import { readConfig } from "../platform/settings/config.ts";
import { transaction } from "../platform/database/database.ts";
import { createLog } from "../platform/log.ts";
import { holdEverything, releaseHeld } from "../instance/held.ts";
import { holdRow } from "../testing/hold-row.ts";
import { makeSentMails } from "../testing/sent-mails.ts";
import { startStripeFake, type StripeFake } from "../testing/stripe-fake.ts";
import { useTestServer, type OneServer, type TestProject } from "../testing/test-server.ts";
import { endCheckouts } from "./follow-subscriptions.ts";
import { fixUsage, reportUsage } from "./report-usage.ts";
import { faultsOfBilling } from "./settings.ts";
import { openBilling, type Billing } from "./stripe.ts";
import { beginMetering } from "./usage-queries.ts";

const KEY = "sk_test_of_the_test";
const SETTINGS = { STRIPE_SECRET_KEY: KEY, STRIPE_WEBHOOK_SECRET: "whsec_1", STRIPE_PRICE: "price_1" };
const METER = { STRIPE_METER_EVENT: "mails", STRIPE_USAGE_PRICE: "price_2" };
const DAY_MS = 86_400_000;
const log = createLog({ level: "silent" });
const server = useTestServer({ ROLES: "api" });
let fake: StripeFake;
let billed: OneServer;
let billing: Billing;

beforeAll(async () => {
  fake = await startStripeFake(KEY);
  const settings = { ...SETTINGS, ...METER, STRIPE_API_URL: fake.url };
  billed = await server.startAnother({ ROLES: "api", ...settings });
  const opened = await openBilling(readConfig(settings), log);
  if (opened === null) throw new Error("Billing is off.");
  billing = opened;
});
afterAll(async () => fake.close());

let subscriptions = 0;
/** A project with a running subscription, metered from two days ago. */
async function subscribed(): Promise<TestProject & { customer: string }> {
  const project = await server.createProject();
  const customer = `cus_${project.id}`;
  const id = `sub_${++subscriptions}`;
  fake.setSubscription(customer, "active", { id });
  await server.rows(
    `insert into billing_customers (project_id, customer_id, subscription_id, subscription_status)
     values ($1, $2, $3, 'active')`,
    project.id,
    customer,
    id,
  );
  return { ...project, customer };
}
/** Emails of yesterday, with metering since an earlier time. */
async function sentYesterday(project: TestProject, count: number): Promise<string> {
  await beginMetering(server.database, []);
  await makeSentMails(server.database, project.id, count);
  await server.rows(
    "update emails set sent_at = sent_at - interval '1 day' where project_id = $1",
    project.id,
  );
  await server.rows(
    "update billing_customers set metered_from = metered_from - interval '2 days' where project_id = $1",
    project.id,
  );
  return dayOf(mailsOfToday() - DAY_MS);
}
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
/** The sending time in `makeSentMails`. */
const mailsOfToday = () => Date.now() - 60_000;
/** Noon today, so that yesterday is settled and today is not, at any hour of the test run. */
const fix = () => fixUsage(server.database, new Date(Date.parse(dayOf(mailsOfToday())) + DAY_MS / 2));
const report = () => reportUsage({ database: server.database, billing, log });
const again = () => server.rows("update billing_usage set due_at = now()");
const told = (customer: string) =>
  fake.usage.filter((one) => one["payload[stripe_customer_id]"] === customer);
const usageOf = async ({ id }: TestProject) =>
  server.rows<{ value: number; isReported: boolean; inDoubt: boolean; error: string | null }>(
    "select value, reported_at is not null as is_reported, in_doubt, error from billing_usage where project_id = $1",
    id,
  );

test("reports a day once, under one identifier, with any number of processes", async () => {
  const project = await subscribed();
  const day = await sentYesterday(project, 7);
  await Promise.all([fix(), fix()]);
  while ((await fix()) > 0);
  await Promise.all([report(), report()]);
  await report();
  expect(told(project.customer)).toEqual([
    {
      event_name: "mails",
      identifier: `${project.id}-transactional-${day}`,
      timestamp: String(Date.parse(day) / 1_000 + 86_399),
      "payload[stripe_customer_id]": project.customer,
      "payload[value]": "7",
      "payload[category]": "transactional",
    },
  ]);
  expect(await usageOf(project)).toEqual([{ value: 7, isReported: true, inDoubt: false, error: null }]);
});

test("repeats a lost report without double counting, and retries a rejected one", async () => {
  const project = await subscribed();
  await sentYesterday(project, 3);
  while ((await fix()) > 0);
  fake.fail(401, 1);
  await report();
  expect(told(project.customer)).toEqual([]);
  expect(await usageOf(project)).toMatchObject([{ isReported: false, error: expect.any(String) }]);
  await again();
  // The SDK makes two attempts. The first one succeeded without a response.
  fake.loseAnswers(2);
  await report();
  expect(told(project.customer)).toHaveLength(1);
  expect(await usageOf(project)).toMatchObject([{ isReported: false, inDoubt: false }]);
  await again();
  await report();
  expect(told(project.customer)).toHaveLength(1);
  expect(await usageOf(project)).toMatchObject([{ isReported: true, error: null }]);
});

test.each([
  { tries: 0, waitSeconds: 120 },
  { tries: 2, waitSeconds: 480 },
  { tries: 20, waitSeconds: 3_600 },
])(
  "waits $waitSeconds s before it repeats a report that failed $tries times before",
  async ({ tries, waitSeconds }) => {
    const project = await subscribed();
    await sentYesterday(project, 1);
    while ((await fix()) > 0);
    await server.rows("update billing_usage set tries = $1 where project_id = $2", tries, project.id);
    fake.fail(401, 1);
    const times = async (what: string) =>
      (
        await server.rows<{ ms: number }>(
          `select extract(epoch from ${what})::float8 * 1000 as ms from billing_usage where project_id = $1`,
          project.id,
        )
      )[0]?.ms ?? 0;
    const beforeMs = await times("clock_timestamp()");
    await report();
    const dueMs = await times("due_at");
    expect(dueMs).toBeGreaterThanOrEqual(beforeMs + waitSeconds * 1000);
    expect(dueMs).toBeLessThanOrEqual((await times("clock_timestamp()")) + waitSeconds * 1000);
    await server.rows("delete from billing_usage where project_id = $1", project.id);
  },
);

test("puts a report in doubt when it is open for longer than Stripe keeps identifiers", async () => {
  const project = await subscribed();
  await sentYesterday(project, 2);
  while ((await fix()) > 0);
  fake.loseAnswers(2);
  await report();
  fake.forgetUsageNames();
  await server.rows("update billing_usage set due_at = now(), open_since = now() - interval '21 hours'");
  await report();
  expect(told(project.customer)).toHaveLength(1);
  expect(await usageOf(project)).toMatchObject([{ isReported: false, inDoubt: true }]);
});

test("reports and meters nothing after a database rollback until a person decides", async () => {
  const project = await subscribed();
  await sentYesterday(project, 2);
  while ((await fix()) > 0);
  await transaction(server.database, (tx) => holdEverything(tx, "It went back."));
  await again();
  await report();
  expect(told(project.customer)).toEqual([]);
  const from =
    "select metered_from = 'infinity' as is_held, metered_from <= now() as is_metered from billing_customers where project_id = $1";
  await beginMetering(server.database, []);
  expect([await fix(), ...(await server.rows(from, project.id))]).toEqual([
    0,
    { isHeld: true, isMetered: false },
  ]);
  await releaseHeld(server.database, { projectId: project.id, campaignId: null });
  await beginMetering(server.database, []);
  expect([await fix(), ...(await server.rows(from, project.id))]).toEqual([
    0,
    { isHeld: false, isMetered: true },
  ]);
});

test("keeps metering held when a subscription ends and restarts", async () => {
  const project = await subscribed();
  await sentYesterday(project, 2);
  await transaction(server.database, (tx) => holdEverything(tx, "It went back."));
  for (const [status, id] of [
    ["canceled", subscriptions],
    ["active", ++subscriptions],
  ] as const) {
    fake.setSubscription(project.customer, status, { id: `sub_${id}` });
    await endCheckouts(server.database, billing, project.id);
  }
  await beginMetering(server.database, []);
  const from = "select metered_from::text from billing_customers where project_id = $1";
  expect(await server.rows(from, project.id)).toEqual([{ meteredFrom: "infinity" }]);
  await releaseHeld(server.database, { projectId: project.id, campaignId: null });
  expect(await server.rows(from, project.id)).toEqual([{ meteredFrom: null }]);
});

test("does not report a day that is being fixed while metering is held", async () => {
  const project = await subscribed();
  await sentYesterday(project, 2);
  // The previous day, without any sent email.
  await fix();
  await holdRow(
    server.pool,
    ["select 1 from billing_customers where project_id = $1", project.id],
    () => [fix()],
    (client) =>
      client.query(
        "update billing_customers set metered_from = 'infinity', metered_to = null where project_id = $1",
        [project.id],
      ),
  );
  expect(await usageOf(project)).toEqual([]);
  await releaseHeld(server.database, { projectId: project.id, campaignId: null });
});

const consumption = async (one: OneServer, { id, owner: { cookie } }: TestProject) =>
  (await one.call(billingLimits.getConsumption, { cookie }, { params: { projectId: id } })).body;

test("returns usage with the invoice preview, or why there is none", async () => {
  const project = await subscribed();
  expect(await consumption(billed, project)).toMatchObject({
    billingState: "subscribed",
    upcomingInvoice: {
      amountDue: 2900,
      currency: "usd",
      periodStart: "2026-01-03T02:40:00.000Z",
      periodEnd: "2026-02-02T02:40:00.000Z",
      subtotal: 2900,
      total: 2900,
    },
  });
  const nothing = { upcomingInvoice: null, usage: { total: 0 } };
  fake.fail(500, 1);
  expect(await consumption(billed, project)).toMatchObject({ ...nothing, billingState: "unknown" });
  fake.setSubscription(project.customer, "canceled", { id: `sub_${subscriptions}` });
  expect(await consumption(billed, project)).toMatchObject({ ...nothing, billingState: "subscribed" });
  const other = await server.createProject();
  expect(await consumption(billed, other)).toMatchObject({ ...nothing, billingState: "no-subscription" });
  expect(await consumption(server, project)).toMatchObject({ ...nothing, billingState: "off" });
});

test("subscribes to the metered price too and requires its settings to be complete", async () => {
  const project = await server.createProject();
  const path = `/users/@me/projects/${project.id}/checkout`;
  expect((await billed.call("POST", path, { cookie: project.owner.cookie })).status).toBe(200);
  expect(fake.sent("POST /v1/checkout/sessions")).toMatchObject({
    "line_items[0][price]": "price_1",
    "line_items[1][price]": "price_2",
  });
  expect(fake.sent("POST /v1/checkout/sessions")).not.toHaveProperty("line_items[1][quantity]");
  expect(() => readConfig({ STRIPE_METER_EVENT: "mails" }, [faultsOfBilling])).toThrow(
    /STRIPE_SECRET_KEY: required[^]*STRIPE_USAGE_PRICE: required/,
  );
});
