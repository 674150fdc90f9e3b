// BRANCH: takes the first branch whose filter matches, and records the compared values.
import { ELSE } from "@postloft/contract/workflows/branches.ts";
import { filterOfCondition } from "@postloft/contract/workflows/condition.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { MOST_COMPARED, readCondition, TOO_MUCH } from "./condition.ts";
import type { TakeStep } from "./step.ts";

export const takeBranch: TakeStep<"BRANCH"> = (situation) => {
  const compared: object[] = [];
  let characters = 0;
  for (const { name, filter } of situation.step.config.branches) {
    const condition = readCondition(filterOfCondition(filter), situation);
    characters += condition.characters;
    if (characters > LIMITS.conditionSearch.value) return { goes: "fail", error: TOO_MUCH };
    const found = condition.explain();
    compared.push(...found.compared.map((one) => ({ branch: name, ...one })));
    if (found.matches) return taken(name, compared);
  }
  return taken(ELSE, compared);
};

/** Keeps the last comparisons, because the filter that decided was read last. */
function taken(branch: string, compared: readonly object[]) {
  return {
    goes: "on",
    branch,
    out: { compared: compared.slice(-MOST_COMPARED) },
    result: { branch },
  } as const;
}
