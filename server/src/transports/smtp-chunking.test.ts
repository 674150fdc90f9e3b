// Tests BDAT with every combination of replies: what is certain stays certain, and only what a server may have accepted is in doubt.
import { expect, test } from "vitest";
import { armFailpoints } from "../platform/failpoints.ts";
import type { SmtpSink } from "../testing/smtp-sink.ts";
import type { SinkAction, SinkPhase, SinkRule } from "../testing/smtp-sink-rules.ts";
import { commandLines, composeMail, saysYes, useSmtp } from "../testing/smtp-fixture.ts";
import type { SmtpTimeouts } from "./smtp-timeouts.ts";
import type { MayLeave, Transport } from "./transport.ts";

const start = useSmtp();
const FOREVER_MS = 600_000;
const SILENCE_MS = 150;
/** Would send a second email if a server read it as commands. */
const COMMANDS =
  "Message-ID: <1@from.test>\r\nSubject: SMTP\r\n\r\nRSET\r\nMAIL FROM:<a@evil.test>\r\nRCPT TO:<b@evil.test>\r\nDATA\r\n.\r\n..a\r\n.\r\n";

/** Starts with one connection, which already sent a message with BDAT if `isWarm`. */
async function startChunking(
  isWarm: boolean,
  timeouts: Partial<SmtpTimeouts> = {},
): Promise<{ sink: SmtpSink; transport: Transport }> {
  const server = await start(
    { advertise: { chunking: true } },
    { maxConnections: 1, timeouts: { atOnceMs: FOREVER_MS, ...timeouts } },
  );
  if (isWarm) await server.transport.send(composeMail(0), saysYes);
  server.sink.clear();
  return server;
}

const reply = (phase: SinkPhase, text: string): SinkRule => ({ phase, times: 1, action: { reply: text } });
const act = (phase: SinkPhase, action: SinkAction, accept = false): SinkRule => ({
  phase,
  times: 1,
  action,
  ...(accept ? { accept } : {}),
});

interface Row {
  rules: readonly SinkRule[];
  /** The kind of the outcome, and the beginning of its text. */
  outcome: readonly [kind: string, text: string];
  /** Number of pre-send checks. */
  asked: number;
  /** Number of connections used by this message and the next one. */
  connections: number;
  /** How the next message is sent. Default: BDAT. */
  next?: "DATA";
  /** Whether the server accepted the message. Default: if it is sent. */
  taken?: boolean;
  timeouts?: Partial<SmtpTimeouts>;
}

const row = (
  rules: readonly SinkRule[],
  outcome: Row["outcome"],
  [asked, connections]: readonly [number, number],
  rest: Partial<Row> = {},
): Row => ({ rules, outcome, asked, connections, ...rest });

