// Tests the results of trying a transport, and that an outage and its end are logged once each.
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { createDatabase, createPool } from "../platform/database/database.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { SES_KEY, startSesFake } from "../testing/ses-fake.ts";
import { composeMail, saysYes } from "../testing/smtp-fixture.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { createTransport } from "./create-transport.ts";
import { watchTransport } from "./transport-watch.ts";
import type { Outcome, Transport } from "./transport.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Line {
  level: number;
  msg: string;
  [field: string]: unknown;
}

/** A log, and its lines from `info` up. */
function listen() {
  const lines: Line[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Line);
      done();
    },
  });
  return { log: pino({ level: "info", base: null }, output), lines };
}

async function create(setting: string) {
  const { log, lines } = listen();
  const silent = createLog({ level: "silent" });
  const made = await createTransport(
    {
      MAIL_TRANSPORT: setting,
      SES_ACCESS_KEY_ID: SES_KEY.accessKeyId,
      SES_SECRET_ACCESS_KEY: SES_KEY.secretAccessKey,
    },
    // Nothing here uses the database.
    {
      database: createDatabase(createPool({ connection: {}, maxConnections: 1, log: silent })),
      log,
      heloName: "client.test",
    },
  );
  cleanups.push(() => made.transport.close());
  return { ...made, lines };
}

const sayings = (lines: readonly Line[]) => lines.map(({ level, msg }) => `${level} ${msg}`);
const OUT = "40 transport is out of service, its email waits until a retry succeeds";
const BACK = "30 transport is back in service";

test("reports the server's reply, name, encryption and login", async () => {
  const sink = await startSmtpSink({
    advertise: { startTls: true, auth: ["PLAIN"] },
    credentials: { user: "bob", password: "s3cret" },
  });
  cleanups.push(sink.close);
  const place = `127.0.0.1:${sink.port}`;
  const good = await create(`smtp://bob:s3cret@${place}?rejectUnauthorized=false`);
  expect(await good.watches[0]?.tryNow()).toMatch(
    new RegExp(
      `^Sending email through smtp ${place}: reachable, server name \\S+, TLSv1\\.\\d, login accepted\\.$`,
    ),
  );
  expect(good.lines).toEqual([]);
  const bad = await create(`smtp://bob:wr0ng@${place}?rejectUnauthorized=false`);
  expect(await bad.watches[0]?.tryNow()).toMatch(/^Cannot send email: .*AUTH: 535/);
  expect(JSON.stringify(bad.lines)).not.toContain("wr0ng");
});

test("suggests the setting when TLS meets a plaintext port", async () => {
  const sink = await startSmtpSink({ advertise: { startTls: true } });
  cleanups.push(sink.close);
  const { watches } = await create(`smtps://127.0.0.1:${sink.port}?rejectUnauthorized=false`);
  const reported = await watches[0]?.tryNow();
  expect(reported).toContain(
    "(TLS: the server does not use TLS from the first byte on this port. Use smtp:// for STARTTLS, or the TLS port (usually 465))",
  );
  expect(reported).not.toMatch(/OPENSSL|wrong version/i);
});

test("uses the tried connection for the first message", async () => {
  const sink = await startSmtpSink();
  cleanups.push(sink.close);
  const { transport, watches } = await create(`smtp://127.0.0.1:${sink.port}?rejectUnauthorized=false`);
  await watches[0]?.tryNow();
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.connectionCount()).toBe(1);
});

test("logs a closed port once when found and once when over, with many emails in between", async () => {
  const first = await startSmtpSink();
  const { port } = first;
  await first.close();
  const { transport, watches, lines } = await create(`smtp://127.0.0.1:${port}?rejectUnauthorized=false`);
  expect(await watches[0]?.tryNow()).toMatch(/^Cannot send email: smtp 127\.0\.0\.1:\d+ .*ECONNREFUSED/);
  expect(watches[0]?.outage()).toMatch(/^The transport smtp has been out of service since/);
  await Promise.all(Array.from({ length: 14 }, (_, at) => transport.send(composeMail(at), saysYes)));
  expect(sayings(lines)).toEqual([OUT]);
  expect(lines[0]).toMatchObject({ transport: `smtp 127.0.0.1:${port}` });
  const again = await startSmtpSink({ port });
  cleanups.push(again.close);
  expect((await transport.send(composeMail(20), saysYes)).kind).toBe("sent");
  expect(sayings(lines)).toEqual([OUT, BACK]);
  expect(lines[1]).toMatchObject({ attempts: 14 });
  expect(watches[0]?.outage()).toBeNull();
});

