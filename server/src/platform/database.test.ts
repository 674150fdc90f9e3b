// What a failure of the database means: try again later, a bug, or a refusal; and whether anything can have happened.
import { expect, test } from "vitest";
import { asUnavailable, surelyRolledBack } from "./database.ts";
import { Refusal } from "./refusal.ts";

function failure(code: string, message = "failed"): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  ["57P01", "terminating connection due to administrator command"],
  ["57P03", "the database system is starting up"],
  ["08006", "connection failure"],
  ["53300", "too many clients"],
  ["53100", "could not extend file"],
  ["ECONNREFUSED", "connect ECONNREFUSED"],
  ["ECONNRESET", "read ECONNRESET"],
  ["", "Connection terminated unexpectedly"],
  ["", "timeout exceeded when trying to connect"],
])("%s %s: the caller is asked to come back, and nobody may take it for undone", (code, message) => {
  const error = failure(code, message);
  expect(asUnavailable(error)).toBeInstanceOf(Refusal);
  expect(surelyRolledBack(error)).toBe(false);
});

test.each([
  ["23505", "duplicate key value violates unique constraint"],
  ["23514", "violates check constraint"],
  ["22P05", "unsupported Unicode escape sequence"],
  ["40P01", "deadlock detected"],
])("%s %s: the database refused it, so nothing happened", (code, message) => {
  const error = failure(code, message);
  expect(asUnavailable(error)).toBe(error);
  expect(surelyRolledBack(error)).toBe(true);
});

test("a refusal of our own rolls back", () => {
  expect(surelyRolledBack(new Refusal("CONFLICT"))).toBe(true);
});
