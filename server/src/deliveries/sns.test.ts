// Tests the Amazon SNS hook over HTTP: it accepts only messages signed by our topics and never contacts other hosts (reliability case S51).
import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createSealer } from "../platform/crypto.ts";
import { createDatabase, createPool, type Database } from "../platform/database/database.ts";
import { createHttp } from "../platform/http/http.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { leastWallMs } from "../testing/least-time.ts";
import { SNS_HOST, SNS_TOPIC, startSnsFake, type SnsBody, type SnsFake } from "../testing/sns-fake.ts";
import { createNoticeStore } from "./notices.ts";
import { webhookRoutes } from "./routes.ts";
import { createSnsEndpoint } from "./sns.ts";
import { createSnsKeys } from "./sns-keys.ts";
import { createSnsRequests } from "./sns-requests.ts";

/** Refuses connections. */
const NO_LISTENER = { host: "127.0.0.1", port: 9 };

let testDatabase: TestDatabase;
let database: Database;
let fake: SnsFake;
let app: FastifyInstance;
const logged: string[] = [];

async function openEndpoint(options: { topics?: string[]; database?: Database; timeoutMs?: number } = {}) {
  // Longer than a busy machine stops this process, which is the certificate's host, too.
  const { timeoutMs = 60_000 } = options;
  const on = options.database ?? database;
  const log = createLog({ level: "silent" });
  for (const level of ["info", "warn"] as const)
    log[level] = ((_fields: object, text: string) => logged.push(text)) as never;
  const fetchText = createSnsRequests({ instead: fake.instead, timeoutMs, maxBytes: 10_000 });
  const sns = createSnsEndpoint({
    database: on,
    notices: createNoticeStore(on),
    topics: options.topics ?? [SNS_TOPIC],
    keys: createSnsKeys(fetchText, log),
    fetchText,
    log,
  });
  return createHttp(
    {
      database: on,
      sealer: createSealer("a secret for tests"),
      credentials: {
        findKey: async () => null,
        findSession: async () => null,
        findMembership: async () => null,
      },
      rateLimiter: { take: () => Promise.reject(new Error("never asked")), giveBack: async () => undefined },
      requestsPerMinute: 0,
      trustedProxies: [],
      sessionCookie: "session",
      origin: () => null,
      log: createLog({ level: "silent" }),
      metrics: createMetrics(),
    },
    webhookRoutes({ sns }),
  );
}

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  fake = await startSnsFake();
});
beforeEach(async () => {
  // A separate endpoint for each test, because it caches certificates.
  app = await openEndpoint();
  await sql`delete from notices`.execute(database);
  fake.requests.length = 0;
  logged.length = 0;
});
afterAll(async () => {
  await fake.close();
  await testDatabase.drop();
});

async function post(body: unknown, { to = app, type = "text/plain; charset=UTF-8" } = {}) {
  const payload = typeof body === "string" ? body : JSON.stringify(body);
  const response = await to.inject({
    method: "POST",
    url: "/webhooks/sns",
    headers: { "content-type": type },
    payload,
  });
  return { status: response.statusCode, body: response.json<Record<string, unknown>>() };
}
const stored = async () =>
  (
    await sql<{ providerId: string; raw: Buffer }>`select provider_id, raw from notices order by id`.execute(
      database,
    )
  ).rows.map((row) => ({ id: row.providerId, raw: row.raw.toString() }));

const event = (more: object = {}) => ({
  eventType: "Delivery",
  mail: { messageId: randomUUID(), timestamp: new Date().toISOString() },
  delivery: { timestamp: new Date().toISOString(), recipients: ["ada@example.com"] },
  ...more,
});
const aMinuteAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test.for(["1", "2"])(
  "stores a notification with signature version %s before responding",
  async (SignatureVersion) => {
    const message = event();
    const reply = await post(fake.notification(message, { SignatureVersion }));
    expect(reply).toEqual({ status: 200, body: { success: true } });
    expect(await stored()).toEqual([{ id: expect.any(String), raw: JSON.stringify(message) }]);
  },
);

test("verifies a signed subject and accepts any content type that SNS sends", async () => {
  expect((await post(fake.notification(event(), { Subject: "Amazon SES Email Event" }))).status).toBe(200);
  expect((await post(fake.notification(event()), { type: "application/json" })).status).toBe(200);
  expect(await stored()).toHaveLength(2);
});

