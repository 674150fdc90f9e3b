// Tests the SES transport over real HTTP against a fake that checks requests: the transport contract, every response and every failure.
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createSelfSignedCertificate } from "../testing/self-signed-certificate.ts";
import { SES_KEY, SES_REGION, startSesFake, type SesFake, type SesFault } from "../testing/ses-fake.ts";
import { composeMail, saysYes } from "../testing/smtp-fixture.ts";
import { createSesTransport, type SesOptions } from "./ses.ts";
import { testTransportContract } from "./transport-contract.ts";
import type { Outcome, Transport } from "./transport.ts";

const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type Settings = Partial<Omit<SesOptions, "url">> & { url?: Partial<SesOptions["url"]> };

function connect(fake: Pick<SesFake, "endpoint">, settings: Settings = {}): Transport {
  const url = { region: SES_REGION, endpoint: fake.endpoint, ...settings.url };
  const transport = createSesTransport({ ...SES_KEY, ...settings, url });
  cleanups.push(() => transport.close());
  return transport;
}

async function start(settings: Settings = {}): Promise<{ fake: SesFake; transport: Transport }> {
  const fake = await startSesFake();
  cleanups.push(() => fake.close());
  return { fake, transport: connect(fake, settings) };
}

testTransportContract("SES", async () => {
  const fake = await startSesFake();
  return {
    transport: createSesTransport({
      ...SES_KEY,
      url: { region: SES_REGION, endpoint: fake.endpoint, connections: 5 },
    }),
    received: async () => fake.messages,
    close: () => fake.close(),
  };
});

test("sends a message with one signed request and returns the SES message id", async () => {
  const { fake, transport } = await start({ url: { configurationSet: "events" } });
  const mail = composeMail("mail-1", { to: ["a@to.test", "b@cc.test", "c@bcc.test"] });
  const outcome = await transport.send(mail, saysYes);
  const [message] = fake.messages;
  expect(outcome).toEqual({ kind: "sent", answer: "200", providerMessageId: message?.messageId });
  expect(message?.raw.equals(mail.raw)).toBe(true);
  expect(message).toMatchObject({
    envelope: { to: ["a@to.test", "b@cc.test", "c@bcc.test"] },
    configurationSet: "events",
    tags: { "postloft-email": "mail-1", "postloft-project": "project" },
  });
  expect(fake.requestCount()).toBe(1);
});

test("sends the complaint streams as tags for SES to build its Feedback-ID", async () => {
  const { fake, transport } = await start();
  await transport.send({ ...composeMail(1), streams: ["campaign", "project"] }, saysYes);
  expect(fake.messages.map(({ tags }) => tags)).toEqual([
    {
      "postloft-email": "1",
      "postloft-project": "project",
      "ses:feedback-id-a": "campaign",
      "ses:feedback-id-b": "project",
    },
  ]);
});

test("omits FromEmailAddress because SES would overwrite From and lose the name", async () => {
  const { fake, transport } = await start();
  await transport.send(composeMail(1), saysYes);
  expect(fake.messages[0]?.fromEmailAddress).toBeUndefined();
});

test("forwards SES bounces to an address SES knows instead of the SMTP return path", async () => {
  const { fake, transport } = await start();
  const message = composeMail(1);
  await transport.send({ ...message, feedbackTo: "news@shop.example" }, saysYes);
  await transport.send(message, saysYes);
  expect(fake.messages.map(({ envelope }) => envelope.from)).toEqual([
    "news@shop.example",
    message.envelope.from,
  ]);
});

test("reuses connections and never opens more than allowed", async () => {
  const { fake, transport } = await start({ url: { connections: 3 } });
  const ids = Array.from({ length: 30 }, (_, index) => index);
  const outcomes = await Promise.all(ids.map((id) => transport.send(composeMail(id), saysYes)));
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["sent"]));
  expect(fake.connectionCount()).toBe(3);
});

test("closes an idle connection before SES would close it", async () => {
  const { fake, transport } = await start({ timeouts: { idleMs: 30 } });
  await transport.send(composeMail(1), saysYes);
  await fake.waitUntil(() => fake.openConnectionCount() === 0);
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
});

const refused = (status: number, error: string): SesFault => ({ status, error, message: "because" });
const page = (status: number): SesFault => ({ status, text: "<html>not SES</html>" });

test.each<[string, SesFault, Outcome["kind"], boolean]>([
  ["content rejected by SES", refused(400, "MessageRejected"), "rejected", false],
  ["an unverified domain", refused(400, "MailFromDomainNotVerifiedException"), "rejected", false],
  ["a faulty address", refused(400, "BadRequestException"), "rejected", false],
  ["a message too large for a proxy", page(413), "rejected", false],
  ["too many requests", refused(429, "TooManyRequestsException"), "deferred", true],
  ["throttling", refused(400, "ThrottlingException"), "deferred", true],
  ["an exhausted quota", refused(400, "LimitExceededException"), "deferred", true],
  ["a paused account", refused(400, "SendingPausedException"), "deferred", true],
  ["a suspended account", refused(400, "AccountSuspendedException"), "deferred", true],
  ["an unknown error", refused(400, "BrandNewException"), "deferred", true],
  ["missing permission to send", refused(403, "AccessDeniedException"), "deferred", true],
  ["an expired request", refused(403, "RequestExpired"), "deferred", true],
  ["an unknown configuration set", refused(404, "NotFoundException"), "deferred", true],
  ["a proxy's login page", page(407), "deferred", true],
  ["a redirect", page(302), "deferred", true],
  ["a named SES failure", refused(500, "InternalFailure"), "deferred", true],
  ["an unavailable service", refused(503, "ServiceUnavailable"), "deferred", true],
  ["an unavailable gateway", page(503), "deferred", true],
  ["a broken gateway", page(502), "uncertain", false],
  ["a gateway timeout", page(504), "uncertain", false],
  ["500 from an unknown source", page(500), "uncertain", false],
  ["200 with a page", { ...page(200), taken: true }, "uncertain", false],
  ["200 without a message id", { status: 200, text: "{}" }, "uncertain", false],
  ["an endless response", { status: 200, text: "x".repeat(70_000) }, "uncertain", false],
])("maps %s: %o → %s (outage: %s) after one request", async (_title, fault, kind, isOutage) => {
  const { fake, transport } = await start();
  fake.plan(fault);
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toMatchObject({ kind, answer: expect.stringMatching(/^[\x20-\x7e]{1,500}$/) });
  expect("outage" in outcome).toBe(isOutage);
  expect(fake.requestCount()).toBe(1);
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
});

