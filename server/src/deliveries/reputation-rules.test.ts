// Checks rates and levels at exact email counts (decisions §2).
import { expect, test } from "vitest";
import { evaluate, ratesOf, type LevelName } from "./reputation-rules.ts";

const counts = (total: number, bounces: number, complaints = 0) => ({ total, bounces, complaints });
const none = counts(0, 0);
const levelsIn = (windows: Parameters<typeof evaluate>[0], name: LevelName) => evaluate(windows).levels[name];

/** Total, bounces or complaints, and the levels over 7 days and over all time. */
const BOUNCES: ReadonlyArray<[number, number, string, string]> = [
  [0, 0, "healthy", "healthy"],
  [5, 1, "healthy", "healthy"],
  [99, 99, "healthy", "healthy"],
  [100, 3, "healthy", "healthy"],
  [100, 4, "healthy", "warning"],
  [100, 5, "warning", "warning"],
  [100, 7, "warning", "warning"],
  [100, 8, "warning", "critical"],
  [100, 9, "warning", "critical"],
  [100, 10, "critical", "critical"],
  [10_000, 999, "warning", "critical"],
  [10_000, 1_000, "critical", "critical"],
  [1_000_000, 39_999, "healthy", "healthy"],
  [1_000_000, 40_000, "healthy", "warning"],
];
const COMPLAINTS: ReadonlyArray<[number, number, string, string]> = [
  [99, 50, "healthy", "healthy"],
  [100, 0, "healthy", "healthy"],
  [100, 1, "critical", "critical"],
  [3_333, 1, "healthy", "warning"],
  [3_334, 1, "healthy", "healthy"],
  [4_000, 3, "warning", "warning"],
  [10_000, 3, "healthy", "warning"],
  [10_000, 7, "healthy", "warning"],
  [10_000, 8, "warning", "warning"],
  [10_000, 12, "warning", "critical"],
  [10_000, 15, "critical", "critical"],
  [100_000, 75, "warning", "warning"],
  [100_000, 74, "healthy", "warning"],
];

test.for([
  ...BOUNCES.map((row) => ["bounces", ...row] as const),
  ...COMPLAINTS.map((row) => ["complaints", ...row] as const),
])("%s: of %i emails %i are %s over 7 days and %s over all time", ([what, total, count, week, all]) => {
  const window = what === "bounces" ? counts(total, count) : counts(total, 0, count);
  const of = what === "bounces" ? "bounce" : "complaint";
  expect(levelsIn({ sevenDay: window, allTime: none }, `${of}7Day`)).toBe(week);
  expect(levelsIn({ sevenDay: none, allTime: window }, `${of}AllTime`)).toBe(all);
});

test("a critical rate disables from 10 bounces or 5 complaints on", () => {
  const both = (window: ReturnType<typeof counts>) =>
    evaluate({ sevenDay: window, allTime: window }).shouldDisable;
  expect([counts(100, 9), counts(100, 10), counts(100, 0, 4), counts(100, 0, 5)].map(both)).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(both(counts(99, 99, 99))).toBe(false);
  // Many bounces at a healthy rate, and at a rate that only warns.
  expect([counts(10_000, 10), counts(10_000, 700)].map(both)).toEqual([false, false]);
});

test("describes bad rates in sentences with numbers", () => {
  const evaluated = evaluate({ sevenDay: counts(1_000, 60), allTime: counts(10_000, 900, 1) });
  expect(evaluated).toMatchObject({
    isHealthy: false,
    isNewProject: false,
    violations: ["900 bounces of 10000 emails over all time: 9 %, critical from 8 %."],
    warnings: ["60 bounces of 1000 emails over 7 days: 6 %, warning from 5 %."],
  });
  expect(evaluated.badRates.map(({ level, count, mails }) => [level, count, mails])).toEqual([
    ["critical", 900, 10_000],
    ["warning", 60, 1_000],
  ]);
  for (const [total, isNewProject] of [
    [99, true],
    [100, false],
  ] as const)
    expect(evaluate({ sevenDay: none, allTime: counts(total, 0) })).toMatchObject({
      isHealthy: true,
      isNewProject,
      badRates: [],
    });
});

test("rates are in percent and 0 without emails", () => {
  expect(ratesOf(counts(3, 1, 2))).toMatchObject({ bounceRate: 33.3333, complaintRate: 66.6667 });
  expect(ratesOf(counts(0, 0))).toMatchObject({ bounceRate: 0, complaintRate: 0 });
});
