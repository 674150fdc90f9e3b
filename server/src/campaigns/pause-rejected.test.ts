// Tests that a campaign rejected because of the sender pauses automatically, stores the reason, and continues when a person resumes it.
import { afterAll, expect, test, vi } from "vitest";
import * as campaigns from "@postloft/contract/campaigns.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { useTestServer, type TestCaller } from "../testing/test-server.ts";
import type { ResponseOf } from "../testing/typed-call.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";
import { REJECTION_LIMIT } from "./rules.ts";
import { pauseRefusedCampaigns } from "./settle-campaigns.ts";

const PEOPLE = 300;
const WAIT = { timeout: 30_000, interval: 50 };

const dns = await startDnsServer();
const sink = await startSmtpSink({ keepRaw: false });
const server = useTestServer({ ROLES: "api" });
afterAll(async () => {
  await sink.close();
  await dns.close();
});

type Campaign = ResponseOf<typeof campaigns.getCampaign>;

async function draft(caller: TestCaller, from: string): Promise<string> {
  const text = { name: "News & more", subject: "News", body: "<p>Hello</p>", from, audienceType: "ALL" };
  return (await server.call(campaigns.createCampaign, caller, { anyBody: text })).body.data.id;
}

const read = async (caller: TestCaller, id: string) =>
  (await server.call(campaigns.getCampaign, caller, { params: { id } })).body;
const act = (caller: TestCaller, id: string, action: string) =>
  server.call<Campaign>("POST", `/campaigns/${id}/${action}`, caller, {});

async function addContacts(projectId: string, count: number): Promise<void> {
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'person' || n || '@example.net', true from generate_series(1, $2::integer) n`,
    projectId,
    count,
  );
}

/** A campaign that started sending an hour ago to all of the project's contacts, with results of its next emails. */
async function sending() {
  const project = await server.createProject();
  await addContacts(project.id, PEOPLE);
  const id = await draft(project.byKey, "news@sandbox.localhost");
  await server.rows(
    "update campaigns set status = 'SENDING', sending_since = now() - interval '1 hour' where id = $1",
    id,
  );
  await server.rows(
    `with content as (
       insert into email_contents (project_id, id, from_address, subject, html)
       values ($1, new_id(), 'news@sandbox.localhost', 'News', '<p>Hello</p>') returning id)
     insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address)
     select $1, new_id(), c.id, content.id, $2, 3, c.email from contacts c, content where c.project_id = $1`,
    project.id,
    id,
  );
  const results = {
    sent: (count: number) =>
      server.rows(
        `with mail as (select * from emails where campaign_id = $1 and status = 'QUEUED' limit $2::integer)
         update emails e set status = 'SENT', sent_at = now() from mail
         where e.project_id = mail.project_id and e.id = mail.id`,
        id,
        count,
      ),
    refused: (count: number, category: string) =>
      server.rows(
        `with mail as (
           select * from emails where campaign_id = $1 and status = 'QUEUED' limit $2::integer
         ), ended as (
           update emails e set status = 'FAILED' from mail where e.project_id = mail.project_id and e.id = mail.id
         )
         insert into email_attempts (project_id, email_id, attempt, outcome, answer, meaning)
         select project_id, id, 1, 'rejected', '554 5.7.1 no', $3 from mail`,
        id,
        count,
        category,
      ),
  };
  const status = async () => {
    await pauseRefusedCampaigns({
      database: server.database,
      baseUrl: () => "",
      log: createLog({ level: "silent" }),
      metrics: createMetrics(),
    });
    return (await read(project.byKey, id)).status;
  };
  return { id, project, ...results, status };
}

test("pauses when more than a fifth of the last two hundred emails are rejected", async () => {
  const few = await sending();
  await few.refused(40, "policy");
  await few.refused(100, "hard-bounce");
  expect(await few.status()).toBe("SENDING");
  await few.refused(1, "policy");
  expect(await few.status()).toBe("PAUSED");

  const fifth = await sending();
  await fifth.refused(41, "policy");
  await fifth.sent(120);
  await fifth.refused(40, "soft-bounce");
  expect(await fifth.status()).toBe("SENDING");

  const more = await sending();
  await more.sent(90);
  await more.refused(41, "policy");
  await more.sent(159);
  expect(await more.status()).toBe("PAUSED");
});

test("ignores rejections before the last resume and rejections of other emails", async () => {
  const campaign = await sending();
  await campaign.refused(41, "policy");
  expect(await campaign.status()).toBe("PAUSED");
  await act(campaign.project.byKey, campaign.id, "resume");
  expect(await campaign.status()).toBe("SENDING");
  await campaign.refused(40, "policy");
  expect(await campaign.status()).toBe("SENDING");
  await server.rows(
    `with mail as (
       insert into emails (project_id, id, content_id, priority, status, to_address)
       select project_id, new_id(), content_id, 1, 'FAILED', to_address from emails where campaign_id = $1 limit 60
       returning project_id, id)
     insert into email_attempts (project_id, email_id, attempt, outcome, answer, meaning)
     select project_id, id, 1, 'rejected', '554 5.7.1 no', 'policy' from mail`,
    campaign.id,
  );
  expect(await campaign.status()).toBe("SENDING");
  await campaign.refused(1, "policy");
  expect(await campaign.status()).toBe("PAUSED");
});

// Runs last, because its worker would settle the campaigns of other tests.
test("pauses with the reply as reason, notifies the members, and continues when resumed", async () => {
  const settings = { MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`, DNS_SERVERS: dns.address };
  const another = await server.startAnother({ ...settings, ROLES: "api,worker" });
  const project = await server.createProject();
  const { byKey } = project;
  await proveDomain(another, dns, byKey, "mail.example.com");
  await addContacts(project.id, PEOPLE);
  sink.setRules([
    { phase: "RCPT", recipient: /@example\.net/, action: { reply: "550 5.7.1 <script> Not from you" } },
  ]);
  const id = await draft(byKey, "news@mail.example.com");
  expect((await act(byKey, id, "send")).status).toBe(200);
  const paused = await vi.waitUntil(async () => {
    const campaign = await read(byKey, id);
    return campaign.status === "PAUSED" && campaign;
  }, WAIT);
  expect(paused.heldReason).toContain("550 5.7.1 <script> Not from you");
  const held = await server.rows<{ failed: number; subscribed: number }>(
    `select (select count(*)::integer from emails where campaign_id = $1 and status = 'FAILED') as failed,
       (select count(*)::integer from contacts where project_id = $2 and subscribed) as subscribed`,
    id,
    project.id,
  );
  expect(held[0]?.failed).toBeGreaterThanOrEqual(REJECTION_LIMIT.refused);
  expect(held[0]?.subscribed).toBe(PEOPLE);
  expect(await readPlatformEmails(server.pool, { to: project.owner.email })).toHaveLength(1);

  sink.setRules([]);
  expect((await act(byKey, id, "resume")).body).toMatchObject({ status: "SENDING", heldReason: null });
  const ended = () =>
    vi.waitUntil(async () => {
      const campaign = await read(byKey, id);
      return campaign.status === "SENT" && campaign;
    }, WAIT);
  const first = await ended();
  expect(first.sentCount + first.failedCount).toBe(PEOPLE);
  await act(byKey, id, "retry-failed");
  expect(await ended()).toMatchObject({ sentCount: PEOPLE, failedCount: 0, pendingCount: 0 });
});
