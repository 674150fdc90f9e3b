// Tests when schedules run, also on the two days of a year on which a zone changes its clock, and which ones are rejected.
import { expect, test } from "vitest";
import { faultOfSchedule, nextRunAfter, runsMoreThanDaily } from "./schedule.ts";

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

test.each([
  ["0 9 * * *", false],
  ["30 9 * * 1", false],
  ["0 9 1 * *", false],
  ["0 9,15 * * *", true],
  ["*/10 * * * *", true],
  ["0 * * * *", true],
  ["0 8,20 1 * *", true],
  // The change to summer time makes one day an hour shorter.
  ["0 0,23 1 * *", false],
])("schedule %s runs more than daily: %s", (cron, expected) => {
  expect(runsMoreThanDaily({ cron, timezone: "Europe/Berlin" })).toBe(expected);
});

const FIVE_FIELDS = "Use five fields separated by spaces, such as `0 9 * * *`.";

test.each([
  ["0 9 * * *", null],
  [" 0  9 * * * ", null],
  [
    " @daily",
    "Names such as `@daily` are not supported. Use five fields, such as `0 9 * * *` for every day at nine.",
  ],
  ["0 9 * *", FIVE_FIELDS],
  ["0 0 9 * * *", FIVE_FIELDS],
  ["2026-01-01T00:00:00", FIVE_FIELDS],
  ["? 9 * * *", "`?` is not supported. Use `*`."],
  ["0 0 31 2 *", "It would never run because there is no such date."],
  [
    "99 9 * * *",
    {
      message: "Not a cron line of five fields: Invalid value for minute: 99",
      translation: {
        key: "Not a cron line of five fields: {reason}",
        values: { reason: "Invalid value for minute: 99" },
      },
    },
  ],
])("the fault of the schedule %j is %j", (cron, fault) => {
  expect(faultOfSchedule({ cron }, new Date("2026-06-01T00:00:00Z"))).toEqual(fault);
});
