// Tests that periods have the right number of days across daylight saving changes.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { daysFrom, daysIn, isPeriod, lastDays, previousPeriod } from "./period.ts";

const { TZ } = process.env;
beforeEach(() => {
  process.env["TZ"] = "Europe/Berlin";
});
afterEach(() => {
  vi.useRealTimers();
  process.env["TZ"] = TZ;
});

const setClock = (now: string) => vi.useFakeTimers({ toFake: ["Date"], now: new Date(now) });

test.each([
  ["late on a day after the clock went back", "2026-10-26T23:30:00+01:00", "2026-10-20", "2026-10-26"],
  ["early on a day after it went forward", "2026-03-30T00:30:00+02:00", "2026-03-24", "2026-03-30"],
  ["in the hour that the first day does not have", "2026-04-04T02:30:00+02:00", "2026-03-29", "2026-04-04"],
  ["where nothing changes", "2026-07-03T12:00:00+02:00", "2026-06-27", "2026-07-03"],
])("returns seven days for the last seven days %s", (_when, now, startDate, endDate) => {
  setClock(now);
  expect(lastDays(7)).toEqual({ startDate, endDate, tz: "Europe/Berlin" });
});

test("returns seven days from an instant, or fewer if the rest is in the future", () => {
  setClock("2026-12-01T12:00:00+01:00");
  expect(daysFrom("2026-10-25T00:30:00+02:00", 7)).toMatchObject({
    startDate: "2026-10-25",
    endDate: "2026-10-31",
  });
  setClock("2026-10-26T00:10:00+01:00");
  expect(daysFrom("2026-10-25T00:30:00+02:00", 7)).toMatchObject({
    startDate: "2026-10-25",
    endDate: "2026-10-26",
  });
});

test("returns the same number of days before a period, across a clock change and a leap day", () => {
  const tz = "Europe/Berlin";
  const month = { startDate: "2026-03-16", endDate: "2026-04-14", tz };
  expect(daysIn(month)).toBe(30);
  expect(previousPeriod(month)).toEqual({ startDate: "2026-02-14", endDate: "2026-03-15", tz });
  const day = { startDate: "2028-03-01", endDate: "2028-03-01", tz };
  expect(previousPeriod(day)).toEqual({ startDate: "2028-02-29", endDate: "2028-02-29", tz });
});

test("accepts the periods that the API accepts", () => {
  const last = new Date(Date.UTC(2026, 0, LIMITS.reportDays.value)).toISOString().slice(0, 10);
  const after = new Date(Date.UTC(2026, 0, LIMITS.reportDays.value + 1)).toISOString().slice(0, 10);
  expect([isPeriod("2026-01-01", last), isPeriod("2026-01-01", after)]).toEqual([true, false]);
  expect([isPeriod("2026-01-02", "2026-01-01"), isPeriod("", "2026-01-01"), isPeriod("x", "y")]).toEqual([
    false,
    false,
    false,
  ]);
});