/** The whole message is written before the first reply, so a lost reply leaves it in doubt. */
const inOneWrite: Row[] = [
  row([], ["sent", "250 2.0.0 taken"], [1, 1]),
  row([reply("RCPT", "252 2.1.5 perhaps")], ["sent", "250"], [1, 1]),
  // A rejected sender or recipient: nothing is delivered, whatever follows.
  row([reply("MAIL", "550 5.7.1 not you")], ["rejected", "MAIL: 550"], [1, 1]),
  row([reply("MAIL", "450 4.1.0 later")], ["deferred", "MAIL: 450"], [1, 1]),
  row([reply("MAIL", "421 4.3.2 closing")], ["sent", "250"], [2, 2]),
  row([reply("RCPT", "550 5.1.1 unknown")], ["rejected", "RCPT: 550"], [1, 1]),
  row([reply("RCPT", "452 4.2.2 full")], ["deferred", "RCPT: 452"], [1, 1]),
  row([reply("RCPT", "421 4.3.2 closing")], ["deferred", "RCPT: 421"], [1, 2]),
  row([reply("RCPT", "550 no"), reply("NOBODY", "554 5.5.1 none")], ["rejected", "RCPT: 550"], [1, 1]),
  row([reply("RCPT", "550 no"), reply("NOBODY", "250 2.0.0 ok")], ["rejected", "RCPT: 550"], [1, 1]),
  row([reply("RCPT", "550 no"), reply("NOBODY", "451 later")], ["rejected", "RCPT: 550"], [1, 1]),
  row([reply("RCPT", "550 no"), act("NOBODY", "drop")], ["rejected", "RCPT: 550"], [1, 2]),
  row([reply("MAIL", "550 no"), act("NOBODY", "silent")], ["rejected", "MAIL: 550"], [1, 2], {
    timeouts: { resetMs: SILENCE_MS },
  }),
  // A rejected message.
  row([reply("DOT", "554 5.7.1 spam")], ["rejected", "DOT: 554"], [1, 1]),
  row([reply("DOT", "452 4.3.1 disk")], ["deferred", "DOT: 452"], [1, 1]),
  row([reply("DOT", "421 4.3.2 closing")], ["deferred", "DOT: 421"], [1, 2]),
  // A lost or meaningless reply.
  row([act("MAIL", "drop")], ["uncertain", "MAIL: "], [1, 2]),
  row([act("MAIL", "silent")], ["uncertain", "MAIL: no reply"], [1, 2], { timeouts: { mailMs: SILENCE_MS } }),
  row([act("MAIL", { bytes: "hello\r\n" })], ["uncertain", "MAIL: "], [1, 2]),
  row([reply("MAIL", "354 go ahead")], ["uncertain", "MAIL: unexpected reply 354"], [1, 2], { taken: true }),
  row([act("RCPT", "reset")], ["uncertain", "RCPT: "], [1, 2]),
  row([act("RCPT", "silent")], ["uncertain", "RCPT: "], [1, 2], { timeouts: { recipientMs: SILENCE_MS } }),
  row([act("BODY", "drop")], ["uncertain", ""], [1, 2]),
  row([act("DOT", "drop")], ["uncertain", "DOT: "], [1, 2]),
  row([act("DOT", "reset", true)], ["uncertain", "DOT: "], [1, 2], { taken: true }),
  row([act("DOT", "silent", true)], ["uncertain", "DOT: "], [1, 2], {
    taken: true,
    timeouts: { finalDotMs: SILENCE_MS },
  }),
  row([reply("DOT", "399 3.0.0 go on")], ["uncertain", "DOT: unexpected reply 399"], [1, 2], { taken: true }),
  // A server that no longer supports BDAT, or loses commands.
  row([reply("DOT", "500 5.5.1 what?")], ["sent", "250"], [2, 2], { next: "DATA" }),
  row([reply("DOT", "502 5.5.1 not here")], ["sent", "250"], [2, 2], { next: "DATA" }),
  row([reply("DOT", "554 5.5.1 bad command")], ["sent", "250"], [2, 2], { next: "DATA" }),
  row([act("MAIL", "swallow-next")], ["sent", "250"], [2, 2], { next: "DATA" }),
];

/** The first message of a connection writes one line and waits, so only the rest of the message can be in doubt. */
const inTwoWrites: Row[] = [
  row([], ["sent", "250 2.0.0 taken"], [1, 1]),
  row([reply("MAIL", "550 5.7.1 not you")], ["rejected", "MAIL: 550"], [0, 1]),
  row([reply("RCPT", "550 5.1.1 unknown")], ["rejected", "RCPT: 550"], [0, 1]),
  row([reply("RCPT", "452 4.2.2 full"), reply("NOBODY", "250 ok")], ["deferred", "RCPT: 452"], [0, 1]),
  row([act("MAIL", "drop")], ["deferred", "MAIL: "], [0, 2]),
  row([act("RCPT", "reset")], ["deferred", "RCPT: "], [0, 2]),
  row([act("CHUNK", "drop")], ["deferred", "BDAT: "], [0, 2]),
  row([reply("CHUNK", "552 5.3.4 too big")], ["rejected", "BDAT: 552"], [0, 1]),
  row([reply("CHUNK", "452 4.3.1 disk")], ["deferred", "BDAT: 452"], [0, 1]),
  row([reply("CHUNK", "421 4.3.2 closing")], ["deferred", "BDAT: 421"], [0, 2]),
  row([reply("CHUNK", "354 go ahead")], ["deferred", "BDAT: unexpected reply 354"], [0, 2]),
  row([reply("DOT", "554 5.7.1 spam")], ["rejected", "DOT: 554"], [1, 1]),
  row([act("DOT", "drop", true)], ["uncertain", "DOT: "], [1, 2], { taken: true }),
  row([act("BODY", "drop")], ["uncertain", "DOT: "], [1, 2]),
  // A server that offers BDAT and does not support it reads the chunk as commands.
  ...["500 5.5.1 what?", "501 5.5.4 what?", "502 not here", "503 not now", "504 no", "554 5.5.1 bad"].map(
    (text) => row([{ phase: "BDAT", action: { reply: text } }], ["sent", "250"], [1, 2], { next: "DATA" }),
  ),
  row([act("BDAT", "silent")], ["sent", "250"], [1, 2], {
    next: "DATA",
    timeouts: { pipelineMs: SILENCE_MS },
  }),
  row([reply("DOT", "502 not here")], ["sent", "250"], [2, 2], { next: "DATA" }),
  row([act("MAIL", "swallow-next")], ["sent", "250"], [1, 2], { next: "DATA" }),
  row([act("RCPT", "swallow")], ["sent", "250"], [1, 2], {
    next: "DATA",
    timeouts: { pipelineMs: SILENCE_MS },
  }),
];

