// Tests that bulk mail outside campaigns, rejected by one destination, waits only for that destination.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as emails from "@postloft/contract/emails.ts";
import * as templates from "@postloft/contract/templates.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { proveDomain } from "../testing/prove-domain.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { errorOf, useTestServer, type TestProject } from "../testing/test-server.ts";
import type { BodyOf, ResponseOf } from "../testing/typed-call.ts";
import { readPlatformEmails } from "../testing/platform-emails.ts";

const WAIT = { timeout: 30_000, interval: 250 };
const AT_GMAIL = 60;
const ELSEWHERE = 20;
const REFUSED = "550 5.7.1 Not from you";

const dns = await startDnsServer();
const sink = await startSmtpSink({ keepRaw: false });
const server = useTestServer({ ROLES: "api" });
let worker: Awaited<ReturnType<typeof server.startAnother>>;
beforeAll(async () => {
  worker = await server.startAnother({
    MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
    DNS_SERVERS: dns.address,
    ROLES: "api,worker",
  });
});
afterAll(async () => {
  await sink.close();
  await dns.close();
});

/** Runs the loops continuously instead of waiting for each poll. */
async function waitUntil<Value>(isReached: () => Promise<Value>, wait: typeof WAIT) {
  return vi.waitUntil(async () => {
    await server.hint("campaigns");
    return isReached();
  }, wait);
}

type Paused = ResponseOf<typeof emails.listPausedDestinations>;

/** A project with a verified domain, subscribed people and a template of each kind. */
async function furnish() {
  const project = await server.createProject();
  const { byKey } = project;
  const domain = `mail-${project.id}.example.com`;
  await proveDomain(worker, dns, byKey, domain);
  await server.rows(
    `insert into contacts (project_id, id, email, subscribed)
     select $1, new_id(), 'person' || n || '@' || host, true
     from generate_series(1, 200) n, unnest('{gmail.com,example.net}'::text[]) host`,
    project.id,
  );
  const templateOf = async (type: string) => {
    const template = { name: type, subject: "News", body: "<p>Hello</p>", from: `news@${domain}`, type };
    return (await server.call(templates.createTemplate, byKey, { anyBody: template })).body.id;
  };
  return { project, list: await templateOf("MARKETING"), single: await templateOf("TRANSACTIONAL") };
}

/** Sends to recipients at a host, one call each, and returns the email ids. */
async function send({ byKey }: TestProject, template: string, host: string, from: number, count: number) {
  const calls = Array.from({ length: count }, async (_, at) => {
    const to = `person${from + at}@${host}`;
    const call = { to, template };
    const { body } = await server.call(v1.send, byKey, { body: call });
    return body.data.emails[0]?.email ?? "";
  });
  return Promise.all(calls);
}

