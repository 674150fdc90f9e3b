// Tests the projection of the monthly usage.
import { expect, test } from "vitest";
import { projectUsage } from "./projected-usage.ts";

const TENTH_DAY = new Date("2026-11-11T00:00:00Z");

test("projects the pace of the month until its end in UTC", () => {
  expect(projectUsage(1_000, null, TENTH_DAY)).toEqual({ total: 3_000, reachedAt: null });
  expect(projectUsage(0, 5, TENTH_DAY)).toEqual({ total: 0, reachedAt: null });
  expect(projectUsage(500, null, new Date("2026-12-16T12:00:00Z"))?.total).toBe(1_000);
});

test("says when the cap is reached, unless it is reached already or not this month", () => {
  expect(projectUsage(1_000, 2_000, TENTH_DAY)?.reachedAt).toEqual(new Date("2026-11-21T00:00:00Z"));
  expect(projectUsage(1_000, 3_001, TENTH_DAY)?.reachedAt).toBeNull();
  expect(projectUsage(1_000, 1_000, TENTH_DAY)?.reachedAt).toBeNull();
});

test("projects nothing on the first day", () => {
  expect(projectUsage(50, 100, new Date("2026-11-01T20:00:00Z"))).toBeNull();
});
