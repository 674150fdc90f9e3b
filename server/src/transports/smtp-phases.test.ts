// Tests every phase of the dialogue with every kind of fault, and that the transport works afterwards.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { armFailpoints } from "../platform/failpoints.ts";
import type { SmtpSink } from "../testing/smtp-sink.ts";
import type { SinkAction, SinkPhase } from "../testing/smtp-sink-rules.ts";
import { composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";
import { createSmtpTransport } from "./smtp.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import type { Outcome, Transport } from "./transport.ts";

const start = useSmtp();
const SILENCE_MS = 100;
const MEGABYTE = 1024 * 1024;
const TEN_MEGABYTES_OF_A = Buffer.alloc(10 * MEGABYTE, "a");

interface Row {
  phase: SinkPhase;
  timeout: keyof SmtpTimeouts;
  /** The outcome for each class of reply code, and for a connection that breaks or sends no proper reply. */
  outcomes: Record<"4xx" | "5xx" | "421" | "2xx" | "3xx" | "broken", Expected>;
}
/** `outage`: deferred for reasons that need not affect another server. */
type Expected = Outcome["kind"] | "outage";

function row(phase: SinkPhase, timeout: keyof SmtpTimeouts, outcomes: string): Row {
  const kinds = outcomes.trim().split(/\s+/).map(toKind);
  const [x4 = "sent", x5 = "sent", x421 = "sent", x2 = "sent", x3 = "sent", broken = "sent"] = kinds;
  return { phase, timeout, outcomes: { "4xx": x4, "5xx": x5, "421": x421, "2xx": x2, "3xx": x3, broken } };
}

function toKind(text: string): Expected {
  if (
    text === "outage" ||
    text === "sent" ||
    text === "deferred" ||
    text === "rejected" ||
    text === "uncertain"
  )
    return text;
  throw new Error(`no outcome: ${text}`);
}

// Failures of the connection or login are never about the message, so even 5xx is an outage there. The 2xx and 3xx columns are unexpected
// codes.
// After MAIL, RCPT and the dot any 2xx is a success (RFC 5321 §4.3.2: clients look at the first digit).
const rows: Row[] = [
  //                            4xx       5xx       421       2xx       3xx       broken
  row("CONNECT", "greetingMs", "outage    outage    outage    outage    outage    outage"),
  row("EHLO", "helloMs", "      outage    outage    outage    outage    outage    outage"),
  row("STARTTLS", "tlsMs", "    outage    outage    outage    outage    outage    outage"),
  row("TLS", "tlsMs", "         outage    outage    outage    outage    outage    outage"),
  row("AUTH", "authMs", "       outage    outage    outage    outage    outage    outage"),
  row("MAIL", "mailMs", "       deferred  rejected  outage    sent      outage    outage"),
  row("RCPT", "recipientMs", "  deferred  rejected  outage    sent      outage    outage"),
  row("DATA", "dataMs", "       deferred  rejected  outage    outage    outage    outage"),
  row("BODY", "dataBlockMs", "  deferred  rejected  outage    outage    outage    outage"),
  row("DOT", "finalDotMs", "    deferred  rejected  outage    sent      uncertain uncertain"),
];

interface Fault {
  title: string;
  column: keyof Row["outcomes"];
  action: SinkAction;
  /** The sink stores a message when it replies 2xx or 3xx, however garbled, so the client must treat such replies as uncertain. */
  isTaken?: boolean;
}

const faults: Fault[] = [
  { title: "4xx", column: "4xx", action: { reply: "451 4.3.0 later" } },
  { title: "5xx", column: "5xx", action: { reply: "554 5.0.0 never" } },
  { title: "421", column: "421", action: { reply: "421 4.3.2 closing" } },
  { title: "another 2xx", column: "2xx", action: { reply: "252 2.0.0 perhaps" }, isTaken: true },
  { title: "another 3xx", column: "3xx", action: { reply: "399 3.0.0 go on" }, isTaken: true },
  { title: "a drop", column: "broken", action: "drop" },
  { title: "a reset", column: "broken", action: "reset" },
  { title: "silence", column: "broken", action: "silent" },
  { title: "text that is not a reply", column: "broken", action: { bytes: "hello\r\n" } },
  {
    title: "random bytes",
    column: "broken",
    action: { bytes: Buffer.concat([Buffer.from("\0\n"), randomBytes(65_536)]) },
  },
  { title: "a code out of range", column: "broken", action: { reply: "999 9.9.9 what" } },
  {
    title: "a line over 4 KB",
    column: "broken",
    action: { reply: `250 ${"a".repeat(5_000)}` },
    isTaken: true,
  },
  {
    title: "200 lines",
    column: "broken",
    action: { reply: `${"250-a\r\n".repeat(200)}250 b` },
    isTaken: true,
  },
  { title: "10 MB without a line end", column: "broken", action: { bytes: TEN_MEGABYTES_OF_A } },
];

const cases = rows.flatMap(({ phase, timeout, outcomes }) =>
  faults.flatMap(({ title, column, action, isTaken = false }) => {
    const timeouts = action === "silent" ? { [timeout]: SILENCE_MS } : {};
    return [true, false].map((pipelining) => {
      // Its command may have been lost in the group, so the client retries with single commands.
      const isTriedAlone = action === "silent" && pipelining && (phase === "RCPT" || phase === "DATA");
      const expected = isTriedAlone ? ("sent" as const) : outcomes[column];
      return {
        title,
        phase,
        expected,
        pipelining,
        action,
        journalled: expected === "sent" || (phase === "DOT" && isTaken),
        timeouts,
        // 421 and 451 signal throttling, but during the handshake they are noise.
        isThrottled: (title === "4xx" || title === "421") && phase !== "TLS",
      };
    });
  }),
);
type Case = (typeof cases)[number];

async function expectOutcome(input: Case): Promise<{ sink: SmtpSink; transport: Transport }> {
  const { phase, action, expected, pipelining, journalled, timeouts, isThrottled } = input;
  const rule = { phase, times: 1, action };
  const { sink, transport } = await start(
    {
      advertise: { pipelining, startTls: true, auth: ["PLAIN"] },
      credentials: { user: "bob", password: "secret" },
      rules: phase === "EHLO" ? [rule, { ...rule, phase: "HELO" }] : [rule],
    },
    { url: { user: "bob", password: "secret", requireTls: true }, maxConnections: 1, timeouts },
  );
  // Exceeds the socket buffers, so the client notices events mid-transfer.
  const text = phase === "BODY" ? `${"x".repeat(62)}\r\n`.repeat(MEGABYTE / 8) : "hello\r\n";
  let checkCalls = 0;
  const outcome = await transport.send(
    composeMail(1, { raw: `Message-ID: <1@from.test>\r\n\r\n${text}` }),
    async () => {
      checkCalls += 1;
      return true;
    },
  );
  expect(outcome).toEqual({
    ...(expected === "outage" ? { kind: "deferred", outage: true } : { kind: expected }),
    ...(isThrottled ? { throttled: true } : {}),
    ...(expected === "rejected" ? { meaning: "policy" } : {}),
    answer: expect.stringMatching(/^[\x20-\x7e]{1,500}$/),
  });
  expect(checkCalls).toBe(phase === "DOT" || expected === "sent" ? 1 : 0);
  expect(sink.journal).toHaveLength(journalled ? 1 : 0);
  return { sink, transport };
}

test.each(cases.filter(({ action }) => action !== "silent"))(
  "$title at $phase is $expected and the next message is sent (pipelining $pipelining)",
  async (input) => {
    const { sink, transport } = await expectOutcome(input);
    sink.clear();
    expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
    expect(sink.journal).toMatchObject([{ messageId: "<2@from.test>", isEncrypted: true, user: "bob" }]);
  },
);

test.each(cases.filter(({ action }) => action === "silent"))(
  "$title at $phase is $expected (pipelining $pipelining)",
  async (input) => {
    expect(await expectOutcome(input)).toBeDefined();
  },
);

test.each([
  ["CONNECT", "421 4.7.0 too busy"],
  ["MAIL", "550 5.7.1 not from you"],
  ["RCPT", "550 5.1.1 no such user"],
  ["DATA", "451 4.3.0 disk full"],
  ["DOT", "554 5.7.1 spam"],
] as const)("includes %s and the server's words in the reply", async (phase, reply) => {
  const { transport } = await start({ rules: [{ phase, action: { reply } }] });
  expect(await transport.send(composeMail(1), saysYes)).toMatchObject({ answer: `${phase}: ${reply}` });
});

test("uses HELO when the server does not support EHLO", async () => {
  const { sink, transport } = await start({
    rules: [
      { phase: "EHLO", action: { reply: "502 5.5.1 what?" } },
      { phase: "MAIL", skip: 1, action: "drop" },
    ],
  });
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  expect(sink.journal[0]?.mailParameters).toBe("");
  expect(sink.commands.map(({ line }) => line)).toEqual([
    "EHLO client.test",
    "HELO client.test",
    "MAIL FROM:<sender@from.test>",
    "RCPT TO:<bob@to.test>",
    "DATA",
  ]);
});

async function sendTo(port: number, timeouts: Partial<SmtpTimeouts>): Promise<Outcome> {
  const url = { host: "127.0.0.1", port, secure: false };
  const transport = createSmtpTransport({ url, heloName: "client.test", timeouts });
  const outcome = await transport.send(composeMail(1), saysYes);
  await transport.close();
  return outcome;
}

async function withServer(
  onSocket: (socket: Socket) => void,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  try {
    await use(address.port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  }
}

test("defers with the reason when the port is closed", async () => {
  let closedPort = 0;
  await withServer(
    () => undefined,
    async (port) => void (closedPort = port),
  );
  expect(await sendTo(closedPort, {})).toEqual({
    kind: "deferred",
    answer: expect.stringMatching(/^CONNECT: connect ECONNREFUSED 127\.0\.0\.1/),
    outage: true,
  });
});

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("2"), 10);
  socket.on("close", () => clearInterval(timer));
}