test("logs each outage of several transports once with its place in the list", async () => {
  const dead = await startSmtpSink();
  await dead.close();
  const sink = await startSmtpSink();
  cleanups.push(sink.close);
  const options = "rejectUnauthorized=false";
  const { transport, watches, lines } = await create(
    `smtp://127.0.0.1:${dead.port}?${options},smtp://127.0.0.1:${sink.port}?${options}`,
  );
  for (let at = 0; at < 20; at++) expect((await transport.send(composeMail(at), saysYes)).kind).toBe("sent");
  expect(sayings(lines)).toEqual([OUT]);
  expect(watches.map((watch) => watch.outage()?.slice(0, 37))).toEqual([
    "The transport smtp, entry 1 of 2, has",
    undefined,
  ]);
});

test("tries SES without a message and reports an unreachable endpoint", async () => {
  const ses = await startSesFake();
  const { watches } = await create(`ses://eu-west-1?endpoint=${ses.endpoint}`);
  expect(await watches[0]?.tryNow()).toBe(
    "Sending email through ses eu-west-1: reachable, not encrypted, the access key is tested with the first email.",
  );
  await ses.close();
  expect(await watches[0]?.tryNow()).toMatch(/^Cannot send email: ses eu-west-1 .*ECONNREFUSED/);
});

/** A transport with programmable outcomes and reachability. */
function createPlayed() {
  const played = { outcome: { kind: "sent", answer: "250" } as Outcome, isReachable: true, reachCount: 0 };
  const transport: Transport = {
    name: "smtp",
    send: async () => played.outcome,
    close: async () => undefined,
    async reach() {
      played.reachCount += 1;
      if (!played.isReachable) throw new Error("CONNECT: refused");
      return { tls: null, login: "none" };
    },
  };
  return { played, transport };
}

test.each([
  ["two outages", [{ kind: "deferred", answer: "x", outage: true }], 2, []],
  ["three outages", [{ kind: "deferred", answer: "x", outage: true }], 3, [OUT]],
  ["three missing replies", [{ kind: "uncertain", answer: "x" }], 3, [OUT]],
  ["throttling", [{ kind: "deferred", answer: "x", outage: true, throttled: true }], 9, []],
  [
    "rejections",
    [
      { kind: "deferred", answer: "450" },
      { kind: "rejected", answer: "550" },
    ],
    9,
    [],
  ],
  [
    "outages between replies",
    [
      { kind: "deferred", answer: "x", outage: true },
      { kind: "deferred", answer: "450" },
    ],
    9,
    [],
  ],
] as const)("classifies %s as an outage or not", async (_what, outcomes, count, said) => {
  const { log, lines } = listen();
  const { played, transport } = createPlayed();
  const watch = watchTransport(transport, { log, label: "smtp relay:25", place: "smtp" });
  for (let at = 0; at < count; at++) {
    played.outcome = outcomes[at % outcomes.length] as Outcome;
    await watch.transport.send(composeMail(at), saysYes);
  }
  expect(sayings(lines)).toEqual(said);
});

test("notices the end of an outage by periodic checks while nothing is sent", async () => {
  const { log, lines } = listen();
  const { played, transport } = createPlayed();
  const watch = watchTransport(transport, { log, label: "smtp relay:25", place: "smtp", pollMs: 5 });
  played.isReachable = false;
  await watch.tryNow();
  watch.start(createMetrics());
  cleanups.push(async () => watch.stop());
  await expect.poll(() => played.reachCount).toBeGreaterThan(3);
  expect(sayings(lines)).toEqual([OUT]);
  played.isReachable = true;
  await expect.poll(() => sayings(lines)).toEqual([OUT, BACK]);
});

test("treats a silent server as an outage after the patience time", async () => {
  const { log } = listen();
  const { transport } = createPlayed();
  transport.reach = () => new Promise(() => undefined);
  const watch = watchTransport(transport, { log, label: "smtp relay:25", place: "smtp", patienceMs: 5 });
  expect(await watch.tryNow()).toMatch(/is unavailable \(no response within 0\.005 s\)/);
});
