// The condition of a segment as it is edited: pure changes of a tree, by the path of indexes that leads to a part of it.
// Before it: condition-builder.tsx. After it: the same tree, which the API takes as it is.
import {
  FILTER_OPERATORS,
  readField,
  type FilterOperator,
  type ValueForm,
} from "@postloft/contract/filter-fields.ts";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";

export type Part = Filter | FilterCondition;
export type Path = readonly number[];

export const NEW_CONDITION: FilterCondition = { field: "email", operator: "contains", value: "" };
export const NEW_FILTER: Filter = { operator: "AND", conditions: [NEW_CONDITION] };
const FIRST_SPAN = 30;

export function isGroup(part: Part): part is Filter {
  return "conditions" in part;
}

/** The tree with the part at the path replaced by what `change` makes of it; by nothing, when that is null. */
export function changeAt(root: Filter, path: Path, change: (part: Part) => Part | null): Filter {
  const [at, ...rest] = path;
  if (at === undefined) return (change(root) as Filter | null) ?? NEW_FILTER;
  const conditions = root.conditions.flatMap((part, index): Part[] => {
    if (index !== at) return [part];
    const changed = rest.length > 0 && isGroup(part) ? changeAt(part, rest, change) : change(part);
    return changed === null ? [] : [changed];
  });
  return { ...root, conditions };
}

/** Without the part; a group that was emptied goes too, and the tree is never without a condition. */
export function removeAt(root: Filter, path: Path): Filter {
  const cleared = withoutEmptyGroups(changeAt(root, path, () => null));
  return cleared.conditions.length === 0 ? { ...cleared, conditions: [NEW_CONDITION] } : cleared;
}

function withoutEmptyGroups(group: Filter): Filter {
  const conditions = group.conditions
    .map((part) => (isGroup(part) ? withoutEmptyGroups(part) : part))
    .filter((part) => !isGroup(part) || part.conditions.length > 0);
  return { ...group, conditions };
}

/** Adds a part at the end of the group at the path. */
export function addTo(root: Filter, path: Path, part: Part): Filter {
  return changeAt(root, path, (group) =>
    isGroup(group) ? { ...group, conditions: [...group.conditions, part] } : group,
  );
}

/** The operators a field takes, each with the form of its value; none for a field that is not understood. */
export function operatorsOf(field: string): Partial<Record<FilterOperator, ValueForm>> {
  const read = readField(field);
  return typeof read === "string" ? {} : FILTER_OPERATORS[read.kind];
}

export function formOf({ field, operator }: FilterCondition): ValueForm {
  return operatorsOf(field)[operator] ?? "none";
}

/** A condition on another field: its operator stays where the new field takes it, and its value where the form is the same. */
export function withField(condition: FilterCondition, field: string): FilterCondition {
  const operators = operatorsOf(field);
  const first = Object.keys(operators)[0] as FilterOperator | undefined;
  const operator = condition.operator in operators ? condition.operator : (first ?? "exists");
  return withOperator({ ...condition, field }, operator, formOf(condition));
}

/** The condition with another operator; the value stays where it may. */
export function withOperator(
  { value, unit, window, field }: FilterCondition,
  operator: FilterOperator,
  before: ValueForm,
): FilterCondition {
  const form = operatorsOf(field)[operator] ?? "none";
  const kept = { field, operator };
  if (form === before)
    return {
      ...kept,
      ...(value === undefined ? {} : { value }),
      ...(unit === undefined ? {} : { unit }),
      ...(window === undefined ? {} : { window }),
    };
  if (form === "none" || form === "count") return kept;
  if (form === "boolean") return { ...kept, value: true };
  if (form === "span") return { ...kept, value: FIRST_SPAN, unit: "days" };
  if (form === "texts" || form === "scalars")
    return { ...kept, value: typeof value === "string" && value !== "" ? [value] : [] };
  return { ...kept, value: typeof value === "string" || typeof value === "number" ? value : "" };
}

/** Whether every condition says all that it needs. */
export function isComplete(part: Part): boolean {
  if (isGroup(part)) return part.conditions.length > 0 && part.conditions.every(isComplete);
  const form = formOf(part);
  if (form === "none" || form === "count") return Object.keys(operatorsOf(part.field)).length > 0;
  return Array.isArray(part.value) ? part.value.length > 0 : part.value !== undefined && part.value !== "";
}