test("reports the status, error name and text of SES", async () => {
  const { fake, transport } = await start();
  fake.plan({ status: 400, error: "MessageRejected", message: "Email address is not verified.\r\n250 ok" });
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toMatchObject({ answer: "400 MessageRejected: Email address is not verified. 250 ok" });
});

test.each([
  ["a wrong secret", { secretAccessKey: "s3cret" }, "403 InvalidSignatureException"],
  ["an unknown key", { accessKeyId: "AKIDOTHER" }, "403 UnrecognizedClientException"],
])("defers the account error %s without showing the secret", async (_title, key, reply) => {
  const { fake, transport } = await start(key);
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toMatchObject({ kind: "deferred", outage: true });
  expect(outcome).toMatchObject({ answer: expect.stringContaining(reply) });
  expect(JSON.stringify(outcome)).not.toContain("s3cret");
  expect(fake.messages).toHaveLength(0);
});

test.each([
  ["dropped", { end: "drop" }, 0],
  ["dropped after the message was accepted", { end: "drop", taken: true }, 1],
  ["left without a response", { end: "silent" }, 0],
  ["left without a response after the message was accepted", { end: "silent", taken: true }, 1],
] as const)("reports a request that was %s as uncertain and does not retry", async (_title, fault, taken) => {
  const { fake, transport } = await start({ timeouts: { answerMs: 100 } });
  fake.plan(fault);
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toEqual({ kind: "uncertain", answer: expect.stringMatching(/^ANSWER: /) });
  expect(fake.messages).toHaveLength(taken);
  expect(fake.requestCount()).toBe(1);
});

test("defers as an outage without a pre-send check when the port is closed", async () => {
  const fake = await startSesFake();
  await fake.close();
  let checkCalls = 0;
  const outcome = await connect(fake).send(composeMail(1), async () => {
    checkCalls += 1;
    return true;
  });
  expect(outcome).toMatchObject({
    kind: "deferred",
    outage: true,
    answer: expect.stringContaining("ECONNREFUSED"),
  });
  expect(checkCalls).toBe(0);
});

test("defers within the connect timeout when the server does not complete TLS", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const transport = connect({ endpoint: `https://127.0.0.1:${port}` }, { timeouts: { connectMs: 50 } });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({
    kind: "deferred",
    answer: "CONNECT: no response within 0.05 s",
    outage: true,
  });
});

test("checks the TLS certificate before anything is written", async () => {
  const certificate = createSelfSignedCertificate();
  const fake = await startSesFake({ certificate });
  cleanups.push(() => fake.close());
  const trusting = connect(fake, { tls: { ca: certificate.cert } });
  expect((await trusting.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(await connect(fake).send(composeMail(2), saysYes)).toMatchObject({
    kind: "deferred",
    outage: true,
  });
  expect(fake.requestCount()).toBe(1);
});

test("sends nothing of the request before the pre-send check", async () => {
  const { fake, transport } = await start();
  let requestsAtCheck = -1;
  const outcome = await transport.send(composeMail(1), async () => {
    await fake.waitUntil(() => fake.connectionCount() === 1);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    requestsAtCheck = fake.requestCount();
    return true;
  });
  expect(outcome.kind).toBe("sent");
  expect(requestsAtCheck).toBe(0);
});

test("defers as an outage when the connection ends during the pre-send check", async () => {
  const { fake, transport } = await start();
  // Once over a fresh connection, once over a reused one.
  for (const id of [1, 2]) {
    const outcome = await transport.send(composeMail(id), async () => {
      await fake.waitUntil(() => fake.openConnectionCount() === 1);
      fake.dropConnections();
      await fake.waitUntil(() => fake.openConnectionCount() === 0);
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      return true;
    });
    expect(outcome).toMatchObject({ kind: "deferred", outage: true });
    expect((await transport.send(composeMail(`${id}b`), saysYes)).kind).toBe("sent");
  }
  expect(fake.requestCount()).toBe(2);
});

test("close at its deadline makes written requests uncertain and defers waiting ones", async () => {
  const { fake, transport } = await start({ url: { connections: 1 }, timeouts: { closeMs: 50 } });
  fake.plan({ end: "silent", taken: true });
  const sending = Promise.all([1, 2, 3].map((id) => transport.send(composeMail(id), saysYes)));
  await fake.waitUntil(() => fake.messages.length === 1);
  await transport.close();
  expect((await sending).map(({ kind }) => kind)).toEqual(["uncertain", "deferred", "deferred"]);
  expect(fake.requestCount()).toBe(1);
  expect((await transport.send(composeMail(4), saysYes)).kind).toBe("deferred");
});
