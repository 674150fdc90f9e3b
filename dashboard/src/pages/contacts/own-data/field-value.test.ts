// Tests that values keep their JSON type in an input, and that errors are reported.
import { expect, test } from "vitest";
import { draftOf, kindOf, kindsFor, readDraft } from "./field-value.ts";

test.each([
  ["pro", "string", "text"],
  ["2027-01-31", "string", "text"],
  ["2027-01-31", "number", "text"],
  ["2027-01-31", "date", "day"],
  ["2027-01-31", undefined, "day"],
  ["2027-02-31", "date", "text"],
  ["2027-01-31T10:00:00.000Z", "date", "instant"],
  ["2027-01-31T10:00:07.125Z", "date", "instant"],
  ["2027-01-31T10:00:00+01:00", "date", "text"],
  [12.5, "string", "number"],
  [false, "string", "boolean"],
  [["a", 1], "string", "json"],
  [{ a: { b: null } }, undefined, "json"],
] as const)("edits %j of a %s field as %s and returns it unchanged if untouched", (value, type, kind) => {
  expect(kindOf(value, type)).toBe(kind);
  expect(readDraft(draftOf(value, kind), kind)).toEqual({ value });
});

test.each([
  ["", "text", "empty"],
  ["", "number", "number"],
  ["1e999", "number", "number"],
  ["", "day", "date"],
  ["12027-01-31", "day", "date"],
  ["", "instant", "date"],
  ["12027-01-31T10:00", "instant", "date"],
  ["{", "json", "json"],
  ["null", "json", "empty"],
  ['""', "json", "empty"],
  ["12345678901234567890", "number", "inexact"],
  ["0.12345678901234567890", "number", "inexact"],
  ["[1, 12345678901234567890]", "json", "inexact"],
  ['{"a": 1e999}', "json", "inexact"],
] as const)("rejects %j as a %s", (draft, kind, problem) => {
  expect(readDraft(draft, kind)).toEqual({ problem });
});

test("shows an instant without seconds to the minute", () => {
  expect(kindOf("2027-01-31T10:00:00Z", "date")).toBe("instant");
  expect(draftOf("2027-01-31T10:00:00Z", "instant")).toMatch(/^2027-\d\d-\d\dT\d\d:\d\d$/);
});

test("offers the kinds of an existing field's type, and all kinds for a new field", () => {
  expect(kindsFor("date")).toEqual(["day", "instant"]);
  expect(kindsFor(undefined)).toHaveLength(6);
});
