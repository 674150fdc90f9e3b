// Local times of zones, compared with the library for schedules on all days of a year.
import { Cron } from "croner";
import { expect, test } from "vitest";
import { instantOf, localTime, midnightOf, zoneNamed } from "./zones.ts";

const DAY_MS = 86_400_000;

test.each([
  "UTC",
  "Europe/Berlin",
  "America/St_Johns",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
])("local times of %s are the same as in schedules, also on days on which clocks change", (zone) => {
  for (let at = 0; at < 366; at += 1) {
    const dayMs = Date.UTC(2026, 9, 1) + at * DAY_MS;
    const day = new Date(dayMs);
    const [hour, minute] = at % 2 === 0 ? [0, 0] : [2, 15];
    const cron = new Cron(`${minute} ${hour} ${day.getUTCDate()} ${day.getUTCMonth() + 1} *`, {
      timezone: zone,
    });
    const expected = cron.nextRun(new Date(dayMs - DAY_MS))?.toISOString();
    const instant = new Date(instantOf(zone, dayMs + (hour * 60 + minute) * 60_000));
    expect(instant.toISOString()).toBe(expected);
  }
});

test.each([
  ["Europe/Berlin", "2027-03-28T02:30", "2027-03-28T01:00:00.000Z"],
  ["Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
  ["America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00:00.000Z"],
  ["Australia/Lord_Howe", "2026-10-04T02:10", "2026-10-03T15:30:00.000Z"],
  ["Pacific/Kiritimati", "2027-01-01T09:00", "2026-12-31T19:00:00.000Z"],
])("the clock of %s shows %s at %s", (zone, local, instant) => {
  expect(new Date(instantOf(zone, Date.parse(`${local}Z`))).toISOString()).toBe(instant);
});

test("returns the day of an instant in a zone", () => {
  const local = localTime("America/New_York", Date.parse("2027-03-02T02:00:00.500Z"));
  expect(new Date(local).toISOString()).toBe("2027-03-01T21:00:00.000Z");
  expect(new Date(midnightOf(local)).toISOString()).toBe("2027-03-01T00:00:00.000Z");
});

test("knows a zone in any case, and no other name", () => {
  expect([zoneNamed("europe/berlin"), zoneNamed("Mars/Base"), zoneNamed("")]).toEqual([
    "Europe/Berlin",
    null,
    null,
  ]);
});
