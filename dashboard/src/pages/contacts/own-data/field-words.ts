// Formats the values of a contact's data and names their kinds and errors.
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
  number: t("Enter a number."),
  inexact: t("This number has too many digits to store exactly. Save it as text."),
  date: t("Enter a complete date."),
  json: t("Not valid JSON yet."),
  empty: t("Enter a value or remove the field."),
};
/** Show all digits, because the number belongs to the user. */
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
