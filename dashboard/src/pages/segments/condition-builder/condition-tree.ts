// A filter being edited: the tree behind the condition builder and its changes, as a pure reducer.
import {
  DATA_OPERATORS_BY_TYPE,
  FILTER_OPERATORS,
  readField,
  type FieldKind,
  type FilterOperator,
  type ValueForm,
} from "@postloft/contract/filter-fields.ts";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";

export type FieldType = keyof typeof DATA_OPERATORS_BY_TYPE;

/** One row of the builder. `field` is empty until one is chosen. */
export interface Row {
  key: number;
  condition: FilterCondition;
}
export interface Group {
  key: number;
  operator: "AND" | "OR";
  parts: Part[];
}
export type Part = Row | Group;

export interface Tree {
  root: Group;
  /** The key of the next row or group. */
  nextKey: number;
}

export type TreeAction =
  | { do: "add"; group: number }
  | { do: "addGroup"; group: number }
  /** Moves a row or group into a new nested group. */
  | { do: "nest"; part: number }
  | { do: "remove"; part: number }
  /** Moves past a neighbour, or out of a nested group at its edge. */
  | { do: "move"; part: number; by: -1 | 1 }
  | { do: "change"; part: number; condition: FilterCondition }
  | { do: "join"; group: number; operator: "AND" | "OR" }
  | { do: "load"; filter: Filter };

const EMPTY_CONDITION: FilterCondition = { field: "", operator: "exists" };
/** A new builder starts with one empty condition. */
export const EMPTY_FILTER: Filter = { operator: "AND", conditions: [EMPTY_CONDITION] };
const USUAL_SPAN = { value: 7, unit: "days" } as const;

export function isGroup(part: Part): part is Group {
  return "parts" in part;
}

/** Returns the tree of a filter from the API. */
export function readTree(filter: Filter): Tree {
  let nextKey = 0;
  const readGroup = ({ operator, conditions }: Filter): Group => ({
    key: nextKey++,
    operator,
    parts: conditions.map((part) =>
      "conditions" in part ? readGroup(part) : { key: nextKey++, condition: part },
    ),
  });
  const root = readGroup(filter);
  return { root, nextKey };
}

/** Returns the filter of a tree, or null while a condition is incomplete. */
export function filterOf({ root }: Tree): Filter | null {
  return rowsOf(root).every(({ condition }) => isComplete(condition)) ? writeGroup(root) : null;
}

/** Returns whether every condition is still empty. */
export function isBlank({ root }: Tree): boolean {
  return rowsOf(root).every(({ condition }) => condition.field === "");
}

function writeGroup({ operator, parts }: Group): Filter {
  return {
    operator,
    conditions: parts.map((part) => (isGroup(part) ? writeGroup(part) : part.condition)),
  };
}

/** Returns all rows in order, including those of nested groups. */
export function rowsOf({ parts }: Group): Row[] {
  return parts.flatMap((part) => (isGroup(part) ? rowsOf(part) : [part]));
}

/** Returns whether the API accepts another condition. */
export function hasRoom(tree: Tree): boolean {
  return rowsOf(tree.root).length < LIMITS.filterConditions.value;
}

/** Returns whether a group at this depth may contain another one. The root has depth 1. */
export function canNest(depth: number): boolean {
  return depth < LIMITS.filterDepth.value;
}

export function changeTree(tree: Tree, action: TreeAction): Tree {
  switch (action.do) {
    case "load":
      return readTree(action.filter);
    case "add":
    case "addGroup": {
      if (!hasRoom(tree)) return tree;
      const row: Row = { key: tree.nextKey, condition: EMPTY_CONDITION };
      const part: Part = action.do === "add" ? row : { key: tree.nextKey + 1, operator: "OR", parts: [row] };
      return {
        root: mapGroup(tree.root, action.group, (group) => ({ ...group, parts: [...group.parts, part] })),
        nextKey: tree.nextKey + 2,
      };
    }
    case "nest": {
      const root = mapParts(tree.root, (group) =>
        group.parts.flatMap((part): Part[] =>
          part.key === action.part
            ? [{ key: tree.nextKey, operator: group.operator === "AND" ? "OR" : "AND", parts: [part] }]
            : [part],
        ),
      );
      return { root, nextKey: tree.nextKey + 1 };
    }
    case "remove": {
      const root = withoutEmpty(
        mapParts(tree.root, ({ parts }) => parts.filter(({ key }) => key !== action.part)),
      );
      return root.parts.length > 0 ? { ...tree, root } : changeTree({ ...tree, root }, addTo(root));
    }
    case "move":
      return { ...tree, root: withoutEmpty(moved(tree.root, action.part, action.by)) };
    case "change":
      return {
        ...tree,
        root: mapParts(tree.root, ({ parts }) =>
          parts.map((part) =>
            part.key === action.part && !isGroup(part) ? { ...part, condition: action.condition } : part,
          ),
        ),
      };
    case "join":
      return {
        ...tree,
        root: mapGroup(tree.root, action.group, (group) => ({ ...group, operator: action.operator })),
      };
  }
}

const addTo = ({ key }: Group): TreeAction => ({ do: "add", group: key });

