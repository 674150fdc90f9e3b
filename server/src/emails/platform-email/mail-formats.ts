// Formats numbers, days and plurals in the languages of platform email. Pure.
import type { MailLanguage } from "./mail-language.ts";

/** More digits than any threshold has (0.075 %). */
const MAX_PERCENT_DIGITS = 4;

export interface MailFormats {
  number(value: number): string;
  /** @param value in percent, so that 7 is 7 % */
  percent(value: number): string;
  /** @param day such as `2026-11-23`, in UTC */
  day(day: string): string;
  /** Formats a time in UTC with minutes. */
  instant(at: Date): string;
  /** Formats a number with its noun, such as `counted(1, "mail", "mails")`. */
  counted(value: number, one: string, other: string): string;
}

export function formatsOf(language: MailLanguage): MailFormats {
  const numbers = new Intl.NumberFormat(language);
  const percents = new Intl.NumberFormat(language, {
    style: "percent",
    maximumFractionDigits: MAX_PERCENT_DIGITS,
  });
  const days = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  const instants = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  const plurals = new Intl.PluralRules(language);
  return {
    number: (value) => numbers.format(value),
    percent: (value) => percents.format(value / 100),
    day: (day) => days.format(Date.parse(day)),
    instant: (at) => `${instants.format(at)} UTC`,
    counted: (value, one, other) =>
      `${numbers.format(value)} ${plurals.select(value) === "one" ? one : other}`,
  };
}
