// Tests the status of a domain after each check, up to three failures, and the time of the next check.
import { expect, test } from "vitest";
import { nextCheckMs, nextState } from "./rules.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const verified = (failedChecks: number, failedAt: Date | null) => ({
  status: "VERIFIED",
  failedChecks,
  failedAt,
});
const pending = (failedChecks: number, failedAt: Date | null) => ({
  status: "PENDING",
  failedChecks,
  failedAt,
});

test.for([
  ["the record is found for the first time", pending(0, null), "found", verified(0, null)],
  ["it is found again after failed checks", verified(2, minutesAgo(5)), "found", verified(0, null)],
  [
    "the record is back after the domain was unverified",
    pending(3, minutesAgo(60)),
    "found",
    verified(0, null),
  ],
  ["the record is not there yet", pending(0, null), "missing", pending(0, null)],
  ["the first failed check", verified(0, null), "missing", verified(1, NOW)],
  ["the second failed check", verified(1, minutesAgo(5)), "missing", verified(2, NOW)],
  ["the third failed check", verified(2, minutesAgo(5)), "missing", pending(3, NOW)],
  [
    "a failed check too soon after the last",
    verified(2, minutesAgo(3.9)),
    "missing",
    verified(2, minutesAgo(3.9)),
  ],
  ["a failed check just late enough", verified(2, minutesAgo(4)), "missing", pending(3, NOW)],
  [
    "DNS does not answer after two failed checks",
    verified(2, minutesAgo(60)),
    "unknown",
    verified(2, minutesAgo(60)),
  ],
  ["DNS does not answer for a pending domain", pending(0, null), "unknown", pending(0, null)],
  ["the record stays missing", pending(3, minutesAgo(600)), "missing", pending(3, minutesAgo(600))],
] as const)("%s", ([, before, proof, after]) => {
  expect(nextState(before, proof, NOW)).toEqual(after);
});

test.for([
  ["VERIFIED", 60 * 24 * 400, 5],
  ["PENDING", 10, 5],
  ["PENDING", 60 * 24 * 7, 5],
  ["PENDING", 60 * 24 * 7 + 1, 60],
] as const)("checks a domain that has been %s for %i minutes every %i minutes", ([status, since, every]) => {
  expect(nextCheckMs(status, minutesAgo(since), NOW)).toBe(every * 60_000);
});