test("bounds a greeting that arrives byte by byte by the total time", async () => {
  await withServer(drip, async (port) => {
    expect(await sendTo(port, { greetingMs: 150 })).toEqual({
      kind: "deferred",
      answer: "CONNECT: no reply within 0.15 s",
      outage: true,
    });
  });
});

test("disconnects a server that sends endless unexpected replies without storing them", async () => {
  let writtenBytes = 0;
  const flood = (socket: Socket): void => {
    const chunk = Buffer.from("250 ok\r\n".repeat(8_192));
    socket.write("220 hello\r\n");
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk)) writtenBytes += chunk.length;
    };
    socket.on("drain", write);
    write();
  };
  await withServer(flood, async (port) => {
    expect(await sendTo(port, {})).toEqual({
      kind: "deferred",
      answer: expect.stringContaining("more replies than"),
      outage: true,
    });
  });
  expect(writtenBytes).toBeLessThan(20 * MEGABYTE);
});

test("does not accept a reply before the dot as the reply to the dot", async () => {
  const { sink, transport } = await start({
    rules: [
      { phase: "DATA", action: { reply: "354 go ahead\r\n250 2.0.0 already taken" } },
      { phase: "DOT", action: "drop" },
    ],
  });
  const outcome = await transport.send(composeMail(1), saysYes);
  expect(outcome).toEqual({
    kind: "deferred",
    answer: "BODY: unexpected reply 250 2.0.0 already taken",
    outage: true,
  });
  expect(sink.journal).toHaveLength(0);
});

