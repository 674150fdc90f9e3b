// Tests the log format for people.
import { expect, test } from "vitest";
import { prettyLine } from "./log-pretty.ts";

const LINE = {
  level: "warn",
  time: "2026-11-22T21:52:26.524Z",
  transport: "smtp relay:25",
  attempts: 3,
  requestId: "a-b",
  msg: "a transport is out of service",
};

test("prints time, level and message first, then the other fields by name", () => {
  expect(prettyLine(JSON.stringify(LINE), false)).toBe(
    '21:52:26.524 WARN  a transport is out of service transport="smtp relay:25" attempts=3 requestId=a-b\n',
  );
});

test("prints an error with its stack trace below", () => {
  const err = { type: "Error", message: "gone", stack: "Error: gone\n  at here", code: "57P01" };
  expect(
    prettyLine(JSON.stringify({ ...LINE, err }), false)
      .split("\n")
      .slice(1),
  ).toEqual(["    Error: gone", "      at here", "    code 57P01", ""]);
});

test("an error without a stack stays on the line", () => {
  const err = { type: "Error", message: "timeout exceeded when trying to connect" };
  expect(prettyLine(JSON.stringify({ ...LINE, err }), false)).toMatch(
    /requestId=a-b error="timeout exceeded when trying to connect"\n$/,
  );
});

test("in a terminal it is coloured, and without the colours it is the same", () => {
  const coloured = prettyLine(JSON.stringify(LINE), true);
  expect(coloured).toContain("\u001b[33mWARN ");
  // oxlint-disable-next-line no-control-regex -- that is what colours are
  expect(coloured.replace(/\u001b\[\d+m/g, "")).toBe(prettyLine(JSON.stringify(LINE), false));
});
