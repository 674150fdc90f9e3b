// Checks a filter from a caller in either of its forms, and converts it to the canonical form.
import { issue } from "./field.ts";
import type { Filter, FilterCondition } from "./filter-form.ts";
import { LIMITS } from "./limits/limits.ts";
import { isObject, readCondition, type Path, type Reading } from "./read-condition.ts";
import { withValues } from "./translation.ts";

/** A filter with honest mistakes has fewer faults, but a hostile one could have a million. */
const MAX_PROBLEMS = 1_000;

/** Only thrown in this file, to stop reading a filter that is too large. */
class StopReading extends Error {}

/**
 * Reads a filter. With `acceptsCondition` also reads a single condition, which becomes a group with one condition. Pushes an issue for
 * every fault and returns null in that case. Limits depth and size before reading nested parts. With `acceptsVariables`, values may be texts
 * with variables.
 */
export function readFilter(
  input: unknown,
  push: (problem: ReturnType<typeof issue>) => void,
  acceptsCondition: boolean,
  acceptsVariables = false,
): Filter | null {
  let [conditions, problems] = [0, 0];
  const reading: Reading = {
    acceptsVariables,
    fail(path, code, wording, value) {
      push(issue(wording, code, value, [...path]));
      if (++problems > MAX_PROBLEMS) throw new StopReading();
      return null;
    },
    count(more) {
      conditions += more;
      if (conditions <= LIMITS.filterConditions.value) return;
      const { value: most } = LIMITS.filterConditions;
      reading.fail(
        [],
        "too_big",
        withValues("A filter may have at most {most} conditions.", { most }),
        input,
      );
      throw new StopReading();
    },
  };
  try {
    const read = readRoot(input, reading, acceptsCondition);
    if (read !== null && problems === 0 && depthOf(read) > LIMITS.filterDepth.value)
      tooDeep([], input, reading);
    return problems === 0 ? read : null;
  } catch (error) {
    if (!(error instanceof StopReading)) throw error;
    return null;
  }
}

function readRoot(input: unknown, reading: Reading, acceptsCondition: boolean): Filter | null {
  if (input === undefined) return reading.fail([], "required", "Required.", input);
  if (acceptsCondition && isObject(input) && "field" in input && !("conditions" in input)) {
    const condition = readCondition(input, [], reading);
    return condition === null ? null : { operator: "AND", conditions: [condition] };
  }
  return readGroup(input, [], 1, reading);
}

function depthOf(filter: Filter): number {
  return 1 + Math.max(0, ...filter.conditions.map((part) => ("conditions" in part ? depthOf(part) : 0)));
}

function tooDeep(path: Path, input: unknown, reading: Reading): null {
  return reading.fail(
    path,
    "too_big",
    withValues("Groups may be nested at most {most} levels deep.", { most: LIMITS.filterDepth.value }),
    input,
  );
}

/** Reads a group in either form: `{ operator, conditions }` or `{ logic, groups }`. */
function readGroup(input: unknown, path: Path, depth: number, reading: Reading): Filter | null {
  if (!isObject(input))
    return reading.fail(path, "invalid_type", "Must be an object { operator, conditions }.", input);
  if (depth > LIMITS.filterDepth.value) return tooDeep(path, input, reading);
  const isGrouped = "groups" in input || "logic" in input;
  const name = isGrouped ? "logic" : "operator";
  const operator = readLogic(input[name], [...path, name], reading);
  const parts = isGrouped
    ? readGroups(input["groups"], [...path, "groups"], depth, reading)
    : readParts(input["conditions"], [...path, "conditions"], depth, reading);
  if (operator === null || parts === null) return null;
  const [only] = parts;
  // A single group needs no logic, so its content replaces it.
  if (isGrouped && parts.length === 1 && only !== undefined && "conditions" in only) return only;
  return { operator, conditions: parts };
}

function readLogic(input: unknown, path: Path, reading: Reading): "AND" | "OR" | null {
  if (input === "AND" || input === "OR") return input;
  return input === undefined
    ? reading.fail(path, "required", "Required: AND or OR.", input)
    : reading.fail(path, "invalid_enum_value", "Must be AND or OR.", input);
}

type Part = Filter | FilterCondition;

/** Returns every valid part; null if there is no list. */
function readParts(input: unknown, path: Path, depth: number, reading: Reading): Part[] | null {
  const list = readList(input, path, reading);
  return (
    list?.map((part, at) => readPart(part, [...path, at], depth, reading)).filter((part) => part !== null) ??
    null
  );
}

/** Reads a list with at least one item. */
function readList(input: unknown, path: Path, reading: Reading): readonly unknown[] | null {
  if (input === undefined || input === null) return reading.fail(path, "required", "Required.", input);
  if (!Array.isArray(input)) return reading.fail(path, "invalid_type", "Must be a list.", input);
  if (input.length === 0)
    return reading.fail(path, "too_small", "Must contain at least one condition.", input);
  // Counts first, so that a list of ten thousand is not read up to the limit.
  if (input.length > LIMITS.filterConditions.value) reading.count(input.length);
  return input as readonly unknown[];
}

function readPart(input: unknown, path: Path, depth: number, reading: Reading): Part | null {
  if (!isObject(input))
    return reading.fail(
      path,
      "invalid_type",
      "Must be a condition { field, operator, value } or a group { operator, conditions }.",
      input,
    );
  const isGroup = !("field" in input) && ("conditions" in input || "groups" in input || "logic" in input);
  return isGroup ? readGroup(input, path, depth + 1, reading) : readCondition(input, path, reading);
}

/** Reads `groups` of the second form. In each group, the filters and a nested condition must all match. */
function readGroups(input: unknown, path: Path, depth: number, reading: Reading): Part[] | null {
  const groups = readList(input, path, reading);
  return (
    groups
      ?.map((group, at) => readOneGroup(group, [...path, at], depth, reading))
      .filter((part) => part !== null) ?? null
  );
}

function readOneGroup(input: unknown, path: Path, depth: number, reading: Reading): Part | null {
  if (!isObject(input))
    return reading.fail(path, "invalid_type", "Must be an object { filters, conditions? }.", input);
  const { filters, conditions } = input;
  const hasNested = conditions !== undefined && conditions !== null;
  const hasNoFilters =
    filters === undefined || filters === null || (Array.isArray(filters) && filters.length === 0);
  if (hasNoFilters && !hasNested)
    return reading.fail([...path, "filters"], "required", "Must contain at least one filter.", input);
  const parts = hasNoFilters ? [] : readParts(filters, [...path, "filters"], depth, reading);
  const nested = hasNested ? readGroup(conditions, [...path, "conditions"], depth + 1, reading) : null;
  if (parts === null || (hasNested && nested === null)) return null;
  const all = nested === null ? parts : [...parts, nested];
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : { operator: "AND", conditions: all };
}
