// Translates a stored CONDITION to a filter for the condition builder, and back.
// The builder knows no data carried by executions, so their fields become custom fields with a mark.
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";

/** Marks data carried by an execution, because no custom field can begin with this character. */
const MARK = "data.\u0001";
/** `event.` with one of these operators is about an event of the contact, and otherwise about the data of the starting event. */
const ABOUT_EVENTS: ReadonlySet<string> = new Set([
  "exists",
  "notExists",
  "triggered",
  "notTriggered",
  "triggeredWithin",
  "triggeredOlderThan",
  "notTriggeredWithin",
]);

type Raw = Readonly<Record<string, unknown>>;

/** Returns the filter of a stored condition in any of the forms that the API accepts. */
export function filterOfStored(config: Raw): Filter {
  if (!("conditions" in config || "groups" in config))
    return { operator: "AND", conditions: [partOf(config)] };
  return groupOf(config);
}

function groupOf(config: Raw): Filter {
  const operator = (config["operator"] ?? config["logic"]) === "OR" ? "OR" : "AND";
  if (!Array.isArray(config["groups"]))
    return { operator, conditions: ((config["conditions"] ?? []) as Raw[]).map(readPart) };
  const groups = (config["groups"] as Raw[]).map((group) => {
    const nested = group["conditions"] as Raw | undefined;
    const filters = ((group["filters"] ?? []) as Raw[]).map(readPart);
    const parts = [...filters, ...(nested === undefined ? [] : [groupOf(nested)])];
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { operator: "AND" as const, conditions: parts };
  });
  const [only] = groups;
  const isWhole = groups.length === 1 && only !== undefined && "conditions" in only;
  return isWhole ? only : { operator, conditions: groups };
}

const readPart = (part: Raw) => ("conditions" in part || "groups" in part ? groupOf(part) : partOf(part));

function partOf(part: Raw): FilterCondition {
  const condition = part as unknown as FilterCondition;
  const field = condition.field.replace(/^contact\.(?=email$|subscribed$|createdAt$|updatedAt$|data\.)/, "");
  const isCarried =
    /^(workflow|steps)\../.test(field) || (/^event\../.test(field) && !ABOUT_EVENTS.has(condition.operator));
  return { ...condition, field: isCarried ? `${MARK}${field}` : field };
}

/** Returns the filter as the API stores it. */
export function storedFilterOf({ operator, conditions }: Filter): Filter {
  return {
    operator,
    conditions: conditions.map((part) =>
      "conditions" in part ? storedFilterOf(part) : { ...part, field: storedField(part) },
    ),
  };
}

function storedField({ field, operator }: FilterCondition): string {
  if (!field.startsWith(MARK)) return field;
  const carried = field.slice(MARK.length);
  return ABOUT_EVENTS.has(operator) ? carried.replace(/^event\./, "workflow.") : carried;
}

/** Returns the builder's field for data of the event that starts the execution. */
export function eventDataField(key: string): string {
  return `${MARK}event.${key}`;
}

/** Returns the name of data carried by the execution, such as `event.plan`; null for other fields. */
export function carriedName(field: string): string | null {
  return field.startsWith(MARK) ? field.slice(MARK.length) : null;
}