test("defers without writing the dot when the server closes during the pre-send check", async () => {
  const { sink, transport } = await start();
  const outcome = await transport.send(composeMail(1), async () => {
    sink.dropConnections();
    await sink.waitUntil(() => sink.openConnectionCount() === 0);
    // The end of the connection reaches the client after a few turns of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    return true;
  });
  expect(outcome).toEqual({ kind: "deferred", answer: expect.stringMatching(/^BODY: /), outage: true });
});

test("rejects without writing the dot when the server refuses during the pre-send check", async () => {
  const { sink, transport } = await start({
    rules: [{ phase: "BODY", action: { reply: "552 5.3.4 that is too much" } }],
  });
  const outcome = await transport.send(composeMail(1), async () => {
    await sink.waitUntil(() => sink.bodyByteCount() > 0);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    return true;
  });
  expect(outcome).toEqual({
    kind: "rejected",
    answer: "BODY: 552 5.3.4 that is too much",
    meaning: "message",
  });
  expect(sink.journal).toHaveLength(0);
});

test("reports sent when noise follows the final reply, and drops the connection", async () => {
  const { sink, transport } = await start({
    rules: [{ phase: "DOT", times: 1, action: { reply: "250 2.0.0 taken\r\n250 2.0.0 taken again" } }],
  });
  expect(await transport.send(composeMail(1), saysYes)).toEqual({ kind: "sent", answer: "250 2.0.0 taken" });
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.journal.map(({ connection }) => connection)).toEqual([1, 2]);
});

test("leaves the message in doubt after our own error following the dot", async () => {
  const { sink, transport } = await start();
  armFailpoints([{ name: "dot.after", action: "throw", turn: 1 }]);
  const outcome = await transport.send(composeMail(1), saysYes).finally(() => armFailpoints([]));
  expect(outcome).toEqual({ kind: "uncertain", answer: "the failpoint dot.after was reached" });
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.journal.length).toBeGreaterThan(0);
});
