// Decides which texts are dates in a filter, and their exact time. A date without a time of day is midnight UTC.

/** A day that exists, in the years 0000 to 9999. Avoids `\d`, because PostgreSQL reads it depending on the locale. */
const DAY =
  "(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)" +
  "|(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
const TIME = "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,9})?";
const OFFSET = "[+-](?:0[0-9]|1[0-4]):[0-5][0-9]";
/** A year with other four-digit years before and after it. */
const INNER_YEAR = "(?!000[01]|9999)";

/**
 * The allowed date forms, as regular expressions with the same meaning in JavaScript and in PostgreSQL. Days and UTC times begin with year
 * 0001. With an offset, one year is kept as a margin so that the result always has four digits.
 */
export const DATE_PATTERNS = {
  utc: `^${DAY}${TIME}Z$`,
  dayOrUtc: `^${DAY}(?:${TIME}Z)?$`,
  offset: `^${INNER_YEAR}${DAY}${TIME}${OFFSET}$`,
} as const;
export const FIRST_DATE = "0001";

const DAY_OR_UTC = new RegExp(DATE_PATTERNS.dayOrUtc);
const WITH_OFFSET = new RegExp(DATE_PATTERNS.offset);

/** Any text that looks like a date, whether or not the day and time exist. */
const DATE_LIKE =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/;
/** The longest text that can be a date, with nanoseconds and an offset. */
const MAX_LENGTH = "9999-12-31T23:59:59.999999999+00:00".length;

export interface FilterDate {
  /** Milliseconds since 1970; finer parts are cut off. */
  atMs: number;
  /** Whether it has a time of day. Conditions with a unit accept no other dates. */
  hasTime: boolean;
}

/** Parses a date. Returns null if the text is not a date, or if the day does not exist. */
export function readDate(text: string): FilterDate | null {
  if (text.length > MAX_LENGTH) return null;
  const isUtc = DAY_OR_UTC.test(text) && text >= FIRST_DATE;
  const hasOffset = !isUtc && WITH_OFFSET.test(text);
  if (!isUtc && !hasOffset) return null;
  const hasTime = text.includes("T");
  const fraction = /\.([0-9]{1,3})/.exec(text)?.[1] ?? "";
  const time = `${hasTime ? text.slice(10, 19) : "T00:00:00"}.${fraction.padEnd(3, "0")}`;
  const atMs = Date.parse(`${text.slice(0, 10)}${time}${hasOffset ? text.slice(-6) : "Z"}`);
  return { atMs, hasTime };
}

/** Returns whether a text looks like a date but does not exist, such as 2026-02-31. */
export function isImpossibleDate(text: string): boolean {
  return text.length <= MAX_LENGTH && DATE_LIKE.test(text) && readDate(text) === null;
}