function mapGroup(group: Group, key: number, change: (group: Group) => Group): Group {
  if (group.key === key) return change(group);
  return {
    ...group,
    parts: group.parts.map((part) => (isGroup(part) ? mapGroup(part, key, change) : part)),
  };
}

/** Applies a change to the parts of every group, inner groups first. */
function mapParts(group: Group, change: (group: Group) => Part[]): Group {
  const parts = group.parts.map((part) => (isGroup(part) ? mapParts(part, change) : part));
  return { ...group, parts: change({ ...group, parts }) };
}

function withoutEmpty(group: Group): Group {
  const parts = group.parts.map((part) => (isGroup(part) ? withoutEmpty(part) : part));
  return { ...group, parts: parts.filter((part) => !isGroup(part) || part.parts.length > 0) };
}

function moved(group: Group, key: number, by: -1 | 1): Group {
  const at = group.parts.findIndex((part) => part.key === key);
  const part = group.parts[at];
  if (part !== undefined) {
    const to = at + by;
    if (to < 0 || to >= group.parts.length) return group;
    return { ...group, parts: group.parts.toSpliced(at, 1).toSpliced(to, 0, part) };
  }
  return {
    ...group,
    parts: group.parts.flatMap((inner): Part[] => {
      if (!isGroup(inner)) return [inner];
      const edge = by === -1 ? inner.parts[0] : inner.parts.at(-1);
      if (edge?.key !== key) return [moved(inner, key, by)];
      const rest = { ...inner, parts: inner.parts.filter((one) => one !== edge) };
      return by === -1 ? [edge, rest] : [rest, edge];
    }),
  };
}

/** Returns the kind of a field, or null if the name is invalid. */
export function kindOf(field: string): FieldKind | null {
  const read = readField(field);
  return typeof read === "string" ? null : read.kind;
}

/** Returns the form of value that the operator requires. */
export function formOf({ field, operator }: FilterCondition): ValueForm | null {
  const kind = kindOf(field);
  if (kind === null) return null;
  const forms: Partial<Record<FilterOperator, ValueForm>> = FILTER_OPERATORS[kind];
  return forms[operator] ?? null;
}

/** Returns the sensible operators for a field, plus the current one. @param type undefined if no contact has the field yet */
export function operatorsFor({ field, operator }: FilterCondition, type?: FieldType): FilterOperator[] {
  const kind = kindOf(field);
  if (kind === null) return [];
  const all = Object.keys(FILTER_OPERATORS[kind]) as FilterOperator[];
  const sensible =
    kind === "data"
      ? type === undefined
        ? all
        : [...DATA_OPERATORS_BY_TYPE[type]]
      : // Omit operators that add nothing, because every contact has an address, and events and segments have clearer ones.
        all.filter((one) => one !== "exists" && one !== "notExists");
  return field !== "" && all.includes(operator) && !sensible.includes(operator)
    ? [...sensible, operator]
    : sensible;
}

/** Returns the condition with another field and keeps the operator and value if they fit. */
export function withField(before: FilterCondition, field: string, type?: FieldType): FilterCondition {
  const offered = operatorsFor({ field, operator: "exists" }, type);
  const isKept = before.field !== "" && offered.includes(before.operator);
  const operator = isKept ? before.operator : (offered[0] ?? "exists");
  const isSameKind = kindOf(before.field) === kindOf(field);
  return withOperator(isSameKind ? { ...before, field } : { field, operator: before.operator }, operator);
}

/** Returns the condition with another operator and keeps the value if it has the same form. */
export function withOperator(before: FilterCondition, operator: FilterOperator): FilterCondition {
  const { field, value } = before;
  const after = { field, operator };
  const form = formOf(after);
  if (form === null || form === "none" || form === "count" || form === "daysAhead") return after;
  if (form === "span")
    return formOf(before) === "span" ? { ...before, operator } : { ...after, ...USUAL_SPAN };
  const isMany = form === "texts" || form === "scalars";
  const was = formOf(before);
  if (value === undefined || was === "span" || was === "count" || was === "daysAhead")
    return form === "boolean" ? { ...after, value: true } : after;
  if (isMany) return { ...after, value: Array.isArray(value) ? value : value === "" ? [] : [value] };
  const one = Array.isArray(value) ? value[0] : value;
  return one === undefined ? after : { ...after, value: one };
}

/** A day as date inputs write it. */
export const DAY = /^\d{4}-\d\d-\d\d$/;

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1;
}

/** Returns whether a condition has everything its operator requires. The server still validates it. */
export function isComplete(condition: FilterCondition): boolean {
  const { value, unit, window } = condition;
  switch (formOf(condition)) {
    case null:
      return false;
    case "none":
      return true;
    case "span":
      return isAmount(value) && unit !== undefined;
    case "count":
      return (value === undefined || isAmount(value)) && (unit === undefined || isAmount(window));
    case "daysAhead":
      return value === undefined || isAmount(value);
    case "day":
      return typeof value === "string" && DAY.test(value);
    case "texts":
    case "scalars":
      return Array.isArray(value) && value.length > 0;
    default:
      return value !== undefined && value !== "" && !Array.isArray(value);
  }
}
