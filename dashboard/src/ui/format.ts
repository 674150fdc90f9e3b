// Formats numbers, dates and times for the user's locale and time zone.
import { locale } from "../text/t.ts";

const NUMBER = new Intl.NumberFormat(locale());
const PERCENT = new Intl.NumberFormat(locale(), { style: "percent", maximumSignificantDigits: 3 });
const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte"].map(
  (unit, at) =>
    new Intl.NumberFormat(locale(), {
      style: "unit",
      unit,
      // `Intl` has no plural for the short form of bytes.
      unitDisplay: at === 0 ? "long" : "short",
      maximumFractionDigits: 1,
    }),
);
const DAY = new Intl.DateTimeFormat(locale(), { dateStyle: "medium" });
const CALENDAR_DAY = new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" });
const INSTANT = new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" });
const TIME = new Intl.DateTimeFormat(locale(), { timeStyle: "short" });
const RELATIVE = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
const SPANS = [
  ["second", 1_000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000],
] as const;
/** Older dates are shown in full instead of as "9 days ago". */
const RELATIVE_UP_TO_MS = 7 * 86_400_000;

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

/** @param share between 0 and 1 */
export function formatShare(share: number): string {
  return PERCENT.format(share);
}

/** @param percent between 0 and 100, as in the API */
export function formatPercent(percent: number): string {
  return PERCENT.format(percent / 100);
}

/** Currencies for which Stripe uses other decimals than `Intl`. */
const STRIPE_DIGITS: Readonly<Record<string, number>> = { isk: 2, ugx: 2 };

/** @param amount in the currency's smallest unit, as in Stripe */
export function formatMoney(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(locale(), { style: "currency", currency });
  const digits = STRIPE_DIGITS[currency] ?? format.resolvedOptions().maximumFractionDigits ?? 0;
  return format.format(amount / 10 ** digits);
}

/** Counts 1024 bytes as a kilobyte, because our limits are multiples of 1024. */
export function formatBytes(bytes: number): string {
  const step = Math.min(BYTES.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return BYTES[step]?.format(bytes / 1024 ** step) ?? "";
}

export function formatDay(instant: string): string {
  return DAY.format(new Date(instant));
}

export function formatInstant(instant: string): string {
  return INSTANT.format(new Date(instant));
}

/** Formats a calendar date such as 2027-01-31 independently of the time zone. */
export function formatDate(date: string): string {
  return date === "" ? "" : CALENDAR_DAY.format(new Date(`${date}T00:00:00Z`));
}

export function formatTime(instant: string): string {
  return TIME.format(new Date(instant));
}

/** Returns "3 min. ago" for recent times and the full date for others. */
export function formatAgo(instant: string): string {
  const distanceMs = Date.parse(instant) - Date.now();
  if (Math.abs(distanceMs) > RELATIVE_UP_TO_MS) return formatInstant(instant);
  const [unit, ms] = SPANS.findLast(([, one]) => Math.abs(distanceMs) >= one) ?? SPANS[0];
  return RELATIVE.format(Math.round(distanceMs / ms), unit);
}
