// The operators in words: how each is called in a list, what it means in a sentence of help.
import type { FilterOperator, FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { FilterCondition } from "@postloft/contract/filters.ts";
import { plural, t } from "../../../text/t.ts";
import { kindOf, type FieldType } from "./condition-tree.ts";

const NAMES: Record<FilterOperator, string> = {
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
  exists: t("has a value"),
  notExists: t("has no value"),
  within: t("is in the last"),
  olderThan: t("is longer ago than"),
  triggered: t("happened"),
  notTriggered: t("never happened"),
  triggeredWithin: t("happened in the last"),
  triggeredOlderThan: t("last happened longer ago than"),
  notTriggeredWithin: t("did not happen in the last"),
  memberOfSegment: t("is a member"),
  notMemberOfSegment: t("is not a member"),
};
const NAMES_OF_DATES: Partial<Record<FilterOperator, string>> = {
  greaterThan: t("is after"),
  lessThan: t("is before"),
  greaterThanOrEqual: t("is on or after"),
  lessThanOrEqual: t("is on or before"),
};
const HELP: Partial<Record<FilterOperator, string>> = {
  notEquals: t("Also holds for contacts without a value."),
  contains: t("A part of a text in any case, or one entry of a list."),
  notContains: t("Also holds for contacts without a value."),
  startsWith: t("In any case of letters."),
  endsWith: t("In any case of letters."),
  in: t("Any of the values. Press Enter after each."),
  notIn: t("None of the values; also holds for contacts without one. Press Enter after each."),
  exists: t("Whatever the value is."),
  notExists: t("Nothing is stored under this name."),
  within: t("Moves with time: contacts leave by themselves."),
  olderThan: t("Moves with time: contacts enter by themselves."),
  triggered: t("At least so many times: ever, or within a time up to now."),
  notTriggered: t("Not once, ever. Also holds for new contacts."),
  triggeredWithin: t("At least once in this time up to now."),
  triggeredOlderThan: t("It did happen, but not in this time up to now."),
  notTriggeredWithin: t("Not once in this time up to now; it may never have happened."),
  memberOfSegment: t("Whoever is in the other segment at that moment."),
  notMemberOfSegment: t("Whoever is not in the other segment at that moment."),
};

/** Whether what a condition compares is an instant. */
export function isAboutDates({ field, value }: FilterCondition, type?: FieldType): boolean {
  const kind = kindOf(field);
  if (kind === "createdAt" || kind === "updatedAt") return true;
  return kind === "data" && (type === "date" || (type === undefined && typeof value === "string"));
}

export function operatorName(operator: FilterOperator, isOfDates: boolean): string {
  return (isOfDates ? NAMES_OF_DATES[operator] : undefined) ?? NAMES[operator];
}

/** What an operator means where its name does not say it all. */
export function operatorHelp(operator: FilterOperator): string | undefined {
  return HELP[operator];
}

/** "3 days". */
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

/** "in the last 3 days": whole, since many languages bend each word of it. */
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

export const UNIT_NAMES: Record<FilterUnit, string> = {
  minutes: t("minutes"),
  hours: t("hours"),
  days: t("days"),
  weeks: t("weeks"),
  months: t("months"),
};
