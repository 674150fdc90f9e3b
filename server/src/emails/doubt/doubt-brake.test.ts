// Tests the brake on campaigns without replies. It sends one canary at a time, pauses the campaign after a few, and leaves other email
// alone.
import { expect, test } from "vitest";
import { createLog } from "../../platform/log.ts";
import { createDoubtBrake, CANARIES, type PauseInDoubt } from "./doubt-brake.ts";
import { TAKEN } from "../../testing/scripted-transport.ts";
import type { Outcome } from "../../transports/transport.ts";

const NO_REPLY: Outcome = { kind: "uncertain", answer: "closed after the dot" };
const log = createLog({ level: "silent" });
const mail = (id: string, campaign: string | null = "news") => ({
  id,
  projectId: "project",
  campaignId: campaign,
});

function start({ maxWaitMs = 10_000, fails = 0 } = {}) {
  const paused: Array<Parameters<PauseInDoubt>[0]> = [];
  let failing = fails;
  const brake = createDoubtBrake({
    log,
    maxWaitMs,
    pause: async (campaign) => {
      if (failing-- > 0) throw new Error("the database is away");
      paused.push(campaign);
    },
  });
  return { brake, paused };
}

/** Returns whether the email has been let through by now. */
async function hasPassed(passing: Promise<boolean>): Promise<boolean> {
  const waits = Symbol("waits");
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([passing, Promise.resolve(waits)])) !== waits;
}

test("passes all emails before the first doubt and always passes email outside campaigns", async () => {
  const { brake } = start();
  expect(await Promise.all([brake.pass(mail("1")), brake.pass(mail("2"))])).toEqual([true, true]);
  await brake.notify(mail("1"), NO_REPLY);
  expect(await brake.pass(mail("probe"))).toBe(true);
  expect(await hasPassed(brake.pass(mail("single", null)))).toBe(true);
  expect(await hasPassed(brake.pass(mail("other", "another campaign")))).toBe(true);
  expect(await hasPassed(brake.pass(mail("2nd")))).toBe(false);
});

test("tries a few canaries one at a time after replies stop and then pauses the campaign", async () => {
  const { brake, paused } = start();
  const inFlight = Array.from({ length: 20 }, (_, at) => mail(`first ${at}`));
  for (const one of inFlight) await brake.pass(one);
  for (const one of inFlight) await brake.notify(one, NO_REPLY);
  expect(paused).toEqual([]);
  const passing = Array.from({ length: 10 }, (_, at) => brake.pass(mail(String(at))));
  for (let canary = 0; canary < CANARIES; canary++) {
    expect(await hasPassed(passing[canary] ?? Promise.resolve(false))).toBe(true);
    expect(await hasPassed(passing[canary + 1] ?? Promise.resolve(true))).toBe(false);
    await brake.notify(mail(String(canary)), NO_REPLY);
  }
  expect(paused).toEqual([
    { projectId: "project", campaignId: "news", probes: CANARIES, answer: "closed after the dot" },
  ]);
  // The pre-send check stops the rest because the campaign is paused now.
  expect(await Promise.all(passing)).toEqual(passing.map(() => true));
});

test.each([
  ["accepted", TAKEN],
  ["rejected", { kind: "rejected", answer: "550 no" }],
  ["deferred", { kind: "deferred", answer: "451 later" }],
] as const)("ends the doubt and passes all emails when one canary is %s", async (_name, outcome) => {
  const { brake, paused } = start();
  await brake.notify(mail("1"), NO_REPLY);
  await brake.pass(mail("probe"));
  const rest = [brake.pass(mail("2")), brake.pass(mail("3"))];
  await brake.notify(mail("probe"), outcome);
  expect(await Promise.all(rest)).toEqual([true, true]);
  for (let at = 0; at < 2 * CANARIES; at++) {
    await brake.notify(mail(`bad ${at}`), NO_REPLY);
    await brake.pass(mail(`good ${at}`));
    await brake.notify(mail(`good ${at}`), outcome);
  }
  expect(paused).toEqual([]);
});

test("ignores a canary that is withdrawn or finds no server and sends the next one", async () => {
  const { brake, paused } = start();
  await brake.notify(mail("1"), NO_REPLY);
  for (let at = 0; at < 2 * CANARIES; at++) {
    await brake.pass(mail(`probe ${at}`));
    const next = brake.pass(mail(`probe ${at + 1}`));
    await brake.notify(
      mail(`probe ${at}`),
      at % 2 === 0 ? { kind: "withdrawn" } : { kind: "deferred", answer: "down", outage: true },
    );
    expect(await next).toBe(true);
  }
  expect(paused).toEqual([]);
});

test("gives the connection back when an email waits too long for a canary", async () => {
  const { brake } = start({ maxWaitMs: 20 });
  await brake.notify(mail("1"), NO_REPLY);
  await brake.pass(mail("probe"));
  expect(await brake.pass(mail("2"))).toBe(false);
});

test("retries with the next canary when the campaign cannot be paused", async () => {
  const { brake, paused } = start({ fails: 1 });
  await brake.notify(mail("1"), NO_REPLY);
  for (let at = 0; at < CANARIES + 1; at++) {
    await brake.pass(mail(`probe ${at}`));
    await brake.notify(mail(`probe ${at}`), NO_REPLY);
  }
  expect(paused).toHaveLength(1);
});
