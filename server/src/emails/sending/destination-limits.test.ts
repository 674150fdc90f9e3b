// Tests the limit on concurrent submissions per destination.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createDestinationLimits, type DestinationLimits, type Echo } from "./destination-limits.ts";

const TO = "example.com";

/** Starts as many attempts as allowed and ends them all with the same echo. Returns their number. */
function round(limits: DestinationLimits, echo: Echo): number {
  const ends: Array<(echo: Echo) => void> = [];
  while (limits.mayStart(TO)) ends.push(limits.start(TO));
  for (const end of ends) end(echo);
  return ends.length;
}

test("starts at two per destination and allows ten after fourteen accepted emails", () => {
  const limits = createDestinationLimits(10);
  expect([1, 2, 3, 4, 5].map(() => round(limits, "taken"))).toEqual([2, 4, 8, 10, 10]);
});

test.each([1, 2, 3, 7, 200])("never allows more than the maximum of %i", (maximum) => {
  const limits = createDestinationLimits(maximum);
  const rounds = Array.from({ length: 12 }, () => round(limits, "taken"));
  expect(Math.max(...rounds)).toBe(maximum);
  expect(limits.isConstrained(TO)).toBe(false);
});

test("halves the limit once per round of throttled attempts and keeps at least one", () => {
  const limits = createDestinationLimits(10);
  for (let rounds = 0; rounds < 4; rounds++) round(limits, "taken");
  expect([1, 2, 3, 4, 5].map(() => round(limits, "throttled"))).toEqual([10, 5, 2, 1, 1]);
  expect(limits.isConstrained(TO)).toBe(true);
});

test("grows by one per accepted round after throttling", () => {
  const limits = createDestinationLimits(10);
  for (let rounds = 0; rounds < 4; rounds++) round(limits, "taken");
  round(limits, "throttled");
  expect([1, 2, 3, 4, 5, 6, 7].map(() => round(limits, "taken"))).toEqual([5, 6, 7, 8, 9, 10, 10]);
});

test("does not halve again for an attempt that started before the halving", () => {
  const limits = createDestinationLimits(8);
  for (let rounds = 0; rounds < 3; rounds++) round(limits, "taken");
  const [early, late] = [limits.start(TO), limits.start(TO)];
  early("throttled");
  expect(limits.limitOf(TO)).toBe(4);
  late("throttled");
  expect(limits.limitOf(TO)).toBe(4);
  limits.start(TO)("throttled");
  expect(limits.limitOf(TO)).toBe(2);
});

test("keeps the limit when outcomes say nothing about the destination", () => {
  const limits = createDestinationLimits(10);
  expect([1, 2, 3, 4, 5].map(() => round(limits, "unknown"))).toEqual([2, 2, 2, 2, 2]);
});

test("keeps separate limits for each destination", () => {
  const limits = createDestinationLimits(10);
  round(limits, "throttled");
  expect([limits.limitOf(TO), limits.limitOf("other.example")]).toEqual([1, 2]);
});

test("always allows one attempt and never exceeds the maximum", () => {
  const step = fc.constantFrom<Echo | "start">("start", "start", "taken", "throttled", "unknown");
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 300 }), (maximum, steps) => {
      const limits = createDestinationLimits(maximum);
      const underWay: Array<(echo: Echo) => void> = [];
      for (const one of steps) {
        if (one !== "start") underWay.shift()?.(one);
        else if (limits.mayStart(TO)) underWay.push(limits.start(TO));
        expect(underWay.length).toBeLessThanOrEqual(maximum);
        expect(underWay.length > 0 || limits.mayStart(TO)).toBe(true);
      }
    }),
  );
});
