// Names and help texts of the filter operators.
import type { FilterOperator, FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { FilterCondition } from "@postloft/contract/filters.ts";
import { plural, t } from "../../../text/t.ts";
import { kindOf, type FieldType } from "./condition-tree.ts";

const NAMES: Record<FilterOperator, string> = {
  equals: t("is"),
  notEquals: t("isn't"),
  contains: t("contains"),
  notContains: t("doesn't contain"),
  startsWith: t("starts with"),
  endsWith: t("ends with"),
  in: t("is one of"),
  notIn: t("isn't one of"),
  greaterThan: t("is more than"),
  lessThan: t("is less than"),
  greaterThanOrEqual: t("is at least"),
  lessThanOrEqual: t("is at most"),
  exists: t("has a value"),
  notExists: t("has no value"),
  within: t("is in the last"),
  olderThan: t("is older than"),
  inNext: t("is in the next"),
  onDay: t("is on the day"),
  isToday: t("is today"),
  anniversary: t("has an anniversary"),
  triggered: t("happened"),
  notTriggered: t("never happened"),
  triggeredWithin: t("happened in the last"),
  triggeredOlderThan: t("last happened more than … ago"),
  notTriggeredWithin: t("didn't happen in the last"),
  memberOfSegment: t("is in the segment"),
  notMemberOfSegment: t("isn't in the segment"),
};
const NAMES_OF_DATES: Partial<Record<FilterOperator, string>> = {
  greaterThan: t("is after"),
  lessThan: t("is before"),
  greaterThanOrEqual: t("is on or after"),
  lessThanOrEqual: t("is on or before"),
};
const HELP: Partial<Record<FilterOperator, string>> = {
  notEquals: t("Includes contacts without a value."),
  contains: t("Matches part of a text or one item of a list. Case doesn't matter."),
  notContains: t("Includes contacts without a value."),
  startsWith: t("Case doesn't matter."),
  endsWith: t("Case doesn't matter."),
  in: t("Press Enter after each value."),
  notIn: t("Includes contacts without a value. Press Enter after each value."),
  exists: t("Any value matches."),
  notExists: t("Contacts without this field."),
  within: t("Includes future dates. Contacts leave automatically as time passes."),
  olderThan: t("Contacts enter automatically as time passes."),
  inNext: t("Contacts enter and leave automatically as time passes. Days are in UTC."),
  onDay: t("Days are in UTC."),
  isToday: t("Contacts enter and leave automatically each day. Days are in UTC."),
  anniversary: t("Same day and month in any year. Without a number, today. Days are in UTC."),
  triggered: t("At least this many times, ever or in a recent period."),
  notTriggered: t("Includes new contacts."),
  triggeredWithin: t("At least once in this period."),
  triggeredOlderThan: t("Happened before, but not in this period."),
  notTriggeredWithin: t("Not in this period, or never."),
  memberOfSegment: t("Contacts currently in the other segment."),
  notMemberOfSegment: t("Contacts currently not in the other segment."),
};

/** Returns whether the condition compares dates. */
export function isAboutDates({ field, value }: FilterCondition, type?: FieldType): boolean {
  const kind = kindOf(field);
  if (kind === "createdAt" || kind === "updatedAt") return true;
  return kind === "data" && (type === "date" || (type === undefined && typeof value === "string"));
}

export function operatorName(operator: FilterOperator, isOfDates: boolean): string {
  return (isOfDates ? NAMES_OF_DATES[operator] : undefined) ?? NAMES[operator];
}

/** Returns help for operators with names that are not self-explanatory. */
export function operatorHelp(operator: FilterOperator): string | undefined {
  return HELP[operator];
}

/** Returns a duration such as "3 days". */
export function formatSpan(amount: number, unit: FilterUnit): string {
  switch (unit) {
    case "minutes":
      return plural(amount, "{n} minute", "{n} minutes");
    case "hours":
      return plural(amount, "{n} hour", "{n} hours");
    case "days":
      return plural(amount, "{n} day", "{n} days");
    case "weeks":
      return plural(amount, "{n} week", "{n} weeks");
    case "months":
      return plural(amount, "{n} month", "{n} months");
  }
}

/** Returns a phrase such as "in the last 3 days". Translated as a whole, because many languages inflect every word. */
export function formatTimeUpToNow(amount: number, unit: FilterUnit): string {
  switch (unit) {
    case "minutes":
      return plural(amount, "in the last minute", "in the last {n} minutes");
    case "hours":
      return plural(amount, "in the last hour", "in the last {n} hours");
    case "days":
      return plural(amount, "in the last day", "in the last {n} days");
    case "weeks":
      return plural(amount, "in the last week", "in the last {n} weeks");
    case "months":
      return plural(amount, "in the last month", "in the last {n} months");
  }
}

/** Returns a phrase such as "in the next 3 days", translated as a whole. */
export function formatTimeAhead(amount: number, unit: FilterUnit): string {
  switch (unit) {
    case "minutes":
      return plural(amount, "in the next minute", "in the next {n} minutes");
    case "hours":
      return plural(amount, "in the next hour", "in the next {n} hours");
    case "days":
      return plural(amount, "in the next day", "in the next {n} days");
    case "weeks":
      return plural(amount, "in the next week", "in the next {n} weeks");
    case "months":
      return plural(amount, "in the next month", "in the next {n} months");
  }
}

export const UNIT_NAMES: Record<FilterUnit, string> = {
  minutes: t("minutes"),
  hours: t("hours"),
  days: t("days"),
  weeks: t("weeks"),
  months: t("months"),
};
