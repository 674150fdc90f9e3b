// Tests a list of transports: the contract with a dead entry, the distribution of messages, and that none is sent twice.
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createLog } from "../platform/log.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { composeMail, saysYes } from "../testing/smtp-fixture.ts";
import { createFailoverTransport, type FailoverChoice, type FailoverOptions } from "./failover.ts";
import { createSmtpTransport } from "./smtp.ts";
import { testTransportContract } from "./transport-contract.ts";
import type { MayLeave, Outcome, OutgoingMessage, Transport } from "./transport.ts";

const RUNS = 300;
const log = createLog({ level: "silent" });
const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function smtpTo(port: number): FailoverChoice {
  const url = { host: "127.0.0.1", port, secure: false };
  const transport = createSmtpTransport({ url, heloName: "client.test", maxConnections: 5 });
  return { transport, label: `smtp://127.0.0.1:${port}` };
}

testTransportContract("a list of a dead and a living SMTP server", async () => {
  const dead = await startSmtpSink();
  await dead.close();
  const sink = await startSmtpSink();
  return {
    transport: createFailoverTransport([smtpTo(dead.port), smtpTo(sink.port)], { log }),
    received: async () =>
      sink.journal.map(({ raw, sender, recipients }) => ({
        raw,
        envelope: { from: sender, to: recipients },
      })),
    close: () => sink.close(),
  };
});

test("takes return paths if one of its transports does", () => {
  const [smtp, other] = [smtpTo(1), { ...smtpTo(1).transport, takesReturnPath: false }];
  cleanups.push(smtp.transport.close);
  const lists = [listOf([other, smtp.transport]), listOf([other, other])];
  const taken = lists.map((list) => createFailoverTransport(list, { log }).takesReturnPath);
  expect(taken).toEqual([true, false]);
});

test("moves a message throttled at the dot to the next server with a second pre-send check", async () => {
  const throttling = await startSmtpSink({
    rules: [{ phase: "DOT", action: { reply: "454 Throttling failure: Daily message quota exceeded." } }],
  });
  const sink = await startSmtpSink();
  const transport = createFailoverTransport([smtpTo(throttling.port), smtpTo(sink.port)], { log });
  cleanups.push(throttling.close, sink.close, transport.close);
  let checkCalls = 0;
  const outcome = await transport.send(composeMail(1), async () => {
    checkCalls += 1;
    return true;
  });
  expect(outcome.kind).toBe("sent");
  expect(checkCalls).toBe(2);
  expect([throttling.journal.length, sink.journal.length]).toEqual([0, 1]);
});

test.each([
  ["a recipient refused for now", { phase: "RCPT", action: { reply: "450 4.2.1 busy" } }, "deferred"],
  ["a recipient refused", { phase: "RCPT", action: { reply: "550 5.1.1 nobody" } }, "rejected"],
  ["content refused", { phase: "DOT", action: { reply: "554 5.7.1 spam" } }, "rejected"],
  ["a connection lost after the dot", { phase: "DOT", action: "drop", accept: true }, "uncertain"],
] as const)("%s stays with the first server and never reaches the second", async (_title, rule, kind) => {
  const first = await startSmtpSink({ rules: [rule] });
  const second = await startSmtpSink();
  const transport = createFailoverTransport([smtpTo(first.port), smtpTo(second.port)], { log });
  cleanups.push(first.close, second.close, transport.close);
  expect((await transport.send(composeMail(1), saysYes)).kind).toBe(kind);
  expect(second.connectionCount()).toBe(0);
});

/** Behavior of one transport for one message, with or without a preceding pre-send check. */
interface Play {
  outcome: Outcome;
  asksCheck: boolean;
  /** For `uncertain`: whether the server has the message. */
  taken?: boolean;
}

const OUTAGE: Play = { outcome: { kind: "deferred", answer: "down", outage: true }, asksCheck: false };
const LATE_OUTAGE: Play = { ...OUTAGE, asksCheck: true };
const SENT: Play = { outcome: { kind: "sent", answer: "250 ok" }, asksCheck: true, taken: true };

interface Scripted extends Transport {
  readonly seen: string[];
  readonly taken: string[];
}

function createScripted(name: string, play: (message: OutgoingMessage) => Play): Scripted {
  const seen: string[] = [];
  const taken: string[] = [];
  return {
    name,
    seen,
    taken,
    async send(message, mayLeave) {
      seen.push(message.emailId);
      const { outcome, asksCheck, taken: isTaken = false } = play(message);
      await Promise.resolve();
      if (asksCheck && !(await mayLeave())) return { kind: "withdrawn" };
      if (isTaken) taken.push(message.emailId);
      return outcome;
    },
    close: async () => undefined,
  };
}

