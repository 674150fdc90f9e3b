// Clicks are judged when the second around them is over; with a clock of the test's own.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClickHold, type HeldClick } from "./hold-clicks.ts";

let released: string[] = [];
const hold = () =>
  createClickHold<HeldClick>(
    ({ mail, link }, isInBurst) => released.push(`${mail}/${link}${isInBurst ? "!" : ""}`),
    1_000,
  );

beforeEach(() => {
  released = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Clicks `[ms, mail, link]` in order; what was released by the end, with `!` for those in a burst. */
function replay(clicks: ReadonlyArray<readonly [number, string, string]>): string[] {
  const clickHold = hold();
  const start = Date.now();
  for (const [ms, mail, link] of clicks) {
    vi.advanceTimersByTime(start + ms - Date.now());
    clickHold.add({ mail, link, atMs: Date.now() });
  }
  vi.advanceTimersByTime(5_000);
  expect(vi.getTimerCount()).toBe(0);
  return released;
}

test.each([
  ["one click", [[0, "m", "a"]], ["m/a"]],
  [
    "the same link again and again",
    [
      [0, "m", "a"],
      [10, "m", "a"],
      [20, "m", "a"],
    ],
    ["m/a", "m/a", "m/a"],
  ],
  [
    "two links at once",
    [
      [0, "m", "a"],
      [0, "m", "b"],
    ],
    ["m/a!", "m/b!"],
  ],
  [
    "two links within a second",
    [
      [0, "m", "a"],
      [999, "m", "b"],
    ],
    ["m/a!", "m/b!"],
  ],
  [
    "two links, slowly",
    [
      [0, "m", "a"],
      [1_000, "m", "b"],
    ],
    ["m/a", "m/b"],
  ],
  [
    "a chain of links",
    [
      [0, "m", "a"],
      [800, "m", "b"],
      [1_600, "m", "c"],
    ],
    ["m/a!", "m/b!", "m/c!"],
  ],
  [
    "links of two mails",
    [
      [0, "m", "a"],
      [0, "n", "b"],
    ],
    ["m/a", "n/b"],
  ],
  [
    "a person after a machine",
    [
      [0, "m", "a"],
      [5, "m", "b"],
      [3_000, "m", "a"],
    ],
    ["m/a!", "m/b!", "m/a"],
  ],
] as const)("%s", (_, clicks, expected) => {
  expect(replay(clicks)).toEqual(expected);
});

test("at the end all are let go at once, judged by what is known", () => {
  const clickHold = hold();
  for (const [mail, link] of [
    ["m", "a"],
    ["m", "b"],
    ["n", "a"],
  ] as const)
    clickHold.add({ mail, link, atMs: Date.now() });
  clickHold.flush();
  expect(released).toEqual(["m/a!", "m/b!", "n/a"]);
  clickHold.flush();
  vi.advanceTimersByTime(5_000);
  expect(released).toHaveLength(3);
});
