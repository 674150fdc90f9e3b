// Which errors are logged without a stack, and which may succeed when they are retried.
import { expect, test } from "vitest";
import { isUnavailable, isUnreachable } from "./unavailable.ts";

const coded = (code: string) => Object.assign(new Error("failed"), { code });

test.each([
  ["a pool without a free connection", new Error("timeout exceeded when trying to connect"), true, true],
  ["a connection that takes too long", new Error("timeout expired"), true, true],
  ["a refused connection", coded("ECONNREFUSED"), true, true],
  ["a database that starts up", coded("57P03"), true, true],
  ["a full disk", coded("53100"), false, true],
  ["a lock that is held too long", coded("55P03"), false, true],
  ["a missing file", coded("ENOENT"), false, true],
  ["a mistake in a statement", coded("42601"), false, false],
  ["any other error", new Error("x is not a function"), false, false],
  ["no error at all", undefined, false, false],
])("classifies %s", (_name, error, unreachable, unavailable) => {
  expect([isUnreachable(error), isUnavailable(error)]).toEqual([unreachable, unavailable]);
});
