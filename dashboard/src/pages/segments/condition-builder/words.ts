// Conditions in words: names of operators, units and fields, and a whole condition as a sentence.
import type { FilterOperator, FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { FilterCondition } from "@postloft/contract/filters.ts";
import { t } from "../../../text/t.ts";
import { formOf, isGroup, type Part } from "./tree.ts";

export const OPERATORS: Record<FilterOperator, string> = {
  equals: t("is"),
  notEquals: t("is not"),
  contains: t("contains"),
  notContains: t("does not contain"),
  startsWith: t("begins with"),
  endsWith: t("ends with"),
  in: t("is one of"),
  notIn: t("is none of"),
  greaterThan: t("is more than"),
  lessThan: t("is less than"),
  greaterThanOrEqual: t("is at least"),
  lessThanOrEqual: t("is at most"),
  exists: t("is there"),
  notExists: t("is not there"),
  within: t("is within the last"),
  olderThan: t("is longer ago than"),
  triggered: t("happened"),
  notTriggered: t("never happened"),
  triggeredWithin: t("happened within the last"),
  triggeredOlderThan: t("last happened longer ago than"),
  notTriggeredWithin: t("did not happen within the last"),
  memberOfSegment: t("contains the contact"),
  notMemberOfSegment: t("does not contain the contact"),
};

export const UNITS: Record<FilterUnit, string> = {
  minutes: t("minutes"),
  hours: t("hours"),
  days: t("days"),
  weeks: t("weeks"),
  months: t("months"),
};

/** How a field is called, where segments have names. */
export type NameOf = (field: string) => string;

function valueText({ value, unit, window, ...condition }: FilterCondition): string {
  if (formOf(condition) === "boolean") return value === true ? t("yes") : t("no");
  const shown = Array.isArray(value) ? value.map((one) => `“${one}”`).join(", ") : value;
  if (formOf(condition) === "count")
    return [
      shown === undefined ? "" : t("at least {times} times", { times: String(shown) }),
      window === undefined || unit === undefined
        ? ""
        : t("within {window} {unit}", { window, unit: UNITS[unit] }),
    ]
      .filter((part) => part !== "")
      .join(" ");
  if (unit !== undefined) return `${shown} ${UNITS[unit]}`;
  return shown === undefined ? "" : Array.isArray(value) ? String(shown) : `“${shown}”`;
}

/** A condition, or a tree of them, as a person would say it. */
export function sentenceOf(part: Part, nameOf: NameOf): string {
  if (!isGroup(part)) return `${nameOf(part.field)} ${OPERATORS[part.operator]} ${valueText(part)}`.trim();
  const parts = part.conditions.map((one) => {
    const said = sentenceOf(one, nameOf);
    return isGroup(one) && one.conditions.length > 1 ? `(${said})` : said;
  });
  return parts.join(part.operator === "AND" ? ` ${t("and")} ` : ` ${t("or")} `);
}