test("answers fifty concurrent copies and repeats alike and stores one", async () => {
  const body = fake.notification(event());
  const replies = await Promise.all(Array.from({ length: 50 }, () => post(body)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await post(body)).status).toBe(200);
  expect(await stored()).toHaveLength(1);
  // One certificate is fetched for all of them.
  expect(fake.requests).toHaveLength(1);
});

test("stores an event of two notifications once and other notices by notification id", async () => {
  const same = event();
  expect((await post(fake.notification(same))).status).toBe(200);
  expect((await post(fake.notification(same))).status).toBe(200);
  const other = fake.notification({ notificationType: "AmazonSnsSubscriptionSucceeded" });
  expect((await post(other)).status).toBe(200);
  expect((await stored()).map(({ id }) => id)).toEqual([expect.any(String), other["MessageId"]]);
});

const otherTopic = SNS_TOPIC.replace("mail", "other");
const certificate = (text: string) => () => fake.notification(event(), { SigningCertURL: text });
const path = "/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem";
const subscribeAt = (text: string) => () => fake.confirmation({ SubscribeURL: text });
const subscribe = (host: string, topic = SNS_TOPIC, token = "0123456789abcdef".repeat(8)) =>
  `${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=${token}`;

/** Rejected without any network request. */
const FORGED: Record<string, () => SnsBody> = {
  "no signature": () => ({ ...fake.notification(event()), Signature: undefined }),
  "a signature that is none": () => ({ ...fake.notification(event()), Signature: "!" }),
  "an empty signature": () => ({ ...fake.notification(event()), Signature: "" }),
  "a topic that is not ours": () => fake.notification(event(), { TopicArn: otherTopic }),
  "a topic of another region": () =>
    fake.notification(event(), { TopicArn: SNS_TOPIC.replace("eu-west-1", "us-east-1") }),
  "a topic in another case": () => fake.notification(event(), { TopicArn: SNS_TOPIC.toUpperCase() }),
  "signature version 3": () => fake.notification(event(), { SignatureVersion: "3" }),
  "no signature version": () => fake.notification(event(), { SignatureVersion: undefined }),
  "no certificate": () => fake.notification(event(), { SigningCertURL: undefined }),
  "a certificate over http": certificate(`http://${SNS_HOST}${path}`),
  "a certificate of another host": certificate(`https://${SNS_HOST}.evil.example${path}`),
  "a certificate behind a user name": certificate(`https://${SNS_HOST}@evil.example${path}`),
  "a certificate of another region": certificate(`https://sns.us-east-1.amazonaws.com${path}`),
  "a certificate from a bucket": certificate(`https://sns.s3-us-west-2.amazonaws.com${path}`),
  "a certificate from a made-up region": certificate(`https://sns.evil.amazonaws.com${path}`),
  "a certificate at another port": certificate(`https://${SNS_HOST}:8443${path}`),
  "a certificate with a query": certificate(`https://${SNS_HOST}${path}?y`),
  "a certificate with a fragment": certificate(`https://${SNS_HOST}${path}#y`),
  "a certificate at another path": certificate(`https://${SNS_HOST}/x.pem`),
  "a certificate in a folder": certificate(`https://${SNS_HOST}/a/..${path}`),
  "a certificate after a backslash": certificate(`https:\\\\${SNS_HOST}${path}`),
  "a certificate in capitals": certificate(`HTTPS://${SNS_HOST.toUpperCase()}${path}`),
  "a certificate here": certificate(`https://127.0.0.1${path}`),
  "a confirmation here": subscribeAt(subscribe("https://127.0.0.1")),
  "a confirmation in the metadata of the cloud": subscribeAt("http://169.254.169.254/latest/meta-data"),
  "a confirmation over http": subscribeAt(subscribe(`http://${SNS_HOST}`)),
  "a confirmation of another host": subscribeAt(subscribe(`https://${SNS_HOST}.evil.example`)),
  "a confirmation behind a user name": subscribeAt(subscribe(`https://${SNS_HOST}@evil.example`)),
  "a confirmation of another topic": subscribeAt(subscribe(`https://${SNS_HOST}`, otherTopic)),
  "a confirmation with another token": subscribeAt(
    subscribe(`https://${SNS_HOST}`, SNS_TOPIC, "a".repeat(64)),
  ),
  "another action": subscribeAt(subscribe(`https://${SNS_HOST}`).replace("Confirm", "Delete")),
  "a confirmation at another port": subscribeAt(subscribe(`https://${SNS_HOST}:444`)),
  "no address to confirm at": () => fake.confirmation({ SubscribeURL: undefined }),
  "a confirmation of a topic that is not ours": () => fake.confirmation({ TopicArn: otherTopic }),
};
/** Rejected after the certificate was checked. */
const UNPROVEN: Record<string, () => SnsBody> = {
  "another message": () => ({ ...fake.notification(event()), Message: JSON.stringify(event()) }),
  "another time": () => ({ ...fake.notification(event()), Timestamp: aMinuteAgo(1) }),
  "a subject that was not signed": () => ({ ...fake.notification(event()), Subject: "x" }),
  "a notification as a confirmation": () => ({ ...fake.confirmation(), Type: "Notification" }),
  "another type": () => fake.notification(event(), { Type: "Something" }),
  "sixty-one minutes ago": () => fake.notification(event(), { Timestamp: aMinuteAgo(61) }),
  "a day ahead": () => fake.notification(event(), { Timestamp: aMinuteAgo(-24 * 60) }),
  "a confirmation of sixty-one minutes ago": () => fake.confirmation({ Timestamp: aMinuteAgo(61) }),
  "a certificate that is not there": certificate(`https://${SNS_HOST}${path}`),
  "somebody else's key": () => ({
    ...fake.addCertificate({}).sign(fake.notification(event())),
    SigningCertURL: fake.certificateUrl,
  }),
  "a certificate of another name": () =>
    fake.addCertificate({ hostNames: ["evil.example"] }).sign(fake.notification(event())),
  "a certificate that only ends like SNS": () =>
    fake.addCertificate({ hostNames: ["evil-amazonaws.com"] }).sign(fake.notification(event())),
  "a certificate that begins like SNS": () =>
    fake.addCertificate({ hostNames: ["sns.amazonaws.com.evil.example"] }).sign(fake.notification(event())),
  "an expired certificate": () =>
    fake.addCertificate({ validTo: new Date(Date.now() - 60_000) }).sign(fake.notification(event())),
  "a certificate that is not valid yet": () =>
    fake.addCertificate({ validFrom: new Date(Date.now() + 60_000) }).sign(fake.notification(event())),
  "a short key": () => fake.addCertificate({ rsaBits: 1024 }).sign(fake.notification(event())),
  "no certificate in it": () =>
    fake.notification(event(), { SigningCertURL: fake.addReply((response) => response.end("<html>")) }),
  "a redirect": () =>
    fake.notification(event(), {
      SigningCertURL: fake.addReply((response) =>
        response.writeHead(302, { location: fake.certificateUrl }).end(),
      ),
    }),
};

