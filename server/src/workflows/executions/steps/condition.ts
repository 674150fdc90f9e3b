// CONDITION: takes `yes` or `no`, and records the compared values.
import type { FilterOperator } from "@postloft/contract/filter-fields.ts";
import { conditionsOf as writtenConditionsOf, type Filter } from "@postloft/contract/filters.ts";
import { EXECUTION_KEY, filterOfCondition, shownField } from "@postloft/contract/workflows/condition.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import {
  charactersToSearch,
  conditionsOf,
  explainFilter,
  type ConditionExplanation,
} from "../../../segments/filters/evaluate-filter.ts";
import { carriedBy } from "../execution.ts";
import { fillFilter } from "../fill-filter.ts";
import type { Situation, TakeStep } from "./step.ts";

/** Limits of the comparisons and of each value stored in the trace. */
export const MOST_COMPARED = 10;
const MOST_SEEN = 100;

export const TOO_MUCH = recordedReason("conditionTooLarge");

export const takeCondition: TakeStep<"CONDITION"> = (situation) => {
  const { characters, explain } = readCondition(filterOfCondition(situation.step.config), situation);
  if (characters > LIMITS.conditionSearch.value) return { goes: "fail", error: TOO_MUCH };
  const { matches, compared } = explain();
  return { goes: "on", branch: matches ? "yes" : "no", out: { compared } };
};

/**
 * Returns how many characters a filter searches in the data of the contact, and a function that compares them.
 * @throws FillError if a variable in the filter can't be filled in
 */
export function readCondition(
  written: Filter,
  { execution, contact, facts: { segments }, now, filler }: Omit<Situation, "step">,
) {
  const filter = fillFilter(written, filler);
  const whole = { ...contact, data: { ...contact.data, [EXECUTION_KEY]: carriedBy(execution) } };
  return {
    characters: charactersToSearch(filter, whole, { segments }),
    explain: () => {
      const explanation = explainFilter(filter, whole, { segments, now });
      const operators = writtenConditionsOf(written).map(({ operator }) => operator);
      const compared = conditionsOf(explanation)
        .slice(0, MOST_COMPARED)
        .map((one, at) => shown(one, operators[at] ?? one.operator));
      return { matches: explanation.matches, compared };
    },
  };
}

/** Shows the operator as written, because a missing value is compared with another one. */
function shown({ field, value, seen, matches, ...read }: ConditionExplanation, operator: FilterOperator) {
  const isMissing = read.operator !== operator;
  const text = typeof seen === "string" ? seen : JSON.stringify(seen);
  const short = text.length <= MOST_SEEN ? seen : `${text.slice(0, MOST_SEEN).toWellFormed()}…`;
  return {
    field: shownField(field),
    operator,
    ...(value === undefined ? {} : { value: isMissing ? null : value }),
    seen: short,
    matches,
  };
}
