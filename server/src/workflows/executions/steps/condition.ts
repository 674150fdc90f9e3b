// CONDITION: takes `yes` or `no`, and records the compared values.
import type { FilterOperator } from "@postloft/contract/filter-fields.ts";
import { conditionsOf as writtenConditionsOf } from "@postloft/contract/filters.ts";
import { EXECUTION_KEY, shownField } from "@postloft/contract/workflows/condition.ts";
import { filterOfCondition } from "@postloft/contract/workflows/graph.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import {
  charactersToSearch,
  conditionsOf,
  explainFilter,
  type ConditionExplanation,
} from "../../../segments/filters/evaluate-filter.ts";
import { carriedBy } from "../execution.ts";
import { fillFilter } from "../fill-filter.ts";
import type { TakeStep } from "./step.ts";

/** Limits of the comparisons and of each value stored in the trace. */
const MOST_COMPARED = 10;
const MOST_SEEN = 100;

export const takeCondition: TakeStep<"CONDITION"> = ({ step, execution, contact, facts, now, filler }) => {
  const written = filterOfCondition(step.config);
  const filter = fillFilter(written, filler);
  const whole = { ...contact, data: { ...contact.data, [EXECUTION_KEY]: carriedBy(execution) } };
  const { segments } = facts;
  if (charactersToSearch(filter, whole, { segments }) > LIMITS.conditionSearch.value)
    return { goes: "fail", error: "The condition searches too much of this contact's data." };
  const explanation = explainFilter(filter, whole, { segments, now });
  const operators = writtenConditionsOf(written).map(({ operator }) => operator);
  const compared = conditionsOf(explanation)
    .slice(0, MOST_COMPARED)
    .map((one, at) => shown(one, operators[at] ?? one.operator));
  return { goes: "on", branch: explanation.matches ? "yes" : "no", out: { compared } };
};

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
