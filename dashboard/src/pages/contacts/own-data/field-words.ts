// The values of a contact's data in words: their kinds, how each is shown, and what is wrong with what was typed.
import { locale, t } from "../../../text/t.ts";
import { formatDate, formatInstant } from "../../../ui/format.ts";
import type { Kind, Problem } from "./field-value.ts";

export const KIND_NAMES: Record<Kind, string> = {
  text: t("Text"),
  number: t("Number"),
  boolean: t("Yes or no"),
  day: t("Date"),
  instant: t("Date and time"),
  json: t("JSON"),
};
export const PROBLEMS: Record<Problem, string> = {
  number: t("This is not a number."),
  inexact: t("A number with so many digits would be stored as another one: make a text of it."),
  date: t("This is not a whole date."),
  json: t("This is not JSON yet."),
  empty: t("Nothing is no value: write one, or remove the field."),
};
/** A number of somebody else's is shown with all of its digits. */
const EXACT = new Intl.NumberFormat(locale(), { maximumFractionDigits: 20 });

export function formatValue(value: unknown, kind: Kind): string {
  switch (kind) {
    case "number":
      return EXACT.format(Number(value));
    case "boolean":
      return value === true ? t("yes") : t("no");
    case "day":
      return formatDate(String(value));
    case "instant":
      return formatInstant(String(value));
    case "json":
      return JSON.stringify(value);
    case "text":
      return String(value);
  }
}
