// The report of an import in several parts adds up.
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

test("counts are added, errors follow each other, and one warning stands for all parts", () => {
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

test("the result of one part stays as it is, also without the counts of this version", () => {
  expect(mergeResults([RESULT])).toBe(RESULT);
});
