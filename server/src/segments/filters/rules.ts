// What the compiler and the evaluator of filters share: segments a filter stands on, letters that count as one, instants and their bounds
// as text.
import type { FilterUnit } from "@postloft/contract/filter-fields.ts";
import type { Filter } from "@postloft/contract/filters.ts";

/** A segment as far as a filter can stand on it. */
export interface SegmentSource {
  id: string;
  type: "DYNAMIC" | "STATIC";
  /** Null for a static segment. */
  filters: Filter | null;
  trackMembership: boolean;
}

export interface SegmentSources {
  /** By id; a segment that is missing here is gone, and conditions on it match nobody. */
  segments: ReadonlyMap<string, SegmentSource>;
  /** Read the members of tracked segments as they were last computed, instead of evaluating their filters now. */
  trackedAsStored?: boolean;
}

/** From one instant on until before another, in milliseconds since 1970; null is without bound. */
export interface InstantRange {
  fromMs: number | null;
  untilMs: number | null;
}

/** So long before now. */
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

/** The instant so long before another, by the calendar of UTC: a month before March 31st is the last of February. */
export function instantBefore(nowMs: number, { amount, unit }: Span): number {
  if (unit !== "months") return nowMs - amount * UNIT_MS[unit];
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() - amount];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(now).setUTCFullYear(year, month, Math.min(now.getUTCDate(), lastDay));
}

export function isWithin(atMs: number, { fromMs, untilMs }: InstantRange): boolean {
  return (fromMs === null || atMs >= fromMs) && (untilMs === null || atMs < untilMs);
}

const YEAR_10000_MS = 253_402_300_800_000;

/** An instant as PostgreSQL reads it. */
export function instantText(atMs: number): string {
  return atMs >= YEAR_10000_MS ? "infinity" : new Date(atMs).toISOString();
}

/** An instant as a bound for texts that are dates in UTC. */
export interface TextBound {
  /** Later dates are greater than this text. */
  text: string;
  /** Earlier dates that are greater too: with fewer digits, their `Z` stands where the text goes on. */
  exceptions: string[];
}

/**
 * The bound of dates with one to nine digits of a second, or none, or no time at all; null when no date reaches it.
 * Zeros at its end are left out, so that a shorter spelling of the same instant is not less.
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

/** Letters of a text that stand for others, one by one: `from` has the same number of letters as `to`. */
export interface Folding {
  from: string;
  to: string;
  /** What is searched for, in the letters of `to`. */
  text: string;
}

/**
 * Letters that are neither the lower case all of their kind are folded to nor its upper case: µ for μ, ſ for s, ς for σ. A test
 * looks through all of Unicode for more.
 */
export const ODD_LETTERS =
  "µıſǅǈǋǲ\u0345ςϐϑϕϖϰϱϴϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼ\u1fbeῌῼ\u2126\u212a\u212b";
const ODD_BY_FOLDED = Map.groupBy(Array.from(ODD_LETTERS), foldedLetter);

/**
 * How to search for a text without regard to case: replace these letters in what is searched, and search for the text.
 * PostgreSQL folds case by its locale, so letters are folded by the tables of JavaScript; only those of the text itself,
 * which finds the same as if all were. Letters whose other case is more than one letter (ß) stand for themselves.
 */
export function foldingOf(searched: string): Folding {
  const letters = new Map<string, string>();
  const text = foldText(searched);
  for (const folded of new Set(text))
    for (const other of [folded.toUpperCase(), ...(ODD_BY_FOLDED.get(folded) ?? [])])
      if (isOneLetter(other) && other !== folded) letters.set(other, folded);
  return { from: [...letters.keys()].join(""), to: [...letters.values()].join(""), text };
}

/** The text in the letters all of their kind are folded to. */
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

/** The keys of `data.a.b`, where no key is called `a.b` itself. */
export function pathOf(key: string): string[] {
  return key.split(".");
}
