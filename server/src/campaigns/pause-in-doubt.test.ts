// Tests that a campaign without replies pauses before many of its emails are in doubt, stores the reason, and continues when a person
// resumes it.
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
import { CANARIES } from "../emails/doubt/doubt-brake.ts";
import { pauseDoubtfulCampaigns } from "./pause-in-doubt.ts";
import { DOUBT_LIMIT } from "./rules.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const CONNECTIONS = 20;
const sink = await startSmtpSink({ keepRaw: false });
const dns = await startDnsServer();
const server = useTestServer({ ROLES: "api" });
afterAll(async () => {
  await sink.close();
  await dns.close();
});

type Campaign = ResponseOf<typeof campaigns.getCampaign>;

const read = async (caller: TestCaller, id: string) =>
  (await server.call(campaigns.getCampaign, caller, { params: { id } })).body;
const act = async (caller: TestCaller, id: string, action: string, body: object = {}) =>
  (await server.call<Campaign>("POST", `/campaigns/${id}/${action}`, caller, body)).body;
const untilStatus = (caller: TestCaller, id: string, status: string) =>
  vi.waitUntil(async () => {
    const campaign = await read(caller, id);
    return campaign.status === status && campaign;
  }, WAIT);

async function addContacts(projectId: string, count: number): Promise<void> {
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'person' || n || '@domain' || n || '.example', true from generate_series(1, $2::integer) n`,
    projectId,
    count,
  );
}

async function draft(caller: TestCaller, from: string): Promise<string> {
  const text = { name: "News", subject: "News", body: "<p>Hello</p>", from, audienceType: "ALL" };
  return (await server.call(campaigns.createCampaign, caller, { anyBody: text })).body.data.id;
}

test("pauses within a few unanswered emails, notifies members, ends when resumed and resolved", async () => {
  const people = 60;
  const settings = { MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}?connections=${CONNECTIONS}` };
  const another = await server.startAnother({ ...settings, DNS_SERVERS: dns.address, ROLES: "api,worker" });
  const project = await server.createProject();
  const { byKey } = project;
  await proveDomain(another, dns, byKey, "mail.example.com");
  await addContacts(project.id, people);
  // Each has a separate domain, so that no destination limit slows it down. The server accepts the message and closes.
  sink.setRules([{ phase: "DOT", recipient: /@domain/, accept: true, action: "drop" }]);
  const id = await draft(byKey, "news@mail.example.com");
  await act(byKey, id, "send");
  const paused = await untilStatus(byKey, id, "PAUSED");
  expect(paused.heldReason).toContain(`${CANARIES} emails in a row got no response`);
  const taken = () => sink.journal.filter(({ recipients }) => recipients[0]?.includes("@domain")).length;
  const settled = await vi.waitUntil(async () => {
    const campaign = await read(byKey, id);
    // The last claimed email is pending until it is recorded.
    const isRecorded = campaign.unconfirmedCount === taken();
    return isRecorded && campaign.unconfirmedCount + campaign.pendingCount === people && campaign;
  }, WAIT);
  expect(settled.unconfirmedCount).toBeLessThanOrEqual(CONNECTIONS + CANARIES);
  const mails = await readPlatformEmails(server.pool, { subject: /News/ });
  expect(mails.map(({ to }) => to)).toEqual([project.owner.email]);

  sink.setRules([]);
  expect(await act(byKey, id, "resolve", { as: "sent" })).toMatchObject({
    status: "PAUSED",
    resolvedCount: settled.unconfirmedCount,
  });
  await act(byKey, id, "resume");
  expect(await untilStatus(byKey, id, "SENT")).toMatchObject({ sentCount: people, unconfirmedCount: 0 });
  const recipients = sink.journal.map((mail) => mail.recipients[0]).filter((to) => to?.includes("@domain"));
  expect(new Set(recipients).size).toBe(people);
  expect(recipients).toHaveLength(people);
});

/** A campaign that started sending an hour ago, with results of its next emails. */
async function sending(people: number) {
  const project = await server.createProject();
  await addContacts(project.id, people);
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
  return {
    sent: (count: number) =>
      server.rows(
        `with mail as (select * from emails where campaign_id = $1 and status = 'QUEUED' limit $2::integer)
         update emails e set status = 'SENT', sent_at = now() from mail
         where e.project_id = mail.project_id and e.id = mail.id`,
        id,
        count,
      ),
    inDoubt: (count: number, transport: string | null) =>
      server.rows(
        `with mail as (
           select * from emails where campaign_id = $1 and status = 'QUEUED' limit $2::integer
         ), ended as (
           update emails e set status = 'UNCONFIRMED' from mail where e.project_id = mail.project_id and e.id = mail.id
         )
         insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
         select project_id, id, 1, 'uncertain', 'no reply', $3 from mail`,
        id,
        count,
        transport,
      ),
    async status() {
      const log = createLog({ level: "silent" });
      const { database } = server;
      await pauseDoubtfulCampaigns({ database, baseUrl: () => "", log, metrics: createMetrics() });
      return (await read(project.byKey, id)).status;
    },
    resume: () => act(project.byKey, id, "resume"),
  };
}

test("pauses when more than a fifth of the last emails are in doubt, since the last resume", async () => {
  const { uncertain, last } = DOUBT_LIMIT;
  const few = await sending(200);
  await few.inDoubt(uncertain - 1, "smtp");
  expect(await few.status()).toBe("SENDING");
  await few.inDoubt(1, "smtp");
  expect(await few.status()).toBe("PAUSED");
  await few.resume();
  expect(await few.status()).toBe("SENDING");

  const fifth = await sending(200);
  await fifth.inDoubt(uncertain, "smtp");
  await fifth.sent(last - uncertain + 1);
  expect(await fifth.status()).toBe("SENDING");
});

test("emails left in doubt by a dead sender do not pause it", async () => {
  const campaign = await sending(100);
  await campaign.inDoubt(60, null);
  expect(await campaign.status()).toBe("SENDING");
});
