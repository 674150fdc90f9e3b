// Rules shared by the compiler and the evaluator of filters: used segments, case folding, and date bounds.
import type { FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { Filter } from "@postloft/contract/filters.ts";

/** The properties of a segment that filters read. */
export interface SegmentSource {
  id: string;
  /** For texts. */
  name?: string;
  type: "DYNAMIC" | "STATIC";
  /** Null for a static segment. */
  filters: Filter | null;
  trackMembership: boolean;
}

export interface SegmentSources {
  /** By id. A missing segment was deleted, and conditions on it match no contact. */
  segments: ReadonlyMap<string, SegmentSource>;
  /** Uses the last computed members of tracked segments instead of evaluating their filters. */
  trackedAsStored?: boolean;
}

/** A range of times in milliseconds since 1970. The start is inclusive, the end is exclusive, and null is unbounded. */
export interface InstantRange {
  fromMs: number | null;
  untilMs: number | null;
}

/** A duration before or after now. */
export interface Span {
  amount: number;
  unit: FilterUnit;
}

export const UNIT_MS: Readonly<Record<Exclude<FilterUnit, "months">, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 7 * 86_400_000,
};
export const DAY_MS = UNIT_MS.days;

/** Returns a time before another by the UTC calendar. A month before March 31st is the last day of February. */
export function instantBefore(nowMs: number, { amount, unit }: Span): number {
  if (unit !== "months") return nowMs - amount * UNIT_MS[unit];
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - amount];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(now).setUTCFullYear(year, month, Math.min(now.getUTCDate(), lastDay));
}

/** Returns a time after another by the UTC calendar, with the same rule for the ends of months. */
export function instantAfter(nowMs: number, { amount, unit }: Span): number {
  return instantBefore(nowMs, { amount: -amount, unit });
}

export const floorTo = (atMs: number, stepMs: number): number => Math.floor(atMs / stepMs) * stepMs;

/** Returns the month and day (UTC) as `MM-DD`. */
function monthDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(5, 10);
}

/**
 * Returns whether an anniversary of a date is today or within some days, but none before the date itself. February 29 is February 28 in
 * other years, as in the trigger DATE (docs/decisions/0138-date-triggers.md).
 */
export function hasAnniversary(atMs: number, nowMs: number, daysAhead: number): boolean {
  const lastMs = floorTo(nowMs, DAY_MS) + daysAhead * DAY_MS;
  const [from, last, next, day] = [nowMs, lastMs, lastMs + DAY_MS, atMs].map(monthDay) as [
    string,
    string,
    string,
    string,
  ];
  const to = last === "02-28" && next === "03-01" ? "02-29" : last;
  const isNear = from <= to ? day >= from && day <= to : day >= from || day <= to;
  return isNear && atMs < lastMs + DAY_MS;
}

export function isWithin(atMs: number, { fromMs, untilMs }: InstantRange): boolean {
  return (fromMs === null || atMs >= fromMs) && (untilMs === null || atMs < untilMs);
}

const YEAR_10000_MS = 253_402_300_800_000;

/** Returns a time in the format of PostgreSQL. */
export function instantText(atMs: number): string {
  return atMs >= YEAR_10000_MS ? "infinity" : new Date(atMs).toISOString();
}

/** A time as a bound for texts with UTC dates. */
export interface TextBound {
  /** Later dates are greater than this text. */
  text: string;
  /** Earlier dates that are also greater as text, because they have fewer digits and a `Z` in the place of a digit. */
  exceptions: string[];
}

/**
 * Returns the bound for dates with up to nine fractional digits or without a time, or null if no date reaches it. Trailing zeros are
 * removed, so that a shorter spelling of the same time is not less.
 */
export function textBound(atMs: number): TextBound | null {
  if (atMs >= YEAR_10000_MS) return null;
  const [seconds = "", digits = ""] = new Date(atMs).toISOString().slice(0, -1).split(".");
  const needed = digits.replace(/0+$/, "");
  if (needed === "") return { text: seconds.replace(/T00:00:00$/, ""), exceptions: [] };
  const exceptions = Array.from({ length: needed.length }, (_, length) =>
    length === 0 ? `${seconds}Z` : `${seconds}.${needed.slice(0, length)}Z`,
  );
  return { text: `${seconds}.${needed}`, exceptions };
}

/** Replaces letters one for one. `from` and `to` have the same number of letters. */
export interface Folding {
  from: string;
  to: string;
  /** The search text in the letters of `to`. */
  text: string;
}

/**
 * Letters that are neither the folded lower case nor the upper case of their kind, such as µ for μ, ſ for s and ς for σ. A test checks all
 * of Unicode for more.
 */
export const ODD_LETTERS =
  "µıſǅǈǋǲ\u0345ςϐϑϕϖϰϱϴϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼ\u1fbeῌῼ\u2126\u212a\u212b";
const ODD_BY_FOLDED = Map.groupBy(Array.from(ODD_LETTERS), foldedLetter);

/**
 * Returns the replacements for a case-insensitive search. PostgreSQL folds case by its locale, so the tables of JavaScript are used.
 * Replacing only the letters of the search text finds the same as replacing all. Letters with several letters in the other case (ß) are kept.
 */
export function foldingOf(searched: string): Folding {
  const letters = new Map<string, string>();
  const text = foldText(searched);
  for (const folded of new Set(text))
    for (const other of [folded.toUpperCase(), ...(ODD_BY_FOLDED.get(folded) ?? [])])
      if (isOneLetter(other) && other !== folded) letters.set(other, folded);
  return { from: [...letters.keys()].join(""), to: [...letters.values()].join(""), text };
}

/** Returns the case-folded text. */
export function foldText(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()).replace(/[^\0-\x7f]/gu, foldedLetter);
}

function isOneLetter(text: string): boolean {
  return text.length <= 2 && Array.from(text).length === 1;
}

function foldedLetter(letter: string): string {
  const upper = letter.toUpperCase();
  const lower = (isOneLetter(upper) ? upper : letter).toLowerCase();
  return isOneLetter(lower) ? lower : letter;
}

/** Returns the keys of the path `data.a.b`, used if no key is named `a.b`. */
export function pathOf(key: string): string[] {
  return key.split(".");
}
