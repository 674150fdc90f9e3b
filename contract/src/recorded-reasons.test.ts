import { expect, test } from "vitest";
import { readRecordedReason, recordedReason, RECORDED_REASONS } from "./recorded-reasons.ts";

/** Values as they occur, some with parts of other sentences. */
const VALUES = {
  days: "3",
  domain: "mail.example.com",
  event: 'said "Exit condition: " happened.',
  field: "data.birthday",
  filter: 'data.plan equals "pro" AND emails.opened within 3 days',
  host: "hooks.example.com",
  message: "The endpoint responded with 500.",
  most: "1000",
  ms: "500",
  name: "X-Key",
  operator: "greaterThan",
  part: "html",
  seconds: "2.5",
  size: "2 MB",
  segment: 'not in the segment "x".',
  status: "503",
  value: "31.01.2027: noon.",
  why: "Must be a number.",
};

test.each(Object.entries(RECORDED_REASONS))("reads back the sentence and the values of %s", (code, key) => {
  const names = [...key.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const values = Object.fromEntries(names.map((name) => [name, VALUES[name as keyof typeof VALUES]]));
  const text = (recordedReason as (code: string, values: object) => string)(code, values);
  expect(text).not.toMatch(/\{\w+\}/);
  expect(readRecordedReason(text)).toEqual({ key, values });
});

test("takes the longer sentence of two that fit", () => {
  expect(readRecordedReason(recordedReason("redirected", { status: 302 }))).toEqual({
    key: RECORDED_REASONS.redirected,
    values: { status: "302" },
  });
});

test("writes numbers without separators", () => {
  expect(recordedReason("tooManySteps", { most: 1_000 })).toBe(
    "More than 1000 steps. A retry allows as many more.",
  );
});

test.each(["", "ECONNREFUSED", "The endpoint responded with 500", "The endpoint", "“data.day” has no"])(
  "leaves %j as it is",
  (text) => {
    expect(readRecordedReason(text)).toBeNull();
  },
);
