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
  ["it is found again after strikes", verified(2, minutesAgo(5)), "found", verified(0, null)],
  ["it is back after the proof was lost", pending(3, minutesAgo(60)), "found", verified(0, null)],
  ["it is not there yet", pending(0, null), "missing", pending(0, null)],
  ["the first strike", verified(0, null), "missing", verified(1, NOW)],
  ["the second strike", verified(1, minutesAgo(5)), "missing", verified(2, NOW)],
  ["the third strike", verified(2, minutesAgo(5)), "missing", pending(3, NOW)],
  ["a strike too soon after the last", verified(2, minutesAgo(3.9)), "missing", verified(2, minutesAgo(3.9))],
  ["a strike just late enough", verified(2, minutesAgo(4)), "missing", pending(3, NOW)],
  ["nobody answers after two strikes", verified(2, minutesAgo(60)), "unknown", verified(2, minutesAgo(60))],
  ["nobody answers a pending one", pending(0, null), "unknown", pending(0, null)],
  ["it stays away", pending(3, minutesAgo(600)), "missing", pending(3, minutesAgo(600))],
] as const)("%s", ([, before, proof, after]) => {
  expect(nextState(before, proof, NOW)).toEqual(after);
});

test.for([
  ["VERIFIED", 60 * 24 * 400, 5],
  ["PENDING", 10, 5],
  ["PENDING", 60 * 24 * 7, 5],
  ["PENDING", 60 * 24 * 7 + 1, 60],
] as const)("a domain that is %s for %i minutes is checked every %i minutes", ([status, since, every]) => {
  expect(nextCheckMs(status, minutesAgo(since), NOW)).toBe(every * 60_000);
});