const cases = [
  ...inOneWrite.map((input) => [true, input] as const),
  ...inTwoWrites.map((input) => [false, input] as const),
];

test.each(
  cases.map(([isWarm, input]) => ({
    isWarm,
    title: `${isWarm ? "one write" : "two writes"}, ${JSON.stringify(input.rules)}`,
    input,
  })),
)("$title has the right outcome, and the next message is sent", async ({ isWarm, input }) => {
  const { rules, outcome, asked, connections, next = "BDAT", timeouts = {} } = input;
  const { sink, transport } = await startChunking(isWarm, timeouts);
  const before = sink.connectionCount();
  sink.setRules(rules);
  const seenAtChecks: number[] = [];
  const mayLeave: MayLeave = async () => {
    seenAtChecks.push(sink.commands.length);
    return sink.journal.length === 0;
  };
  const mail = composeMail(1, { raw: COMMANDS });
  const ended = await transport.send(mail, mayLeave);
  // Its kind and the words of the server.
  expect(Object.values(ended).slice(0, 2)).toEqual([
    outcome[0],
    expect.stringMatching(new RegExp(`^${outcome[1]}`)),
  ]);
  expect(seenAtChecks).toHaveLength(asked);
  // With one write the server sees nothing before the check.
  expect(seenAtChecks.slice(0, isWarm ? 1 : 0).every((count) => count === 0)).toBe(true);
  expect(sink.journal.map(({ raw }) => raw.toString())).toEqual(
    (input.taken ?? ended.kind === "sent") ? [COMMANDS] : [],
  );
  sink.clear();
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect(sink.journal.map(({ messageId }) => messageId)).toEqual(["<2@from.test>"]);
  expect(sink.connectionCount() - before + (isWarm ? 1 : 0)).toBe(connections);
  expect(commandLines(sink).some((line) => line.startsWith(next))).toBe(true);
});

test("sends MAIL, RCPT and the message in one write after the first message of a connection", async () => {
  const { sink, transport } = await startChunking(false);
  const raw = "Subject: x\r\n\r\n.dots\r\n.\r\nno line end";
  for (const id of [1, 2]) await transport.send(composeMail(id, { raw }), saysYes);
  const whole = `${raw}\r\n`;
  const mail = ["MAIL FROM:<sender@from.test> BODY=8BITMIME", "RCPT TO:<bob@to.test>"];
  const first = "Subject: x\r\n".length;
  expect(commandLines(sink)).toEqual([
    "EHLO client.test",
    ...mail,
    `BDAT ${first}`,
    `BDAT ${whole.length - first} LAST`,
    ...mail,
    `BDAT ${whole.length} LAST`,
  ]);
  expect(sink.journal.map((message) => message.raw.toString())).toEqual([whole, whole]);
});

