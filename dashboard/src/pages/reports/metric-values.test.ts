// Tests the daily rates of the email report.
import { expect, test } from "vitest";
import { countsOf, rateOf, ratesOf, type Day } from "./metric-values.ts";

const day = (change: Partial<Day>): Day => ({
  emails: 0,
  opens: 0,
  clicks: 0,
  bounces: 0,
  complaints: 0,
  refused: 0,
  ...change,
});
const DAYS = [
  day({ emails: 100, opens: 40, bounces: 3, refused: 20 }),
  day({ opens: 5 }),
  day({ emails: 50, opens: 10, complaints: 1 }),
];

test("has no rate for a day without emails, and counts rejected emails only in the bounce rate", () => {
  expect(ratesOf("opened", DAYS)).toEqual([40, null, 20]);
  expect(ratesOf("bounced", DAYS)).toEqual([2.5, null, 0]);
  expect(countsOf("opened", DAYS)).toEqual([40, 5, 10]);
});

test("adds the emails of all days before it divides", () => {
  expect(rateOf("opened", DAYS)).toBe(36.6667);
  expect(ratesOf("complaints", DAYS, 6)).toEqual([0, 0, 0.6667]);
  expect(rateOf("opened", [])).toBeNull();
});
