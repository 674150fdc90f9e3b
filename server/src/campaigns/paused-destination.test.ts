// Tests that a campaign rejected by one destination pauses only for that destination, retries automatically, and loses no recipient.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as campaignActions from "@postloft/contract/campaign-actions.ts";
import * as campaigns from "@postloft/contract/campaigns.ts";
import * as emails from "@postloft/contract/emails.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../testing/typed-call.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";

const ELSEWHERE = 60;
const AT_GMAIL = 100;
const PEOPLE = ELSEWHERE + AT_GMAIL;
const WAIT = { timeout: 30_000, interval: 50 };
const REFUSED = "550 5.7.1 <script> Not from you";

const dns = await startDnsServer();
const sink = await startSmtpSink({ keepRaw: false });
const server = useTestServer({ ROLES: "api" });
const settings = { MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`, DNS_SERVERS: dns.address };
let worker: Awaited<ReturnType<typeof server.startAnother>>;
beforeAll(async () => {
  worker = await server.startAnother({ ...settings, ROLES: "api,worker" });
});
afterAll(async () => {
  await sink.close();
  await dns.close();
});

type Campaign = ResponseOf<typeof campaigns.getCampaign>;

const refuseGmail = () =>
  sink.setRules([
    { phase: "RCPT", recipient: /^person.*@(gmail|googlemail)\.com/, action: { reply: REFUSED } },
  ]);

/** Returns the campaign after checking that its counts add up. */
async function read({ byKey }: TestProject, id: string): Promise<Campaign> {
  const { body } = await server.call(campaigns.getCampaign, byKey, { params: { id } });
  const { sentCount, failedCount, skippedCount, unconfirmedCount, pendingCount } = body;
  expect(sentCount + failedCount + skippedCount + unconfirmedCount + pendingCount).toBe(body.totalRecipients);
  return body;
}

async function until(project: TestProject, id: string, isReached: (campaign: Campaign) => boolean) {
  return vi.waitUntil(async () => {
    const campaign = await read(project, id);
    return isReached(campaign) && campaign;
  }, WAIT);
}

const act = (project: TestProject, id: string, action: string, body: object = {}) =>
  server.call<Campaign>("POST", `/campaigns/${id}/${action}`, project.byKey, body);

/** A campaign to several domains that Gmail rejects, in the resulting state. */
async function refusedByGmail() {
  const project = await server.createProject();
  const { byKey } = project;
  const domain = `mail-${project.id}.example.com`;
  await proveDomain(worker, dns, byKey, domain);
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'person' || n || '@' ||
       case when n > $2::integer then 'example.net' when n % 2 = 0 then 'gmail.com' else 'googlemail.com' end, true
     from generate_series(1, $3::integer) n order by md5(n::text)`,
    project.id,
    AT_GMAIL,
    PEOPLE,
  );
  refuseGmail();
  const text = { name: "News & more", subject: "News", body: "<p>Hello</p>", audienceType: "ALL" };
  const from = `news@${domain}`;
  const { id } = (await server.call<{ data: Campaign }>("POST", "/campaigns", byKey, { ...text, from })).body
    .data;
  expect((await act(project, id, "send")).status).toBe(200);
  const paused = await until(
    project,
    id,
    ({ pausedDestinations, sentCount }) => pausedDestinations.length > 0 && sentCount === ELSEWHERE,
  );
  // Emails claimed before the detection have been deferred.
  await vi.waitUntil(
    async () =>
      (await server.rows("select 1 from recipient_batches where campaign_id = $1", id)).length === 0,
    WAIT,
  );
  return { project, id, paused, from };
}

const tryNow = (id: string) =>
  server.rows("update paused_destinations set try_at = now() where campaign_id = $1", id);
const triesOf = async (id: string) =>
  server.rows<{ failedTries: number; hours: number; trials: number }>(
    `select failed_tries, round(extract(epoch from try_at - now()) / 3600)::integer as hours, cardinality(trial_ids) as trials
     from paused_destinations where campaign_id = $1`,
    id,
  );

