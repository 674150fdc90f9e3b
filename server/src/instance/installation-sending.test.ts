// Tests the installation page with a process that sends: its lease, its transports and their tests, and the queue of a campaign.
import { afterAll, expect, test, vi } from "vitest";
import * as contract from "@postloft/contract/installation.ts";
import { transaction } from "../platform/database/database.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { errorOf, useTestServer, type TestCaller } from "../testing/test-server.ts";
import { listProjectQueues } from "./waiting-queries.ts";

const sink = await startSmtpSink();
const port = sink.port;
const ADMIN = "person1@example.com";
const server = useTestServer({
  MAIL_TRANSPORT: `smtp://127.0.0.1:${port},smtp://user:hidden-password@127.0.0.1:1`,
  ADMIN_EMAILS: ADMIN,
});
afterAll(async () => sink.close());

const WAIT = { timeout: 30_000, interval: 50 };

async function admin(): Promise<TestCaller> {
  const { owner } = server.project;
  expect(owner.email).toBe(ADMIN);
  await server.prove(owner);
  return { cookie: owner.cookie };
}

async function installation() {
  return server.call(contract.getInstallation, await admin());
}

test("shows this process, and each transport with the outage that a live sender reports", async () => {
  const outage = "The transport smtp, entry 1 of 2, has been out of service since 2027-01-31T12:00:00.000Z";
  await server.rows(
    "insert into senders (id, lease_until, started_at, outages) values (new_id(), now() + interval '1 hour', now(), $1)",
    [outage],
  );
  const { body, text } = await installation();
  expect(body.processes?.map(({ isAlive }) => isAlive)).toEqual([true]);
  expect(body.transports?.map(({ label }) => label)).toEqual([`smtp 127.0.0.1:${port}`, "smtp 127.0.0.1:1"]);
  const [first, second] = body.transports ?? [];
  expect(first?.outage).toBe(outage);
  // The sender of this process may have found out that no one listens there.
  expect(second?.outage ?? "entry 2 of 2").toContain("entry 2 of 2");
  expect(text).not.toContain("hidden-password");
});

test("connects to each transport and reports the server's reply without a password", async () => {
  const reply = await server.call(contract.testTransports, await admin());
  expect(reply.body.transports).toMatchObject([
    { label: `smtp 127.0.0.1:${port}`, works: true, message: expect.stringContaining("reachable") },
    { label: "smtp 127.0.0.1:1", works: false, message: expect.stringContaining("ECONNREFUSED") },
  ]);
  expect(reply.text).not.toContain("hidden-password");
});

test("sends a test email to the admin's address only, and returns the server's reply", async () => {
  sink.clear();
  const { body } = await server.call(contract.sendInstallationTest, await admin());
  expect(body).toMatchObject({ status: "SENT", reply: expect.stringMatching(/^250/) });
  expect(sink.journal.map(({ recipients }) => recipients)).toEqual([[ADMIN]]);
});

test("limits tests of one account per hour", async () => {
  const caller = await admin();
  const last = await vi.waitFor(async () => {
    const reply = errorOf(await server.call(contract.testTransports, caller));
    expect(reply).toMatch(/^429/);
    return reply;
  }, WAIT);
  expect(last).toBe("429 RATE_LIMIT_EXCEEDED");
});

test("shows the recipients of a paused campaign with its name and reason", async () => {
  const { id } = await server.createProject();
  const content = "0198c0de-0000-7abc-8def-0123456789ab";
  const campaign = "0198c0de-0000-7abc-8def-0123456789ac";
  await server.rows(
    `insert into email_contents (project_id, id, from_address, subject, html) values ($1, $2, 'a@b.test', 's', 'b')`,
    id,
    content,
  );
  await server.rows(
    `insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
    values ($1, $2, 'Spring news', 's', 'b', 'a@b.test', 'ALL', 'PAUSED')`,
    id,
    campaign,
  );
  await server.rows(
    "insert into campaign_queues (project_id, campaign_id, state) values ($1, $2, 'PAUSED')",
    id,
    campaign,
  );
  const batch = (count: number) =>
    server.rows(
      `insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
      select $1, new_id(), $2, $3, array_agg(new_id()), array_agg(new_id()), array_agg('a' || n || '@b.test'), '{b.test}'
      from generate_series(1, $4::integer) n`,
      id,
      campaign,
      content,
      count,
    );
  await batch(40);
  await batch(3);
  const { body } = await installation();
  expect(body.queues?.filter(({ project }) => project?.id === id)).toMatchObject([
    {
      kind: "CAMPAIGN",
      campaign: { id: campaign, name: "Spring news" },
      waiting: 43,
      due: 43,
      oldestDueAt: expect.any(String),
      reason: "CAMPAIGN_PAUSED",
    },
  ]);
});

test("lists the queues of suspended projects and paused campaigns below newer ones", async () => {
  const [suspended, sending] = [await server.createProject(), await server.createProject()];
  await server.rows("update project_queues set is_open = false where project_id = $1", suspended.id);
  const queued = (project: string, minutes: number) =>
    server.rows(
      `with content as (
        insert into email_contents (project_id, id, from_address, subject, html) values ($1, new_id(), 'a@b.test', 's', 'h') returning id)
      insert into emails (project_id, id, content_id, to_address, status, priority, due_at)
      select $1, new_id(), id, 'a@b.test', 'QUEUED', 1, now() + make_interval(mins => $2) from content`,
      project,
      minutes,
    );
  await queued(suspended.id, 10);
  await queued(sending.id, 20);
  const { body } = await installation();
  const places = [suspended, sending].map(({ id }) =>
    body.queues?.findIndex(({ project }) => project?.id === id),
  );
  const paused = body.queues?.findIndex(({ reason }) => reason === "CAMPAIGN_PAUSED");
  expect(places[1]).toBeGreaterThanOrEqual(0);
  expect(places[0]).toBeGreaterThan(places[1] ?? -1);
  expect(paused).toBeGreaterThan(places[1] ?? -1);
  const [first] = await transaction(server.database, (tx) => listProjectQueues(tx, { limit: 1, counted: 1 }));
  expect(first).toMatchObject({ isOpen: true });
});