function listOf(transports: readonly Transport[], weights: readonly (number | undefined)[] = []) {
  return transports.map((transport, at): FailoverChoice => {
    const weight = weights[at];
    return { transport, label: transport.name, ...(weight === undefined ? {} : { weight }) };
  });
}

const anyPlay = fc.constantFrom<Play>(
  SENT,
  OUTAGE,
  LATE_OUTAGE,
  { outcome: { kind: "deferred", answer: "450 not now" }, asksCheck: false },
  { outcome: { kind: "deferred", answer: "451 not now" }, asksCheck: true },
  { outcome: { kind: "rejected", answer: "550 no" }, asksCheck: false },
  { outcome: { kind: "rejected", answer: "554 no" }, asksCheck: true },
  { outcome: { kind: "uncertain", answer: "silence" }, asksCheck: true, taken: true },
  { outcome: { kind: "uncertain", answer: "silence" }, asksCheck: true },
);
/** For each message: the behavior of each of three transports, and the number of calls after which its pre-send check closes. */
const anyScript = fc.array(
  fc.record({ plays: fc.tuple(anyPlay, anyPlay, anyPlay), callsUntilClosed: fc.integer({ min: 0, max: 4 }) }),
  { minLength: 1, maxLength: 30 },
);
type Script = typeof anyScript extends fc.Arbitrary<infer Value> ? Value : never;

async function perform(script: Script, options: Partial<FailoverOptions>, atOnce: boolean) {
  const transports = [0, 1, 2].map((place) =>
    createScripted(`t${place}`, ({ emailId }) => script[Number(emailId)]?.plays[place] ?? SENT),
  );
  const failover = createFailoverTransport(listOf(transports), { log, ...options });
  const send = (_: unknown, id: number): Promise<Outcome> => {
    let calls = 0;
    const mayLeave: MayLeave = async () => calls++ < (script[id]?.callsUntilClosed ?? 0);
    return failover.send(composeMail(id), mayLeave);
  };
  const outcomes: Outcome[] = [];
  if (atOnce) outcomes.push(...(await Promise.all(script.map(send))));
  else for (const [id, one] of script.entries()) outcomes.push(await send(one, id));
  return { transports, outcomes };
}

/** The expected outcome of a message when all three transports are in service. */
function expectedOf({ plays, callsUntilClosed }: Script[number]): Outcome["kind"] {
  let calls = 0;
  for (const { outcome, asksCheck } of plays) {
    if (asksCheck && calls++ >= callsUntilClosed) return "withdrawn";
    if (outcome.kind !== "deferred" || outcome.outage !== true) return outcome.kind;
  }
  return "deferred";
}

test("the first transport without an outage decides when all are in service", async () => {
  await fc.assert(
    fc.asyncProperty(anyScript, fc.boolean(), async (script, atOnce) => {
      const { outcomes } = await perform(script, { outagesToOpen: Infinity }, atOnce);
      expect(outcomes.map(({ kind }) => kind)).toEqual(script.map(expectedOf));
    }),
    { numRuns: RUNS },
  );
});

test("accepts a message at most once and reports its outcome whichever transports are out", async () => {
  let now = 0;
  const options = { outagesToOpen: 2, firstPauseMs: 5, maxPauseMs: 20, nowMs: () => now++ };
  await fc.assert(
    fc.asyncProperty(anyScript, fc.boolean(), async (script, atOnce) => {
      const { transports, outcomes } = await perform(script, options, atOnce);
      for (const [id, outcome] of outcomes.entries()) {
        const takenCount = transports.flatMap(({ taken }) =>
          taken.filter((one) => one === String(id)),
        ).length;
        const mayBe = outcome.kind === "sent" ? [1] : outcome.kind === "uncertain" ? [0, 1] : [0];
        expect(mayBe).toContain(takenCount);
        // No transport gets a message after another one responded with anything but an outage.
        const replies = transports.flatMap(({ seen }, place) =>
          seen.includes(String(id)) ? [script[id]?.plays[place]?.outcome] : [],
        );
        for (const before of replies.slice(0, -1)) expect(before).toEqual(OUTAGE.outcome);
      }
    }),
    { numRuns: RUNS },
  );
});

test("sends everything to the first working transport without weights, and again once it is back", async () => {
  let now = 0;
  let isDown = false;
  const first = createScripted("a", () => (isDown ? OUTAGE : SENT));
  const second = createScripted("b", () => SENT);
  const failover = createFailoverTransport(listOf([first, second]), { log, nowMs: () => now });
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1)
      expect((await failover.send(composeMail(0), saysYes)).kind).toBe("sent");
    const taken = [first.taken.length, second.taken.length];
    first.taken.length = 0;
    second.taken.length = 0;
    return taken;
  };
  expect(await send(5)).toEqual([5, 0]);
  isDown = true;
  expect(await send(10)).toEqual([0, 10]);
  // Three outages opened the breaker, so the other seven messages were not delayed.
  expect(first.seen).toHaveLength(5 + 3);
  now += 5_000;
  isDown = false;
  expect(await send(5)).toEqual([5, 0]);
});

