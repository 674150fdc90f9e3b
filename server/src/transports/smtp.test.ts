// Tests the SMTP transport over real sockets: the transport contract, the pool and shutdown.
import { expect, test } from "vitest";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { createSmtpTransport } from "./smtp.ts";
import { commandLines, composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";
import { testTransportContract } from "./transport-contract.ts";

const start = useSmtp();

for (const [name, advertise] of [
  ["with PIPELINING", { pipelining: true }],
  ["without PIPELINING", { pipelining: false }],
  ["with CHUNKING", { chunking: true }],
] as const)
  testTransportContract(`SMTP ${name}`, async () => {
    const sink = await startSmtpSink({ advertise });
    const transport = createSmtpTransport({
      url: { host: "127.0.0.1", port: sink.port, secure: false },
      heloName: "client.test",
      maxConnections: 5,
      timeouts: { atOnceMs: 60_000 },
    });
    // After its first message, a connection with CHUNKING sends each message in one write.
    if ("chunking" in advertise) await transport.send(composeMail("first"), saysYes);
    sink.clear();
    return {
      transport,
      received: async () =>
        sink.journal.map(({ raw, sender, recipients }) => ({
          raw,
          envelope: { from: sender, to: recipients },
        })),
      close: () => sink.close(),
    };
  });

test("sends successive messages over one connection without RSET after successful ones", async () => {
  const { sink, transport } = await start();
  for (const id of [1, 2, 3]) expect((await transport.send(composeMail(id), saysYes)).kind).toBe("sent");
  expect(sink.connectionCount()).toBe(1);
  expect(commandLines(sink)).toEqual([
    "EHLO client.test",
    ...[1, 2, 3].flatMap(() => [
      "MAIL FROM:<sender@from.test> BODY=8BITMIME",
      "RCPT TO:<bob@to.test>",
      "DATA",
    ]),
  ]);
  expect(sink.journal[0]?.heloName).toBe("client.test");
});

test("never exceeds the connection limit and serves waiting messages in order", async () => {
  const { sink, transport } = await start({}, { maxConnections: 3, maxMessagesPerConnection: 4 });
  const order: number[] = [];
  const ids = Array.from({ length: 60 }, (_, index) => index);
  const outcomes = await Promise.all(
    ids.map((id) =>
      transport.send(composeMail(id), async () => {
        order.push(id);
        return true;
      }),
    ),
  );
  expect(outcomes.every(({ kind }) => kind === "sent")).toBe(true);
  expect(sink.peakConnectionCount()).toBe(3);
  expect(sink.journal).toHaveLength(60);
  // Three messages run at a time, so only those three can overtake each other.
  for (const [place, id] of order.entries()) expect(Math.abs(place - id)).toBeLessThan(6);
});

test("serves waiting messages strictly in order with one connection", async () => {
  const { sink, transport } = await start({}, { maxConnections: 1 });
  const ids = Array.from({ length: 30 }, (_, index) => index);
  await Promise.all(ids.map((id) => transport.send(composeMail(id), saysYes)));
  expect(sink.journal.map(({ messageId }) => messageId)).toEqual(ids.map((id) => `<${id}@from.test>`));
});

test("replaces a connection with QUIT after its maximum number of messages", async () => {
  const { sink, transport } = await start({}, { maxConnections: 1, maxMessagesPerConnection: 2 });
  for (const id of [1, 2, 3, 4, 5]) await transport.send(composeMail(id), saysYes);
  expect(sink.journal.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
  expect(commandLines(sink).filter((line) => line === "QUIT")).toHaveLength(2);
  expect(sink.peakConnectionCount()).toBe(1);
});

test("closes an idle connection with QUIT after its idle time", async () => {
  const { sink, transport } = await start({}, { timeouts: { idleMs: 30 } });
  await transport.send(composeMail(1), saysYes);
  await sink.waitUntil(() => sink.openConnectionCount() === 0);
  expect(commandLines(sink).at(-1)).toBe("QUIT");
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.connectionCount()).toBe(2);
});

test("a message that arrives while an idle connection closes waits for its place", async () => {
  const rules = [{ phase: "QUIT", delayMs: 50 }] as const;
  const { sink, transport } = await start({ rules }, { maxConnections: 1, timeouts: { idleMs: 10 } });
  await transport.send(composeMail(1), saysYes);
  await sink.waitUntil(() => commandLines(sink).includes("QUIT"));
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.peakConnectionCount()).toBe(1);
  expect(sink.connectionCount()).toBe(2);
});

test("counts a connection until the server has closed it, not until the QUIT reply", async () => {
  const rules = [{ phase: "QUIT", times: 1, action: { bytes: "221 2.0.0 bye, in a moment\r\n" } }] as const;
  const { sink, transport } = await start({ rules }, { maxConnections: 1, maxMessagesPerConnection: 1 });
  await transport.send(composeMail(1), saysYes);
  const sending = transport.send(composeMail(2), saysYes);
  await sink.waitUntil(() => commandLines(sink).includes("QUIT"));
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  expect(sink.connectionCount()).toBe(1);
  sink.dropConnections();
  expect((await sending).kind).toBe("sent");
});