/** Responses must not reveal our topics, existing emails or the failed check. */
const REFUSED = { code: "FORBIDDEN", message: "This notification was rejected." };

test.for(Object.entries(FORGED))("rejects %s without any network request", async ([, make]) => {
  const reply = await post(make());
  expect([reply.status, reply.body["error"]]).toEqual([403, expect.objectContaining(REFUSED)]);
  expect([await stored(), fake.requests]).toEqual([[], []]);
});

test.for(Object.entries(UNPROVEN))(
  "rejects %s with the same message after fetching one certificate",
  async ([, make]) => {
    const reply = await post(make());
    expect([reply.status, reply.body["error"]]).toEqual([403, expect.objectContaining(REFUSED)]);
    expect([await stored(), fake.requests.length]).toEqual([[], 1]);
  },
);

test("rejects everything without the setting and logs what to set", async () => {
  const closed = await openEndpoint({ topics: [] });
  expect((await post(fake.notification(event()), { to: closed })).status).toBe(403);
  expect((await post(fake.confirmation(), { to: closed })).status).toBe(403);
  expect([await stored(), fake.requests]).toEqual([[], []]);
  expect(logged).toEqual([expect.stringContaining("SNS_TOPIC_ARNS")]);
});

test("answers alike for existing and unknown emails", async () => {
  const replies = [
    await post(fake.notification(event())),
    await post(fake.notification(event({ mail: { messageId: newId() } }))),
  ];
  expect(replies[0]).toEqual(replies[1]);
});

