// Translates workflow conditions into the filter language. They can also refer to data carried by an execution.
import { z } from "zod";
import { FILTER_OPERATORS } from "../filter-fields.ts";
import type { issue } from "../field.ts";
import { filterOrConditionNames, type Filter } from "../filters.ts";
import { LIMITS } from "../limits/limits.ts";
import { readFilter } from "../read-filter.ts";
import { readAs } from "../unknown-fields.ts";

/**
 * The key under which a filter finds the execution's data, next to the contact's data. Callers cannot write it, because it is not a valid
 * key.
 */
export const EXECUTION_KEY = "\u0001execution";

/** `event.plan` and `workflow.plan` are the data of the starting event, and `steps.<name>.x` the result of an earlier step. */
const CARRIED = /^(event|workflow|steps)\.(.+)$/su;
const VALUE_OPERATORS: ReadonlySet<string> = new Set(
  Object.keys(FILTER_OPERATORS.data).filter((operator) => !(operator in FILTER_OPERATORS.event)),
);

const NESTED: ReadonlySet<string> = new Set(["conditions", "groups", "filters"]);
/** Each level of a filter is an object and a list. */
const MOST_LEVELS = 2 * LIMITS.filterDepth.value + 2;

/**
 * Reads `{field, operator, value, unit?}` or a whole filter. A field may begin with `contact.`.
 * `event.<name>` with an event operator asks whether that event happened. With any other operator, `event.<path>` is the data of the event
 * that started the execution. Use `workflow.<path>` to ask whether that data has a key.
 */
export function readWorkflowCondition(
  written: unknown,
  push: (problem: ReturnType<typeof issue>) => void,
): Filter | null {
  return readFilter(translated(written, 0), push, true, true);
}

/** A condition as its author wrote it. `filterOfCondition` translates it to the filter language. */
export const workflowCondition = readAs(
  z.looseObject({}).superRefine((written, context) => {
    readWorkflowCondition(written, (problem) => context.issues.push(problem));
  }),
  filterOrConditionNames,
);

/**
 * Returns a stored condition as a filter.
 * @throws Error for a condition that was never checked
 */
export function filterOfCondition(written: Readonly<Record<string, unknown>>): Filter {
  const read = readWorkflowCondition(written, (problem) => {
    throw new Error(`A stored condition is invalid: ${problem.message}`);
  });
  if (read === null) throw new Error("A stored condition is invalid.");
  return read;
}

/** Returns the part with execution fields in the filter language. Parts nested too deeply are returned unchanged and then rejected. */
function translated(part: unknown, depth: number): unknown {
  if (depth > MOST_LEVELS) return part;
  if (Array.isArray(part)) return part.map((one) => translated(one, depth + 1));
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) =>
    NESTED.has(key) ? [key, translated(value, depth + 1)] : [key, value],
  );
  const copy: Record<string, unknown> = Object.fromEntries(entries);
  if (typeof copy["field"] === "string") copy["field"] = fieldOf(copy["field"], copy["operator"]);
  return copy;
}

function fieldOf(field: string, operator: unknown): string {
  const plain = field.replace(/^contact\.(?=email$|subscribed$|createdAt$|updatedAt$|data\.)/, "");
  const [, source, path] = CARRIED.exec(plain) ?? [];
  if (source === undefined || path === undefined) return plain;
  if (source === "event" && !VALUE_OPERATORS.has(String(operator))) return plain;
  return `data.${EXECUTION_KEY}.${source}.${path}`;
}

/** Returns a parsed field as its author wrote it. */
export function shownField(field: string): string {
  return field.replace(`data.${EXECUTION_KEY}.`, "");
}
