// Describes a filter as a sentence.
import type { Filter, FilterCondition, FilterScalar } from "@postloft/contract/filters.ts";
import { locale, plural, t } from "../../../text/t.ts";
import { formatNumber } from "../../../ui/format.ts";
import { kindOf } from "./condition-tree.ts";
import type { Fields } from "./fields.ts";
import { formatSpan, formatTimeAhead, formatTimeUpToNow, isAboutDates } from "./operators.ts";

const LISTS = {
  AND: new Intl.ListFormat(locale(), { type: "conjunction" }),
  OR: new Intl.ListFormat(locale(), { type: "disjunction" }),
};

/** Returns a sentence such as "Contacts where plan is “pro” and Mail opened happened in the last 30 days." */
export function sentenceOf(filter: Filter, fields: Pick<Fields, "nameOf" | "typeOf">): string {
  return t("Contacts where {conditions}.", { conditions: listOf(filter, fields) });
}

function listOf({ operator, conditions }: Filter, fields: Pick<Fields, "nameOf" | "typeOf">): string {
  const parts = conditions.map((part) => {
    if (!("conditions" in part)) return phraseOf(part, fields);
    const inner = listOf(part, fields);
    return conditions.length === 1 || part.conditions.length === 1 ? inner : `(${inner})`;
  });
  return LISTS[operator].format(parts);
}

/** Returns a value as part of a sentence, with texts in quotes so that their ends are visible. */
export function formatValue(value: unknown): string {
  if (value === true) return t("yes");
  if (value === false) return t("no");
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "string") return t("“{text}”", { text: value });
  if (Array.isArray(value)) return LISTS.OR.format((value as FilterScalar[]).map(formatValue));
  return JSON.stringify(value ?? null);
}

/** Returns a condition as part of a sentence. */
export function phraseOf(
  condition: FilterCondition,
  { nameOf, typeOf }: Pick<Fields, "nameOf" | "typeOf">,
): string {
  const { field: path, operator, value: input, unit, window } = condition;
  const kind = kindOf(path);
  const field = nameOf(path);
  if (kind === "subscribed" && typeof input === "boolean")
    return input === (operator === "equals")
      ? t("the contact is subscribed")
      : t("the contact is not subscribed");
  const value = formatValue(input);
  const hasSpan = typeof input === "number" && unit !== undefined;
  const span = hasSpan ? formatSpan(input, unit) : "";
  const upToNow = hasSpan ? formatTimeUpToNow(input, unit) : "";
  const isOfDates = isAboutDates(condition, typeOf(path));
  switch (operator) {
    case "equals":
      return t("{field} is {value}", { field, value });
    case "notEquals":
      return t("{field} isn't {value}", { field, value });
    case "contains":
      return t("{field} contains {value}", { field, value });
    case "notContains":
      return t("{field} doesn't contain {value}", { field, value });
    case "startsWith":
      return t("{field} starts with {value}", { field, value });
    case "endsWith":
      return t("{field} ends with {value}", { field, value });
    case "in":
      return t("{field} is one of {value}", { field, value });
    case "notIn":
      return t("{field} isn't one of {value}", { field, value });
    case "greaterThan":
      return isOfDates
        ? t("{field} is after {value}", { field, value })
        : t("{field} is more than {value}", { field, value });
    case "lessThan":
      return isOfDates
        ? t("{field} is before {value}", { field, value })
        : t("{field} is less than {value}", { field, value });
    case "greaterThanOrEqual":
      return isOfDates
        ? t("{field} is on or after {value}", { field, value })
        : t("{field} is at least {value}", { field, value });
    case "lessThanOrEqual":
      return isOfDates
        ? t("{field} is on or before {value}", { field, value })
        : t("{field} is at most {value}", { field, value });
    case "within":
      // The times that Postloft sets itself are never in the future.
      return kind === "data"
        ? t("{field} is {upToNow} or in the future", { field, upToNow })
        : t("{field} is {upToNow}", { field, upToNow });
    case "olderThan":
      return t("{field} is older than {span}", { field, span });
    case "inNext":
    case "onDay":
    case "isToday":
    case "anniversary":
      return phraseOfDay(condition, field);
    default:
      return phraseOfPresence(operator, { kind, field, span, upToNow, times: input, unit, window });
  }
}

/** Returns the phrase of an operator that compares days. */
function phraseOfDay({ operator, value, unit }: FilterCondition, field: string): string {
  if (operator === "isToday") return t("{field} is today", { field });
  if (operator === "onDay") return t("{field} is on {day}", { field, day: formatValue(value) });
  const amount = typeof value === "number" ? value : 0;
  if (operator === "inNext")
    return t("{field} is {ahead}", { field, ahead: formatTimeAhead(amount, unit ?? "days") });
  return amount === 0
    ? t("{field} has its anniversary today", { field })
    : t("{field} has its anniversary today or {ahead}", { field, ahead: formatTimeAhead(amount, "days") });
}

interface Presence {
  kind: ReturnType<typeof kindOf>;
  field: string;
  span: string;
  upToNow: string;
  times: FilterCondition["value"];
  unit: FilterCondition["unit"];
  window: FilterCondition["window"];
}

/** Returns the phrase for operators that test existence: of a value, an event or a membership. */
function phraseOfPresence(operator: FilterCondition["operator"], said: Presence): string {
  const { kind, field, span, upToNow, times, unit, window } = said;
  switch (operator) {
    case "triggered": {
      const count = typeof times === "number" ? times : 1;
      return unit !== undefined && window !== undefined
        ? plural(count, "{field} happened {upToNow}", "{field} happened {n} times {upToNow}", {
            field,
            upToNow: formatTimeUpToNow(window, unit),
          })
        : plural(count, "{field} happened", "{field} happened {n} times", { field });
    }
    case "notTriggered":
      return t("{field} never happened", { field });
    case "triggeredWithin":
      return t("{field} happened {upToNow}", { field, upToNow });
    case "triggeredOlderThan":
      return t("{field} last happened more than {span} ago", { field, span });
    case "notTriggeredWithin":
      return t("{field} didn't happen {upToNow}", { field, upToNow });
    case "memberOfSegment":
      return t("the contact is in {field}", { field });
    case "notMemberOfSegment":
      return t("the contact isn't in {field}", { field });
    default: {
      const isThere = operator === "exists";
      if (kind === "event")
        return isThere ? t("{field} happened", { field }) : t("{field} never happened", { field });
      if (kind === "segment")
        return isThere
          ? t("the contact is in {field}", { field })
          : t("the contact isn't in {field}", { field });
      return isThere ? t("{field} has a value", { field }) : t("{field} has no value", { field });
    }
  }
}
