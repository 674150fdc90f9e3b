// Checks with a simulated clock when clicks are released and which are held again.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClickHold, type HeldClick } from "./hold-clicks.ts";

let released: string[] = [];
const hold = () =>
  createClickHold<HeldClick>(
    ({ mail, link }, otherLinkMs) => released.push(`${mail}/${link}${otherLinkMs < 1_000 ? "!" : ""}`),
    1_000,
    3_000,
  );

beforeEach(() => {
  released = [];
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Clicks `[ms, mail, link]` in order. Returns those released by the end, with `!` for clicks in a burst. */
function replay(clicks: ReadonlyArray<readonly [number, string, string]>): string[] {
  const clickHold = hold();
  const start = Date.now();
  for (const [ms, mail, link] of clicks) {
    vi.advanceTimersByTime(start + ms - Date.now());
    clickHold.add({ mail, link, atMs: Date.now() });
  }
  vi.advanceTimersByTime(10_000);
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
    "two links simultaneously",
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
    "links of two emails",
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

test("releases all clicks at the end, classified by what is known", () => {
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

test("a click held again sees clicks on other links up to three seconds later, in both directions", () => {
  const reported: Array<[string, number, boolean]> = [];
  const clickHold = createClickHold<HeldClick>(
    (click, otherLinkMs, isLast) => {
      reported.push([click.link, otherLinkMs, isLast]);
      if (!isLast) clickHold.holdOn(click);
    },
    1_000,
    3_000,
  );
  const click = (link: string) => clickHold.add({ mail: "m", link, atMs: Date.now() });
  click("a");
  vi.advanceTimersByTime(2_900);
  click("b");
  vi.advanceTimersByTime(10_000);
  click("c");
  vi.advanceTimersByTime(1_500);
  clickHold.flush();
  expect(reported).toEqual([
    ["a", Number.POSITIVE_INFINITY, false],
    ["a", 2_900, true],
    ["b", 2_900, false],
    ["b", 2_900, true],
    ["c", Number.POSITIVE_INFINITY, false],
    ["c", Number.POSITIVE_INFINITY, true],
  ]);
});