test("confirms our topic's subscription at its own host for every request", async () => {
  const body = fake.confirmation();
  expect((await post(body)).status).toBe(200);
  expect((await post(body)).status).toBe(200);
  const confirms = fake.requests.filter((request) => request.includes("ConfirmSubscription"));
  const asked = new URL(`https://${confirms[0]?.split(" ")[1]}`);
  expect([
    confirms.length,
    asked.host,
    asked.searchParams.get("TopicArn"),
    asked.searchParams.get("Token"),
  ]).toEqual([2, SNS_HOST, SNS_TOPIC, body["Token"]]);
  expect(await stored()).toEqual([]);
});

test("logs an unsubscribe without undoing it", async () => {
  expect((await post(fake.confirmation({ Type: "UnsubscribeConfirmation" }))).status).toBe(200);
  expect(fake.requests.filter((request) => request.includes("ConfirmSubscription"))).toEqual([]);
  expect(logged).toEqual(["Postloft was unsubscribed from the SNS topic"]);
});

test.for([
  ["fails", (response: { writeHead(status: number): { end(): void } }) => response.writeHead(500).end()],
  ["hangs", () => undefined],
  ["ends in the middle", (response: { write(text: string): void; destroy(): void }) => response.destroy()],
  ["sends without end", (response: { end(text: string): void }) => response.end("x".repeat(20_000))],
] as const)("responds 503 so that SNS retries when the certificate host %s", async ([, answer]) => {
  const quick = await openEndpoint({ timeoutMs: 200 });
  const url = fake.addReply(answer as never);
  const notify = async () => {
    const reply = await post(fake.notification(event(), { SigningCertURL: url }), { to: quick });
    expect([reply.status, await stored()]).toEqual([503, []]);
  };
  expect(await leastWallMs(3_000, notify)).toBeLessThan(3_000);
});

test("fetches at most thirty certificates a minute while the known one keeps working", async () => {
  // The whole test happens within one minute.
  const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now());
  onTestFinished(() => clock.mockRestore());
  expect((await post(fake.notification(event()))).status).toBe(200);
  const made = Array.from({ length: 60 }, () =>
    fake.notification(event(), {
      SigningCertURL: `https://${SNS_HOST}/SimpleNotificationService-${randomUUID().replaceAll("-", "")}.pem`,
    }),
  );
  const replies = await Promise.all(made.map((body) => post(body)));
  expect(replies.filter(({ status }) => status === 200)).toEqual([]);
  expect(fake.requests.length).toBeLessThanOrEqual(30);
  expect((await post(fake.notification(event()))).status).toBe(200);
});

const MALFORMED: Record<string, readonly [string, number]> = {
  "half an object": ["{", 400],
  nothing: ["", 400],
  null: ["null", 422],
  "a list": ["[]", 422],
  "an empty object": ["{}", 422],
  "a type alone": ['{"Type":"Notification"}', 422],
  "a deep message": [`{"Type":"Notification","Message":${"[".repeat(10_000)}`, 400],
  "too many values": [`{"Type":"Notification","Message":${"[".repeat(100_000)}`, 422],
};

test.for(Object.entries(MALFORMED))(
  "rejects %s by its form without any network request",
  async ([, [body, status]]) => {
    expect((await post(body)).status).toBe(status);
    expect(fake.requests).toEqual([]);
  },
);

test("rejects a signed message without a JSON object with 400 and accepts the SES greeting", async () => {
  for (const message of ["hello", "[1]", "null", "{"])
    expect((await post(fake.notification(message))).status).toBe(400);
  const greeting = "Successfully validated SNS topic for Amazon SES event publishing.";
  expect((await post(fake.notification(greeting))).status).toBe(200);
  expect(await stored()).toEqual([]);
});

test("rejects a body over 256 KB with 413 and another content type with 415", async () => {
  expect((await post(fake.notification("x".repeat(256 * 1024)))).status).toBe(413);
  expect((await post(fake.notification(event()), { type: "application/xml" })).status).toBe(415);
});

test("answers 503 while the database is unavailable and stores the repeated notification", async () => {
  const away = createPool({
    connection: NO_LISTENER,
    maxConnections: 1,
    log: createLog({ level: "silent" }),
  });
  const body = fake.notification(event());
  const to = await openEndpoint({ database: createDatabase(away) });
  expect((await post(body, { to })).status).toBe(503);
  expect((await post(body)).status).toBe(200);
  expect(await stored()).toHaveLength(1);
});
