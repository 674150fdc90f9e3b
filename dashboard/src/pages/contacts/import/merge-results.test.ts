// Tests how the results of an import in several parts add up.
import { expect, test } from "vitest";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import { mergeResults } from "./merge-results.ts";

const RESULT: ImportResult = {
  totalRows: 3,
  successCount: 2,
  createdCount: 1,
  updatedCount: 1,
  failureCount: 1,
  errors: [{ row: 4, email: "x", error: "bad" }],
  ignoredColumns: ["id"],
  dryRun: false,
};
const warning = (code: "status.contradiction" | "header.none", count: number) => ({
  code,
  values: { count, row: 7 },
  message: "",
});

test("adds counts, concatenates errors and merges equal warnings", () => {
  const first = { ...RESULT, subscribedCount: 2, warnings: [warning("status.contradiction", 2)] };
  const second = {
    ...RESULT,
    subscribedCount: 1,
    keptUnsubscribedCount: 1,
    errors: [{ row: 9, email: "y", error: "bad" }],
    warnings: [
      warning("header.none", 0),
      { ...warning("status.contradiction", 3), values: { count: 3, row: 9 } },
    ],
  };
  expect(mergeResults([first, second])).toMatchObject({
    totalRows: 6,
    createdCount: 2,
    failureCount: 2,
    subscribedCount: 3,
    keptUnsubscribedCount: 1,
    errors: [{ row: 4 }, { row: 9 }],
    ignoredColumns: ["id"],
    warnings: [{ code: "status.contradiction", values: { count: 5, row: 7 } }, { code: "header.none" }],
  });
});

test("returns the result of a single part unchanged, even without this version's counts", () => {
  expect(mergeResults([RESULT])).toBe(RESULT);
});