test("splits traffic by weights and keeps transports without weight as standbys", async () => {
  const [heavy, light, spare] = ["heavy", "light", "spare"].map((name) => createScripted(name, () => SENT));
  if (heavy === undefined || light === undefined || spare === undefined) throw new Error("three were made");
  const failover = createFailoverTransport(listOf([spare, heavy, light], [undefined, 3, 1]), { log });
  for (let id = 0; id < 4_000; id += 1) await failover.send(composeMail(id), saysYes);
  // 3,000 expected, standard deviation 27.
  expect(Math.abs(heavy.taken.length - 3_000)).toBeLessThan(200);
  expect(heavy.taken.length + light.taken.length).toBe(4_000);
  expect(spare.seen).toHaveLength(0);
});

test("sends the traffic to the standby when the weighted transports are down", async () => {
  const down = [createScripted("a", () => LATE_OUTAGE), createScripted("b", () => OUTAGE)];
  const spare = createScripted("spare", () => SENT);
  const failover = createFailoverTransport(listOf([...down, spare], [1, 5]), { log });
  for (let id = 0; id < 10; id += 1) await failover.send(composeMail(id), saysYes);
  expect(spare.taken).toHaveLength(10);
});

test("defers messages with the reasons when every transport is down, soon without trying them", async () => {
  const transports = ["a", "b"].map((name) => createScripted(name, () => OUTAGE));
  const failover = createFailoverTransport(listOf(transports), { log });
  expect(failover.name).toBe("a,b");
  expect(await failover.send(composeMail(0), saysYes)).toEqual({
    kind: "deferred",
    answer: "a: down; b: down",
    outage: true,
  });
  for (let id = 1; id < 10; id += 1) await failover.send(composeMail(id), saysYes);
  expect(await failover.send(composeMail(10), saysYes)).toMatchObject({
    answer: "a: out of service; b: out of service",
  });
  expect(transports.map(({ seen }) => seen.length)).toEqual([3, 3]);
});

test("reports the sending transport, throttling and rewritten fields of all its entries", async () => {
  const first = { ...createScripted("a", () => LATE_OUTAGE), rewrites: ["date", "message-id"] };
  const throttling = createScripted("b", () => ({
    outcome: { kind: "deferred", answer: "454", outage: true, throttled: true },
    asksCheck: false,
  }));
  const last = { ...createScripted("c", () => SENT), rewrites: ["date"] };
  const all = createFailoverTransport(listOf([first, throttling, last]), { log });
  expect(all.rewrites).toEqual(["date", "message-id"]);
  expect(await all.send(composeMail(1), saysYes)).toEqual({ kind: "sent", answer: "250 ok", by: "c" });
  const none = createFailoverTransport(listOf([first, throttling]), { log });
  expect(await none.send(composeMail(2), saysYes)).toMatchObject({ kind: "deferred", throttled: true });
});

test("keeps its only transport in service when that asks for a slower rate", async () => {
  const throttling = createScripted("a", () => ({
    outcome: { kind: "deferred", answer: "454 slow down", outage: true, throttled: true },
    asksCheck: false,
  }));
  const failover = createFailoverTransport(listOf([throttling]), { log });
  for (let id = 1; id <= 5; id += 1)
    expect(await failover.send(composeMail(id), saysYes)).toMatchObject({ answer: "a: 454 slow down" });
  expect(throttling.seen).toHaveLength(5);
});

test("takes a transport out of service after missing replies but does not resend their messages", async () => {
  const silent = createScripted("silent", () => ({
    outcome: { kind: "uncertain", answer: "silence" },
    asksCheck: true,
  }));
  const second = createScripted("second", () => SENT);
  const failover = createFailoverTransport(listOf([silent, second]), { log });
  const kinds: string[] = [];
  for (let id = 0; id < 5; id += 1) kinds.push((await failover.send(composeMail(id), saysYes)).kind);
  expect(kinds).toEqual(["uncertain", "uncertain", "uncertain", "sent", "sent"]);
});

test("rethrows an error of the pre-send check without trying another transport", async () => {
  const transports = ["a", "b"].map((name) => createScripted(name, () => SENT));
  const failover = createFailoverTransport(listOf(transports), { log });
  const failure = new Error("the database is gone");
  await expect(failover.send(composeMail(1), () => Promise.reject(failure))).rejects.toBe(failure);
  expect(transports[1]?.seen).toEqual([]);
});
