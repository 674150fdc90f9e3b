// Tests when a transport is taken out of service, tried again and brought back.
import { beforeEach, expect, test } from "vitest";
import { createBreaker, type Breaker, type Verdict } from "./circuit-breaker.ts";

let nowMs: number;
let changes: Array<{ pauseMs: number } | "back">;
let breaker: Breaker;

beforeEach(() => {
  nowMs = 1_000;
  changes = [];
  breaker = createBreaker({
    outagesToOpen: 3,
    firstPauseMs: 100,
    maxPauseMs: 350,
    nowMs: () => nowMs,
    onChange: (change) => changes.push(change),
  });
});

function use(...verdicts: Verdict[]): void {
  for (const verdict of verdicts) {
    const tell = breaker.enter();
    if (tell === null) throw new Error("out of service");
    tell(verdict);
  }
}

test("opens after three consecutive outages", () => {
  use("outage", "outage");
  expect(breaker.enter()).not.toBeNull();
  use("outage");
  expect(breaker.enter()).toBeNull();
  expect(changes).toEqual([{ pauseMs: 100 }]);
});

test("stays closed when a success interrupts the outages", () => {
  use("outage", "outage", "works", "outage", "outage", "unknown");
  expect(breaker.enter()).not.toBeNull();
  expect(changes).toEqual([]);
});

test("allows one trial at a time after the pause and closes when it succeeds", () => {
  use("outage", "outage", "outage");
  nowMs += 99;
  expect(breaker.enter()).toBeNull();
  nowMs += 1;
  const trial = breaker.enter();
  expect(trial).not.toBeNull();
  expect(breaker.enter()).toBeNull();
  trial?.("works");
  use("works", "outage", "outage");
  expect(breaker.enter()).not.toBeNull();
  expect(changes).toEqual([{ pauseMs: 100 }, "back"]);
});

test("doubles the pause after each failed trial up to the maximum and resets it on success", () => {
  use("outage", "outage", "outage");
  for (const pauseMs of [100, 200, 350, 350]) {
    nowMs += pauseMs - 1;
    expect(breaker.enter()).toBeNull();
    nowMs += 1;
    use("outage");
  }
  nowMs += 350;
  use("works", "outage", "outage", "outage");
  expect(changes).toEqual([
    ...[100, 200, 350, 350, 350].map((pauseMs) => ({ pauseMs })),
    "back",
    { pauseMs: 100 },
  ]);
});

test("allows the next trial when one ended for reasons on our side", () => {
  use("outage", "outage", "outage");
  nowMs += 100;
  use("unknown");
  expect(breaker.enter()).not.toBeNull();
});

test("attempts from before the opening never extend the pause but close it on success", () => {
  const early = [1, 2, 3, 4, 5].map(() => breaker.enter());
  for (const tell of early.slice(0, 4)) tell?.("outage");
  expect(changes).toEqual([{ pauseMs: 100 }]);
  early[4]?.("works");
  expect(breaker.enter()).not.toBeNull();
});
