// Checks the repository against the house rules. Findings suggest alternatives.

import { join } from "node:path";
import { expect, test } from "vitest";
import { RULES } from "./rules.ts";
import { describeFinding, readTree } from "./tree.ts";

const tree = readTree(join(import.meta.dirname, "../.."));

test.each(RULES.map((rule) => [rule.name, rule] as const))("%s", (_name, rule) => {
  expect(rule.check(tree).map(describeFinding)).toEqual([]);
});
