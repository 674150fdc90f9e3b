// Fills the variables in the values of a filter. A missing value equals nothing, as a missing key does (decisions §4). Pure.
import { NEGATIVE_OPERATORS, readField } from "@postloft/contract/filter-fields.ts";
import { isGroup, type Filter, type FilterCondition } from "@postloft/contract/filters.ts";
import { isVariable } from "@postloft/contract/read-condition.ts";
import { readFilter } from "@postloft/contract/read-filter.ts";
import { shownField } from "@postloft/contract/workflows/condition.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { FillError, type Filler } from "../../rendering/fill-text.ts";

/** Fields that are compared with texts or values of any type, so that nothing can equal a missing one. */
const COMPARED: ReadonlySet<string> = new Set(["data", "email"]);

function hasVariable({ value }: FilterCondition): boolean {
  return Array.isArray(value) ? value.some(isVariable) : isVariable(value);
}

/** Returns whether any condition of a filter has a variable. */
export function filterHasVariables({ conditions }: Filter): boolean {
  return conditions.some((part) => (isGroup(part) ? filterHasVariables(part) : hasVariable(part)));
}

/** Returns a filter that loads the same facts as the given one, and has no variables. */
export function withoutVariables(filter: Filter): Filter {
  return mapConditions(filter, (condition) =>
    hasVariable(condition) ? { field: condition.field, operator: "exists" } : condition,
  );
}

/**
 * Returns a filter with its variables filled in.
 * @throws FillError if a value does not suit its operator
 */
export function fillFilter(filter: Filter, filler: Filler): Filter {
  return filterHasVariables(filter)
    ? mapConditions(filter, (condition) => (hasVariable(condition) ? filled(condition, filler) : condition))
    : filter;
}

function mapConditions(filter: Filter, change: (condition: FilterCondition) => FilterCondition): Filter {
  const conditions = filter.conditions.map((part) =>
    isGroup(part) ? mapConditions(part, change) : change(part),
  );
  return { operator: filter.operator, conditions };
}

/** Variables of a list may be lists. */
function filled(condition: FilterCondition, filler: Filler): FilterCondition {
  const { field, operator, value } = condition;
  const isList = operator === "in" || operator === "notIn";
  const found = isList
    ? [value].flat().flatMap((one) => (isVariable(one) ? filler.value(one) : one))
    : filler.value(String(value));
  const present = Array.isArray(found) ? found.filter((one) => !isMissing(one)) : found;
  if (isMissing(present) || (isList && Array.isArray(present) && present.length === 0))
    return matchingNothing(condition);
  let fault = "";
  const parts = { operator: "AND", conditions: [{ ...condition, value: present }] };
  const read = readFilter(parts, ({ message }) => (fault = message), false);
  const [only] = read?.conditions ?? [];
  if (only === undefined || isGroup(only))
    throw new FillError(recordedReason("notComparable", { field: shownField(field), operator, why: fault }));
  return only;
}

/** Spec §2.2: an empty string counts as missing. */
const isMissing = (value: unknown) => value === undefined || value === null || value === "";

/** @throws FillError for a field that is always compared with a date, or with true or false */
function matchingNothing({ field, operator }: FilterCondition): FilterCondition {
  const read = readField(field);
  if (typeof read === "string" || !COMPARED.has(read.kind))
    throw new FillError(recordedReason("valueMissing", { field: shownField(field), operator }));
  return { field, operator: NEGATIVE_OPERATORS.has(operator) ? "notIn" : "in", value: [] };
}
