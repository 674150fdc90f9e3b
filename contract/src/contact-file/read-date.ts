// Converts the date formats of spreadsheets and services to ISO 8601, as a day or as a time in UTC.
import type { DateOrder } from "./mapping.ts";

const TIME = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([ap])\.?m\.?)?`;
const ZONE = String.raw`(?:\s*(z|utc|gmt|[+-]\d{2}(?::?\d{2})?)(?:\s*(?:utc|gmt))?)?`;
const REST = `(?:(?:t|,?\\s+)${TIME}${ZONE})?`;
const ISO = new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2})${REST}$`, "i");
const NUMERIC = new RegExp(`^(\\d{1,4})([/.\\-])\\s?(\\d{1,2})\\2\\s?(\\d{1,4})${REST}$`, "i");
const MONTH_FIRST = new RegExp(
  `^(?:\\p{L}{2,9}\\.?,?\\s+)?(\\p{L}{3,10})\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})${REST}$`,
  "iu",
);
const DAY_FIRST = new RegExp(
  `^(?:\\p{L}{2,9}\\.?,?\\s+)?(\\d{1,2})(?:st|nd|rd|th|\\.|er|º)?(?:\\s+de)?[\\s-]+(\\p{L}{3,10})\\.?(?:\\s+de)?,?[\\s-]+(\\d{4})${REST}$`,
  "iu",
);
const MAX_CHARS = 48;

/** Beginnings of month names without accents, in English, German, Spanish, French, Italian, Portuguese and Dutch. */
const MONTHS: ReadonlyArray<readonly [string, number]> = [
  ...["jan", "ene", "gen"].map((start) => [start, 1] as const),
  ...["feb", "fev"].map((start) => [start, 2] as const),
  ...["mar", "maerz", "mrz", "maa", "mrt"].map((start) => [start, 3] as const),
  ...["apr", "avr", "abr"].map((start) => [start, 4] as const),
  ...["may", "mai", "mag", "mei"].map((start) => [start, 5] as const),
  ...["jun", "juin", "giu"].map((start) => [start, 6] as const),
  ...["jul", "juil", "lug"].map((start) => [start, 7] as const),
  ...["aug", "aou", "ago"].map((start) => [start, 8] as const),
  ...["sep", "set"].map((start) => [start, 9] as const),
  ...["oct", "okt", "ott", "out"].map((start) => [start, 10] as const),
  ...["nov"].map((start) => [start, 11] as const),
  ...["dec", "dez", "dic"].map((start) => [start, 12] as const),
];

const MARKS = /\p{M}/gu;

function monthOf(name: string): number | undefined {
  const plain = name.normalize("NFKD").replace(MARKS, "").toLowerCase();
  return MONTHS.find(([start]) => plain.startsWith(start))?.[1];
}

/** Returns whether a text may be a date, so that other texts cost nothing. */
export function mayBeDate(text: string): boolean {
  return text.length >= 6 && text.length <= MAX_CHARS && /\d/.test(text);
}

/** Parses an ISO date, also with a blank instead of `T`. A time without a zone is taken as UTC. Returns null for any other text. */
export function readIsoDate(text: string): string | null {
  if (!mayBeDate(text)) return null;
  const parts = ISO.exec(text);
  if (parts === null) return null;
  const [, year, month, day, ...time] = parts;
  return write(Number(year), Number(month), Number(day), time);
}

/** Parses a date with a month name, such as `Feb 3, 2024` and `3. Februar 2024`. Returns null for any other text. */
export function readNamedDate(text: string): string | null {
  if (!mayBeDate(text)) return null;
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null) {
    const [, month = "", day, year, ...time] = monthFirst;
    return write(Number(year), monthOf(month), Number(day), time);
  }
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst === null) return null;
  const [, day, month = "", year, ...time] = dayFirst;
  return write(Number(year), monthOf(month), Number(day), time);
}

/** Parses a numeric date such as `03/02/2024` in the given order. Returns null for any other text and for two-digit years. */
export function readNumericDate(text: string, order: DateOrder): string | null {
  if (!mayBeDate(text)) return null;
  const parts = NUMERIC.exec(text);
  if (parts === null) return null;
  const [, first = "", , second = "", third = "", ...time] = parts;
  if (first.length === 4)
    return third.length > 2 ? null : write(Number(first), Number(second), Number(third), time);
  if (third.length !== 4 || first.length > 2 || order === "YMD") return null;
  const [day, month] = order === "DMY" ? [first, second] : [second, first];
  return write(Number(third), Number(month), Number(day), time);
}

/** Parses a date in any form; numeric dates need the order. */
export function readDate(text: string, order: DateOrder | null): string | null {
  const trimmed = text.trim();
  return readIsoDate(trimmed) ?? readNamedDate(trimmed) ?? readNumericDate(trimmed, order ?? "YMD");
}

const two = (number: number) => String(number).padStart(2, "0");
const MINUTE_MS = 60_000;

/** Returns null if the day or time does not exist. */
function write(
  year: number,
  month: number | undefined,
  day: number,
  time: ReadonlyArray<string | undefined>,
): string | null {
  if (month === undefined || month < 1 || month > 12 || day < 1 || year < 1) return null;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const [hours, minutes, seconds, fraction, half, zone] = time;
  if (hours === undefined) return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  const hour = hourOf(Number(hours), half);
  if (hour === null || Number(minutes) > 59 || Number(seconds ?? 0) > 59) return null;
  date.setUTCHours(
    hour,
    Number(minutes),
    Number(seconds ?? 0),
    Number((fraction ?? "0").slice(0, 3).padEnd(3, "0")),
  );
  const instant = new Date(date.getTime() - offsetMinutes(zone) * MINUTE_MS).toISOString();
  return fraction === undefined ? instant.replace(".000Z", "Z") : instant;
}

function hourOf(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour > 23 ? null : hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
}

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined || !/^[+-]/.test(zone)) return 0;
  const digits = zone.replace(/\D/g, "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || "0");
  return zone.startsWith("-") ? -minutes : minutes;
}