test("defers emails that Gmail rejects, sends all others, and retries a few until accepted", async () => {
  const { project, id, paused, from } = await refusedByGmail();
  expect(paused).toMatchObject({ status: "SENDING", heldReason: null });
  expect(paused.pausedDestinations).toEqual([
    expect.objectContaining({
      destination: "gmail",
      domains: ["gmail.com", "googlemail.com"],
      answer: expect.stringContaining(REFUSED),
      whatToDo: expect.stringContaining(`/campaigns/${id}/release`),
    }),
  ]);
  const first = await until(
    project,
    id,
    ({ failedCount, pendingCount }) => failedCount + pendingCount === AT_GMAIL,
  );
  // Eleven, and those already being sent.
  expect(first.failedCount).toBeGreaterThanOrEqual(11);
  expect(first.failedCount).toBeLessThan(60);
  const [people] = await server.rows<{ count: number }>(
    "select count(*)::integer from contacts where project_id = $1 and subscribed",
    project.id,
  );
  expect(people?.count).toBe(PEOPLE);
  const told = () => readPlatformEmails(server.pool, { to: project.owner.email });
  await vi.waitUntil(async () => (await told()).length > 0, WAIT);

  // Transactional emails to that destination are still sent.
  const single = { to: "ada@gmail.com", from, subject: "Hello", body: "Hello" };
  const mail = await server.call(v1.send, project.byKey, { body: single });
  const { email = "" } = mail.body.data.emails[0] ?? {};
  const statusOf = async () =>
    (await server.call(emails.getEmail, project.byKey, { params: { id: email } })).body.status;
  await vi.waitUntil(async () => (await statusOf()) === "SENT", WAIT);

  await tryNow(id);
  await vi.waitUntil(async () => (await triesOf(id))[0]?.failedTries === 1, WAIT);
  expect(await triesOf(id)).toEqual([{ failedTries: 1, hours: 2, trials: 0 }]);
  const second = await read(project, id);
  expect([second.failedCount, second.status]).toEqual([first.failedCount + 10, "SENDING"]);
  expect(await told()).toMatchObject([
    { to: project.owner.email, subject: "The campaign “News & more” is paused for gmail" },
  ]);

  sink.setRules([]);
  await tryNow(id);
  const ended = await until(project, id, ({ status }) => status === "SENT");
  expect(ended).toMatchObject({
    sentCount: PEOPLE - second.failedCount,
    failedCount: second.failedCount,
    pendingCount: 0,
    pausedDestinations: [],
  });
  await act(project, id, "retry-failed");
  expect(await until(project, id, ({ status }) => status === "SENT")).toMatchObject({
    sentCount: PEOPLE,
    failedCount: 0,
  });
  const got = Map.groupBy(
    sink.journal.filter(({ sender }) => sender === from),
    ({ recipients }) => recipients.join(),
  );
  expect([got.size, Math.max(...[...got.values()].map((all) => all.length))]).toEqual([PEOPLE + 1, 1]);
});

test("a person releases the emails, or cancelling drops them", async () => {
  const { project, id } = await refusedByGmail();
  const refuseRelease = (body: BodyOf<typeof campaignActions.releaseCampaign>) =>
    server.call(campaignActions.releaseCampaign, project.byKey, { params: { id }, body });
  expect(errorOf(await refuseRelease({ destination: "yahoo" }))).toBe("409 CONFLICT");
  sink.setRules([]);
  const released = await act(project, id, "release", { destination: "gmail" });
  expect([released.status, released.body.pausedDestinations]).toEqual([200, []]);
  expect(errorOf(await refuseRelease({}))).toBe("409 CONFLICT");
  const ended = await until(project, id, ({ status }) => status === "SENT");
  expect(ended.sentCount + ended.failedCount).toBe(PEOPLE);

  const other = await refusedByGmail();
  await act(other.project, other.id, "cancel");
  const { failedCount, sentCount, skippedCount } = await until(
    other.project,
    other.id,
    ({ status, pendingCount }) => status === "CANCELLED" && pendingCount === 0,
  );
  expect([sentCount, failedCount + skippedCount]).toEqual([ELSEWHERE, AT_GMAIL]);
});
