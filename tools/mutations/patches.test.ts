// The list of mutations fits the code, so that `npm run mutations` never starts with a stale patch.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyPatch, GROUPS, readPatches, ROOT, type Patch } from "./patches.ts";

const textOf = ({ file }: Patch) => readFileSync(join(ROOT, file), "utf8");

test("each mutation changes one place of its file", () => {
  for (const patch of readPatches()) {
    const text = textOf(patch);
    expect(applyPatch(text, patch)).not.toBe(text);
  }
});

test("each mutation is listed once, in a known group, and names existing test files", () => {
  const patches = readPatches();
  expect(new Set(patches.map(({ group }) => group))).toEqual(new Set(GROUPS));
  expect(new Set(patches.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size).toBe(
    patches.length,
  );
  const tests = new Set(patches.flatMap((patch) => patch.tests));
  expect([...tests].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("rejects text that is missing or occurs twice", () => {
  const patch: Patch = {
    group: "values",
    file: "a.ts",
    find: "x",
    replace: "y",
    reason: "r",
    tests: ["t"],
  };
  expect(applyPatch("a x b", patch)).toBe("a y b");
  for (const text of ["a b", "x x"])
    expect(() => applyPatch(text, patch)).toThrow(/occurs [02] times in a\.ts/);
});