async function statusesOf(ids: readonly string[]): Promise<Record<string, number>> {
  const rows = await server.rows<{ status: string; count: number }>(
    "select status, count(*)::integer from emails where id = any($1::uuid[]) group by status",
    ids,
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function readPaused({ byKey }: TestProject): Promise<Paused["data"]> {
  return (await server.call(emails.listPausedDestinations, byKey)).body.data;
}

const refuseRelease = async ({ byKey }: TestProject, body: BodyOf<typeof emails.releaseListMail>) =>
  errorOf(await server.call(emails.releaseListMail, byKey, { body }));
const deferredOf = async (ids: readonly string[]) =>
  (
    await server.rows<{ id: string }>(
      "select id from emails where id = any($1::uuid[]) and status = 'QUEUED' and due_at > '9999-01-01'",
      ids,
    )
  ).map(({ id }) => id);

/** Sends bulk mail that Gmail rejects until it is throttled, with the rest deferred. */
async function refusedByGmail() {
  const furnished = await furnish();
  const { project, list } = furnished;
  sink.setRules([{ phase: "RCPT", recipient: /@gmail\.com/, action: { reply: REFUSED } }]);
  // A few first, which limits the rejections before the throttle.
  const first = await send(project, list, "gmail.com", 1, 20);
  await waitUntil(async () => (await readPaused(project)).length === 1, WAIT);
  const later = await send(project, list, "gmail.com", 21, AT_GMAIL - 20);
  await waitUntil(async () => (await deferredOf(later)).length === later.length, WAIT);
  return { ...furnished, first, later };
}

test("bulk mail waits for a rejecting destination, is retried automatically, and resumes", async () => {
  const { project, list, single, first, later } = await refusedByGmail();
  expect(await readPaused(project)).toEqual([
    expect.objectContaining({
      destination: "gmail",
      domains: ["gmail.com", "googlemail.com"],
      answer: expect.stringContaining(REFUSED),
      whatToDo: expect.stringContaining("POST /emails/release"),
    }),
  ]);
  const told = () => readPlatformEmails(server.pool, { to: project.owner.email });
  await waitUntil(async () => (await told()).length > 0, WAIT);
  expect((await told()).map(({ subject }) => subject)).toEqual([
    expect.stringMatching(/^Bulk emails of “.*” to gmail are paused$/),
  ]);

  // Other destinations and transactional emails are not deferred; the latter are rejected individually.
  const elsewhere = await send(project, list, "example.net", 1, ELSEWHERE);
  const waitedFor = await send(project, single, "gmail.com", 101, 1);
  await waitUntil(async () => (await statusesOf(elsewhere))["SENT"] === ELSEWHERE, WAIT);
  await waitUntil(async () => (await statusesOf(waitedFor))["FAILED"] === 1, WAIT);
  expect(await statusesOf(later)).toEqual({ QUEUED: later.length });
  const waiting = await server.call<{ status: string; nextAttemptAt: string | null }>(
    "GET",
    `/emails/${later[0]}`,
    project.byKey,
  );
  expect(waiting.body).toMatchObject({ status: "QUEUED", nextAttemptAt: null });

  // A retry picks from all deferred emails, possibly including the first ones.
  const all = [...first, ...later];
  await waitUntil(async () => (await deferredOf(all)).length === (await statusesOf(all))["QUEUED"], WAIT);
  const { FAILED: refused = 0 } = await statusesOf(all);
  const tryNow = () =>
    server.rows("update paused_destinations set try_at = now() where project_id = $1", project.id);
  const triesOf = async () =>
    (
      await server.rows<{ failedTries: number }>(
        "select failed_tries from paused_destinations where project_id = $1",
        project.id,
      )
    )[0]?.failedTries;
  await tryNow();
  await waitUntil(async () => (await triesOf()) === 1, WAIT);
  expect(await statusesOf(all)).toEqual({ QUEUED: all.length - refused - 10, FAILED: refused + 10 });
  sink.setRules([]);
  await tryNow();
  await waitUntil(async () => (await statusesOf(all))["SENT"] === all.length - refused - 10, WAIT);
  expect(await readPaused(project)).toEqual([]);
  // The throttle is gone, so the next one is reported again.
  await waitUntil(async () => (await triesOf()) === undefined, WAIT);
  expect(await told()).toHaveLength(1);
});

test("a person releases one or all destinations, and each email is sent once", async () => {
  const { project, first, later } = await refusedByGmail();
  expect(await refuseRelease(project, { destination: "yahoo" })).toBe("409 CONFLICT");
  const other = await server.createProject();
  expect(await refuseRelease(other, { destination: "gmail" })).toBe("409 CONFLICT");
  expect(await readPaused(other)).toEqual([]);
  expect((await statusesOf(first))["FAILED"]).toBeGreaterThanOrEqual(11);
  sink.setRules([]);
  const gmail = { destination: "gmail" };
  const released = await server.call(emails.releaseListMail, project.byKey, { body: gmail });
  expect([released.status, released.body.data]).toEqual([200, []]);
  expect(await refuseRelease(project, {})).toBe("409 CONFLICT");
  await waitUntil(async () => (await statusesOf(later))["SENT"] === later.length, WAIT);
  const got = sink.journal
    .filter(({ sender }) => sender.includes(project.id))
    .flatMap(({ recipients }) => recipients);
  expect(got.length).toBeGreaterThanOrEqual(later.length);
  expect(got).toHaveLength(new Set(got).size);
});