test("sends over a fresh connection when the server closed the idle one", async () => {
  const { sink, transport } = await start();
  await transport.send(composeMail(1), saysYes);
  sink.dropConnections();
  await sink.waitUntil(() => sink.openConnectionCount() === 0);
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.journal.map(({ connection }) => connection)).toEqual([1, 2]);
});

const staleFaults = {
  "421 at MAIL": { reply: "421 4.4.2 idle too long" },
  "a drop at MAIL": "drop",
  "a reset at MAIL": "reset",
} as const;

for (const [title, action] of Object.entries(staleFaults)) {
  test(`${title} on a pooled connection: resends over a fresh one with one pre-send check`, async () => {
    const { sink, transport } = await start({ rules: [{ phase: "MAIL", skip: 1, times: 1, action }] });
    await transport.send(composeMail(1), saysYes);
    let checkCalls = 0;
    const outcome = await transport.send(composeMail(2), async () => {
      checkCalls += 1;
      return true;
    });
    expect(outcome.kind).toBe("sent");
    expect(checkCalls).toBe(1);
    expect(sink.journal.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  test(`${title} on a fresh connection: defers without another attempt`, async () => {
    const { sink, transport } = await start({ rules: [{ phase: "MAIL", action }] });
    expect((await transport.send(composeMail(1), saysYes)).kind).toBe("deferred");
    expect(sink.connectionCount()).toBe(1);
  });

  test(`${title} on a pooled and then on the fresh connection: defers after that attempt`, async () => {
    const { sink, transport } = await start({ rules: [{ phase: "MAIL", skip: 1, action }] });
    await transport.send(composeMail(1), saysYes);
    expect((await transport.send(composeMail(2), saysYes)).kind).toBe("deferred");
    expect(sink.connectionCount()).toBe(2);
  });
}

test("reuses the connection after RSET when a message was rejected", async () => {
  const rules = [
    { phase: "RCPT", recipient: /^nobody@/, action: { reply: "550 5.1.1 no such user" } },
  ] as const;
  const { sink, transport } = await start({ rules }, { maxConnections: 1 });
  const outcomes = await Promise.all([
    transport.send(composeMail(1, { to: ["nobody@to.test"] }), saysYes),
    transport.send(composeMail(2), saysYes),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["rejected", "sent"]);
  expect(sink.connectionCount()).toBe(1);
  expect(commandLines(sink).filter((line) => line === "RSET")).toHaveLength(1);
});

test("keeps the dialogue in step when MAIL is rejected with pipelined RCPTs", async () => {
  const { sink, transport } = await start(
    { rules: [{ phase: "MAIL", times: 1, action: { reply: "550 5.7.1 not you" } }] },
    { maxConnections: 1 },
  );
  const outcomes = await Promise.all([
    transport.send(composeMail(1, { to: ["a@to.test", "b@to.test", "c@to.test"] }), saysYes),
    transport.send(composeMail(2, { to: ["a@to.test", "b@to.test"] }), saysYes),
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["rejected", "sent"]);
  expect(sink.connectionCount()).toBe(1);
  expect(sink.journal[0]?.recipients).toEqual(["a@to.test", "b@to.test"]);
});

test("sends the whole message except the dot before the pre-send check", async () => {
  const { sink, transport } = await start();
  const message = { ...composeMail(1), raw: Buffer.from(`Subject: x\r\n\r\n${".line\r\n".repeat(50_000)}`) };
  const bytesOnTheWire = message.raw.length + 50_000;
  const outcome = await transport.send(message, async () => {
    // The sink holds back the last octets in case they are the end, and counts the received ones.
    await sink.waitUntil(() => sink.bodyByteCount() === bytesOnTheWire);
    expect(sink.journal).toHaveLength(0);
    return true;
  });
  expect(outcome.kind).toBe("sent");
  expect(sink.bodyByteCount()).toBe(bytesOnTheWire + ".\r\n".length);
});

test("withdrawing a message closes its connection and the server does not accept it", async () => {
  const { sink, transport } = await start();
  expect(await transport.send(composeMail(1), async () => false)).toEqual({ kind: "withdrawn" });
  await sink.waitUntil(() => sink.openConnectionCount() === 0);
  expect(sink.journal).toHaveLength(0);
});

test("close sends QUIT on idle connections and accepts no further message", async () => {
  const { sink, transport } = await start();
  await Promise.all([1, 2, 3].map((id) => transport.send(composeMail(id), saysYes)));
  const open = sink.openConnectionCount();
  await transport.close();
  expect(commandLines(sink).filter((line) => line === "QUIT")).toHaveLength(open);
  expect(await transport.send(composeMail(4), saysYes)).toEqual({
    kind: "deferred",
    answer: "CONNECT: this process is ending",
  });
});

test("close waits for messages in the queue", async () => {
  const { sink, transport } = await start({}, { maxConnections: 1 });
  const sending = Promise.all([1, 2, 3, 4].map((id) => transport.send(composeMail(id), saysYes)));
  await transport.close();
  expect((await sending).map(({ kind }) => kind)).toEqual(["sent", "sent", "sent", "sent"]);
  expect(sink.journal).toHaveLength(4);
});

test("close ends at its deadline with a silent server: deferred before the dot, else uncertain", async () => {
  const { sink, transport } = await start(
    {
      rules: [
        { phase: "DATA", recipient: /^silent-data@/, action: "silent" },
        { phase: "DOT", recipient: /^silent-dot@/, accept: true, action: "silent" },
      ],
    },
    { timeouts: { closeMs: 100 } },
  );
  const sending = Promise.all([
    transport.send(composeMail(1, { to: ["silent-data@to.test"] }), saysYes),
    transport.send(composeMail(2, { to: ["silent-dot@to.test"] }), saysYes),
  ]);
  await sink.waitForMessages(1);
  await transport.close();
  expect((await sending).map(({ kind }) => kind)).toEqual(["deferred", "uncertain"]);
});

test("close ends at its deadline during a slow pre-send check and defers its message", async () => {
  const { sink, transport } = await start({}, { timeouts: { closeMs: 50 } });
  const held = Promise.withResolvers<boolean>();
  const asked = Promise.withResolvers<void>();
  const sending = transport.send(composeMail(1), () => {
    asked.resolve();
    return held.promise;
  });
  await asked.promise;
  await transport.close();
  held.resolve(true);
  expect((await sending).kind).toBe("deferred");
  expect(sink.journal).toHaveLength(0);
});

test("close at its deadline defers messages queued behind a pre-send check that never ends", async () => {
  const { transport } = await start({}, { maxConnections: 1, timeouts: { closeMs: 50 } });
  void transport.send(composeMail(1), () => new Promise(() => undefined));
  const waiting = transport.send(composeMail(2), saysYes);
  await transport.close();
  expect((await waiting).kind).toBe("deferred");
});

test("close at its deadline does not reconnect for a pooled connection that it ended", async () => {
  const { sink, transport } = await start(
    { rules: [{ phase: "MAIL", skip: 1, action: "silent" }] },
    { timeouts: { closeMs: 50 } },
  );
  await transport.send(composeMail(1), saysYes);
  const sending = transport.send(composeMail(2), saysYes);
  await transport.close();
  expect((await sending).kind).toBe("deferred");
  expect(sink.connectionCount()).toBe(1);
});

test("close at its deadline defers messages that wait for a connection", async () => {
  const { sink, transport } = await start(
    { rules: [{ phase: "DOT", times: 1, accept: true, action: "silent" }] },
    { maxConnections: 1, timeouts: { closeMs: 50 } },
  );
  const sending = Promise.all([1, 2, 3].map((id) => transport.send(composeMail(id), saysYes)));
  await sink.waitForMessages(1);
  await transport.close();
  expect((await sending).map(({ kind }) => kind)).toEqual(["uncertain", "deferred", "deferred"]);
  expect(sink.journal).toHaveLength(1);
  expect(sink.connectionCount()).toBe(1);
});

const rewrittenBy = (host: string) =>
  createSmtpTransport({ url: { host, port: 587, secure: false }, heloName: "x.test" }).rewrites;

test("excludes fields that Amazon SES rewrites over SMTP from signing, but no other server's", () => {
  const fields = ["date", "message-id", "feedback-id"];
  expect(rewrittenBy("email-smtp.eu-west-1.amazonaws.com")).toEqual(fields);
  expect(rewrittenBy("email-smtp-fips.us-gov-west-1.amazonaws.com")).toEqual(fields);
  expect(rewrittenBy("smtp.example.com")).toBeUndefined();
  expect(rewrittenBy("email-smtp.eu-west-1.amazonaws.com.example.org")).toBeUndefined();
});

test("rejects invalid settings", () => {
  const url = { host: "127.0.0.1", port: 25, secure: false };
  expect(() => createSmtpTransport({ url, heloName: "a b" })).toThrow("HELO name");
  expect(() => createSmtpTransport({ url, heloName: "a\r\nRSET" })).toThrow("HELO name");
  expect(() => createSmtpTransport({ url, heloName: "a.test", maxConnections: 0 })).toThrow("maxConnections");
  expect(() => createSmtpTransport({ url, heloName: "a.test", maxMessagesPerConnection: 0.5 })).toThrow(
    "maxMessages",
  );
});
