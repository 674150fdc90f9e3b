// Conditions of workflows in the words of the filter language: they may also ask about what an execution carries with it.
import { FILTER_OPERATORS } from "../filter-fields.ts";
import type { issue } from "../field.ts";
import type { Filter } from "../filters.ts";
import { LIMITS } from "../limits/limits.ts";
import { readFilter } from "../read-filter.ts";

/** The key beside a contact's data under which a filter finds what the execution carries. No caller can write it: it is no text of a key. */
export const EXECUTION_KEY = "\u0001execution";

/** `event.plan` is the data of what started it, as is `workflow.plan`; `steps.<name>.x` what an earlier step was answered. */
const CARRIED = /^(event|workflow|steps)\.(.+)$/su;
const VALUE_OPERATORS: ReadonlySet<string> = new Set(
  Object.keys(FILTER_OPERATORS.data).filter((operator) => !(operator in FILTER_OPERATORS.event)),
);

const NESTED: ReadonlySet<string> = new Set(["conditions", "groups", "filters"]);
/** Each level of a filter is an object and a list. */
const MOST_LEVELS = 2 * LIMITS.filterDepth.value + 2;

/**
 * Reads `{field, operator, value, unit?}` or a whole filter. A field may begin with `contact.`. `event.<name>` with an operator
 * of events asks whether that event happened; with any other operator `event.<path>` is the data of the event that started the
 * execution. Whether that has a key is asked of `workflow.<path>`.
 */
export function readWorkflowCondition(
  written: unknown,
  push: (problem: ReturnType<typeof issue>) => void,
): Filter | null {
  return readFilter(translated(written, 0), push, true);
}

/** The same with fields of executions in the words of filters; what is nested deeper than a filter may be is refused as it is. */
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

/** The field as a person writes it, of one that was read. */
export function shownField(field: string): string {
  return field.replace(`data.${EXECUTION_KEY}.`, "");
}
