// Which texts are dates in a filter, and which instant each one is. A date without a time of day is midnight UTC.

/** A day that exists, in the years 0000 to 9999. Without `\d`, which PostgreSQL reads by its locale. */
const DAY =
  "(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)" +
  "|(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
const TIME = "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,9})?";
const OFFSET = "[+-](?:0[0-9]|1[0-4]):[0-5][0-9]";
/** A year before or after which there are others of four digits. */
const INNER_YEAR = "(?!000[01]|9999)";

/**
 * The forms a date may have, as regular expressions that mean the same in JavaScript and in PostgreSQL. Days and UTC
 * times begin with year 0001; with an offset there is a year of room, so that none leads out of four digits.
 */
export const DATE_PATTERNS = {
  utc: `^${DAY}${TIME}Z$`,
  dayOrUtc: `^${DAY}(?:${TIME}Z)?$`,
  offset: `^${INNER_YEAR}${DAY}${TIME}${OFFSET}$`,
} as const;
export const FIRST_DATE = "0001";

const DAY_OR_UTC = new RegExp(DATE_PATTERNS.dayOrUtc);
const WITH_OFFSET = new RegExp(DATE_PATTERNS.offset);

/** Anything that means to be a date by its form, whether or not that day and time exist. */
const DATE_LIKE =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/;
/** The longest text that can be a date: nanoseconds and an offset. */
const MAX_LENGTH = "9999-12-31T23:59:59.999999999+00:00".length;

export interface FilterDate {
  /** Milliseconds since 1970; finer parts are cut off. */
  atMs: number;
  /** Whether it has a time of day: conditions with a unit take no other dates. */
  hasTime: boolean;
}

/** Reads a date; null when the text is none, also for days that do not exist. */
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

/** Whether a text has the form of a date but is none, such as 2026-02-31. */
export function isImpossibleDate(text: string): boolean {
  return text.length <= MAX_LENGTH && DATE_LIKE.test(text) && readDate(text) === null;
}
