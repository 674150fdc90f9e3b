// Schedules on the two days of a year on which a zone changes its clock. A line with fixed hours runs once for each of them.
import { expect, test } from "vitest";
import { nextRunAfter } from "./schedule.ts";

/** Berlin skips 2:00 to 3:00 on the first day and repeats it on the second. */
const SPRING = "2026-03-28T23:00:00.000Z";
const AUTUMN = "2026-10-24T22:00:00.000Z";

/** Returns the hours and minutes, UTC, of all runs on a day that starts at a given time and has this many hours. */
function runsOf(cron: string, startsAt: string, hours: number): string[] {
  const schedule = { cron, timezone: "Europe/Berlin" };
  const endMs = Date.parse(startsAt) + hours * 3_600_000;
  const runs: string[] = [];
  let after = new Date(Date.parse(startsAt) - 1);
  for (;;) {
    const run = nextRunAfter(schedule, after);
    if (run === null || run.getTime() >= endMs) return runs;
    runs.push(run.toISOString().slice(11, 16));
    // The engine asks a moment after the run.
    after = new Date(run.getTime() + 250);
  }
}

test.each([
  ["0 2 * * *", ["01:00"], ["00:00"]],
  ["30 2 * * *", ["01:00"], ["00:30"]],
  ["0 2,14 * * *", ["01:00", "12:00"], ["00:00", "13:00"]],
  ["15,45 2 * * *", ["01:00"], ["00:15", "00:45"]],
  ["0 1-3 * * *", ["00:00", "01:00"], ["23:00", "00:00", "02:00"]],
  ["0 9 * * *", ["07:00"], ["08:00"]],
])("%s runs once for each given time", (cron, spring, autumn) => {
  expect(runsOf(cron, SPRING, 23)).toEqual(spring);
  expect(runsOf(cron, AUTUMN, 25)).toEqual(autumn);
});

test("an hourly schedule runs 23 or 25 times on the days the clock changes", () => {
  expect(runsOf("0 * * * *", SPRING, 23)).toHaveLength(23);
  expect(runsOf("0 * * * *", AUTUMN, 25)).toHaveLength(25);
  expect(runsOf("*/30 * * * *", AUTUMN, 25)).toHaveLength(50);
});

test("skips the repeated hour after a run in it", () => {
  const schedule = { cron: "0 2,14 * * *", timezone: "Europe/Berlin" };
  const second = new Date("2026-10-25T00:59:59.000Z");
  expect(nextRunAfter(schedule, second)?.toISOString()).toBe("2026-10-25T13:00:00.000Z");
});