test("keeps groups of commands for a server that does not reply to BDAT", async () => {
  const { sink, transport } = await startChunking(false, { pipelineMs: SILENCE_MS });
  sink.setRules([act("BDAT", "silent")]);
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe("sent");
  sink.clear();
  sink.setRules([reply("MAIL", "550 5.7.1 not you")]);
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("rejected");
  expect(commandLines(sink).map((line) => line.slice(0, 4))).toEqual(
    expect.arrayContaining(["MAIL", "RCPT", "DATA"]),
  );
});

test("waits for replies again on a connection that was idle, so that a dead one leaves no doubt", async () => {
  const { sink, transport } = await startChunking(true, { atOnceMs: 0 });
  sink.setRules([act("MAIL", "drop")]);
  let checks = 0;
  expect((await transport.send(composeMail(1), async () => ++checks > 0)).kind).toBe("sent");
  expect([checks, sink.connectionCount(), sink.journal.length]).toEqual([1, 2, 1]);
});

test("sends over a fresh connection when the server closes during the pre-send check", async () => {
  const { sink, transport } = await startChunking(true);
  let checks = 0;
  const outcome = await transport.send(composeMail(1), async () => {
    checks += 1;
    if (checks > 1) return true;
    sink.dropConnections();
    await sink.waitUntil(() => sink.openConnectionCount() === 0);
    // The end of the connection reaches the client after a few turns of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    return true;
  });
  expect([outcome.kind, checks, sink.journal.length]).toEqual(["sent", 2, 1]);
});

test("withdraws a message before its first command and keeps the connection", async () => {
  const { sink, transport } = await startChunking(true);
  expect(await transport.send(composeMail(1), async () => false)).toEqual({ kind: "withdrawn" });
  expect(sink.commands).toEqual([]);
  expect((await transport.send(composeMail(2), saysYes)).kind).toBe("sent");
  expect([sink.connectionCount(), sink.journal.length]).toEqual([1, 1]);
});

test("leaves a message in doubt after our own error following the write, but not before it", async () => {
  const { sink, transport } = await startChunking(true);
  armFailpoints([{ name: "dot.before", action: "throw", turn: 1 }]);
  await expect(transport.send(composeMail(1), saysYes)).rejects.toThrow("dot.before");
  armFailpoints([]);
  expect(sink.commands).toEqual([]);
  await transport.send(composeMail(2), saysYes);
  armFailpoints([{ name: "dot.after", action: "throw", turn: 1 }]);
  const outcome = await transport.send(composeMail(3), saysYes).finally(() => armFailpoints([]));
  expect(outcome.kind).toBe("uncertain");
});

test.each([
  ["without PIPELINING", { pipelining: false }, {}],
  ["with several recipients", {}, { to: ["bob@to.test", "carol@to.test"] }],
  ["for a large message", {}, { raw: `Subject: x\r\n\r\n${"x".repeat(70)}\r\n`.repeat(4_000) }],
  ["for a message of one line", {}, { raw: "Subject: x\r\n" }],
])("uses DATA %s", async (_title, advertise, parts) => {
  const { sink, transport } = await start({ advertise: { chunking: true, ...advertise } });
  for (const id of [1, 2]) expect((await transport.send(composeMail(id, parts), saysYes)).kind).toBe("sent");
  expect(commandLines(sink).filter((line) => line === "DATA")).toHaveLength(2);
  expect(commandLines(sink).some((line) => line.startsWith("BDAT"))).toBe(false);
  expect(sink.connectionCount()).toBe(1);
});

test("uses BDAT when it is offered only after STARTTLS, with the parameters of MAIL", async () => {
  const { sink, transport } = await start({
    advertise: { chunking: true, startTls: true, sizeBytes: 1_000 },
  });
  const jurgen = { ...composeMail(1, { to: ["jürgen@to.test"] }), needsSmtpUtf8: true };
  for (const mail of [jurgen, composeMail(2)]) await transport.send(mail, saysYes);
  expect(
    sink.commands.filter(({ line }) => line.startsWith("BDAT")).every(({ isEncrypted }) => isEncrypted),
  ).toBe(true);
  expect(commandLines(sink)).not.toContain("DATA");
  expect(sink.journal.map(({ mailParameters }) => mailParameters)).toEqual([
    `SIZE=${jurgen.raw.length} BODY=8BITMIME SMTPUTF8`,
    `SIZE=${jurgen.raw.length} BODY=8BITMIME`,
  ]);
});
