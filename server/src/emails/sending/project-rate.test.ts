// Tests the sending rate of projects with a fake clock.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createProjectRate } from "./project-rate.ts";
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";

function startRate(perSecond: number) {
  const clock = { nowMs: 0 };
  const rate = createProjectRate(perSecond, () => clock.nowMs);
  /** Claims up to `want` emails as far as allowed. Returns how many. */
  const claim = (projectId: string, want = Infinity, own: number | null = null): number => {
    const count = Math.min(want, rate.allowance(projectId, own));
    rate.spend(projectId, count);
    return count;
  };
  return { rate, clock, claim };
}

test("has no limit without a rate", () => {
  const { rate } = startRate(0);
  rate.spend("a", 1_000_000);
  expect(rate.allowance("a", null)).toBe(Infinity);
  expect(rate.takeWaitMs()).toBe(Infinity);
});

test("allows a burst of one second and then the rate", () => {
  const { clock, claim } = startRate(10);
  expect(claim("a")).toBe(10);
  expect(claim("a")).toBe(0);
  clock.nowMs += 250;
  expect(claim("a")).toBe(2);
  clock.nowMs += 60_000;
  expect(claim("a")).toBe(10);
});

test("does not limit platform email", () => {
  const { claim } = startRate(10);
  expect(claim(SYSTEM_PROJECT_ID, 1_000)).toBe(1_000);
});

test("limits each project separately", () => {
  const { claim } = startRate(10);
  expect([claim("a"), claim("b"), claim("a"), claim("b", 3), claim("b")]).toEqual([10, 10, 0, 0, 0]);
});

test("applies the lower of the project's rate and the installation's rate", () => {
  const { rate, clock, claim } = startRate(10);
  expect([claim("a", Infinity, 4), claim("b", Infinity, 40), claim("c")]).toEqual([4, 10, 10]);
  clock.nowMs += 1_000;
  expect([claim("a", Infinity, 4), claim("a", Infinity, 4), claim("a")]).toEqual([4, 0, 0]);
  // The last call removed the project's own rate.
  clock.nowMs += 1_000;
  expect(claim("a")).toBe(10);
  const { claim: unlimited } = startRate(0);
  expect([unlimited("a", Infinity, 4), unlimited("a", Infinity, 4), unlimited("a", 100)]).toEqual([
    4, 0, 100,
  ]);
  expect(rate.takeWaitMs()).toBe(100);
});

test("allows a limited project to continue exactly after the returned wait", () => {
  const { rate, clock, claim } = startRate(4);
  claim("a");
  expect(claim("a")).toBe(0);
  const waitMs = rate.takeWaitMs();
  expect(waitMs).toBe(250);
  expect(rate.takeWaitMs()).toBe(Infinity);
  clock.nowMs += waitMs - 1;
  expect(claim("a")).toBe(0);
  clock.nowMs += 1;
  expect(claim("a")).toBe(1);
});

test("shares the rate between processes even if there are more processes than emails/s", () => {
  const { rate, clock, claim } = startRate(2);
  rate.shareAmong(4);
  claim("a");
  let sent = 0;
  for (let second = 0; second < 100; second++) {
    clock.nowMs += 1_000;
    sent += claim("a");
  }
  expect(sent).toBe(50);
});

test("takes over the shares of other processes when they are gone", () => {
  const { rate, clock, claim } = startRate(10);
  rate.shareAmong(2);
  claim("a");
  clock.nowMs += 1_000;
  expect(claim("a")).toBe(5);
  rate.shareAmong(1);
  clock.nowMs += 1_000;
  expect(claim("a")).toBe(10);
});

test("allows the full rate and at most one second of burst over any period", () => {
  const pause = fc.integer({ min: 0, max: 3_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(pause, { maxLength: 100 }), (perSecond, pauses) => {
      const { clock, claim } = startRate(perSecond);
      let claimed = 0;
      for (const one of pauses) {
        clock.nowMs += one;
        claimed += claim("a");
        expect(claimed).toBeLessThanOrEqual(perSecond + (clock.nowMs / 1000) * perSecond + 1e-6);
      }
      // A caller that asks at least once per second gets the full rate.
      for (let turn = 0; turn < 10; turn++) {
        clock.nowMs += 500;
        claim("a");
      }
      let later = 0;
      for (let turn = 0; turn < 10; turn++) {
        clock.nowMs += 500;
        later += claim("a");
      }
      expect(Math.abs(later - 5 * perSecond)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50 },
  );
});
