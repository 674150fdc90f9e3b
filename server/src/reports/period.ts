// Periods of whole days in a time zone, with the start of each day across clock changes. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../platform/app-error.ts";

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 96 * QUARTER_MS;
const DEFAULT_DAYS = 30;
/** No zone is further from UTC. */
const FURTHEST_MS = 16 * 60 * 60_000;

export interface Period {
  /** As 2027-01-31, in order. */
  days: readonly string[];
  firstDay: string;
  lastDay: string;
  /** Start of each day, and the end of the last one. */
  bounds: readonly Date[];
  zone: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Caches formats, because zone names are validated and few. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
    numberingSystem: "latn",
  });
  formats.set(zone, made);
  return made;
}

/** As `2027-01-31 23:45:00`. */
const localTime = (ms: number, zone: string) => formatOf(zone).format(ms);

function localDay(ms: number, zone: string): string {
  return localTime(ms, zone).slice(0, 10);
}

const shiftDay = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * Returns the start of a day: its midnight, or the end of a clock change that skips midnight. For a day that the zone skipped, returns the
 * start of the next one. `guess` is the most likely result.
 */
function startOfDay(day: string, zone: string, guess: number | null): number {
  if (guess !== null && localTime(guess, zone) === `${day} 00:00:00`) return guess;
  const around = Date.parse(`${day}T00:00:00Z`);
  let before = around - FURTHEST_MS;
  let from = around + FURTHEST_MS;
  while (from - before > QUARTER_MS) {
    const middle = before + Math.floor((from - before) / 2 / QUARTER_MS) * QUARTER_MS;
    if (localDay(middle, zone) >= day) from = middle;
    else before = middle;
  }
  return from;
}

function boundsOf(days: readonly string[], zone: string): Date[] {
  const bounds: number[] = [];
  for (const day of days) {
    const last = bounds.at(-1);
    bounds.push(startOfDay(day, zone, last === undefined ? null : last + DAY_MS));
  }
  return bounds.map((ms) => new Date(ms));
}

function periodOf(first: string, count: number, zone: string): Period {
  const days = Array.from({ length: count }, (_, at) => shiftDay(first, at));
  const bounds = boundsOf([...days, shiftDay(first, count)], zone);
  return { days, firstDay: shiftDay(first, 0), lastDay: shiftDay(first, count - 1), bounds, zone };
}

/**
 * Returns the period of a query, by default the last thirty days including today.
 * @throws AppError VALIDATION_ERROR if it ends before it begins or is longer than `LIMITS.reportDays`
 */
export function readPeriod(
  query: { startDate?: string | undefined; endDate?: string | undefined; tz?: string | undefined },
  now: Date,
): Period {
  const zone = query.tz ?? "UTC";
  const dayOf = (text: string) => (text.length === 10 ? text : localDay(Date.parse(text), zone));
  const last = query.endDate === undefined ? localDay(now.getTime(), zone) : dayOf(query.endDate);
  const first = query.startDate === undefined ? shiftDay(last, 1 - DEFAULT_DAYS) : dayOf(query.startDate);
  const count = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
  if (Number.isNaN(count)) throw invalidField("startDate", "invalid_date", "There is no such day.");
  if (count < 1) throw invalidField("endDate", "too_small", "The period ends before it begins.");
  if (count > LIMITS.reportDays.value)
    throw invalidField(
      "endDate",
      "too_big",
      withValues("A period has at most {most} days.", { most: LIMITS.reportDays.value }),
    );
  return periodOf(first, count, zone);
}

/** Returns the same number of days before the first one. */
export function previousPeriod({ days, firstDay, zone }: Period): Period {
  return periodOf(shiftDay(firstDay, -days.length), days.length, zone);
}

/** Returns the start and end of a period. */
export function spanOf({ bounds }: Period): { from: Date; to: Date } {
  return { from: bounds[0] ?? new Date(0), to: bounds.at(-1) ?? new Date(0) };
}

const HOUR_MS = 60 * 60_000;

/**
 * Returns a function from a time in the period to its weekday (0 is Monday) and hour. Days of 24 hours that begin at midnight have no clock
 * change, so their hours are computed. On other days the zone is asked for each time.
 */
export function weekHours({ days, bounds, zone }: Period): (ms: number) => { weekday: number; hour: number } {
  const known = days.map((day, at) => {
    const start = bounds[at]?.getTime() ?? 0;
    const isPlain =
      (bounds[at + 1]?.getTime() ?? 0) - start === DAY_MS && localTime(start, zone) === `${day} 00:00:00`;
    return { start, isPlain, weekday: (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7 };
  });
  return (ms) => {
    const { start, isPlain, weekday } = known[dayAt(bounds, ms)] ?? { start: 0, isPlain: false, weekday: 0 };
    const hour = isPlain ? Math.floor((ms - start) / HOUR_MS) : Number(localTime(ms, zone).slice(11, 13));
    return { weekday, hour };
  };
}

/** Returns the index of the day that contains a time. */
function dayAt(bounds: readonly Date[], ms: number): number {
  let [first, after] = [0, bounds.length - 1];
  while (after - first > 1) {
    const middle = (first + after) >> 1;
    if ((bounds[middle]?.getTime() ?? 0) <= ms) first = middle;
    else after = middle;
  }
  return first;
}

/** Returns the longest interval that never spans two hours of the zone's clock: an hour or a quarter of one. */
export function hourSteps({ bounds }: Period): number {
  const first = bounds[0]?.getTime() ?? 0;
  return bounds.every((bound) => (bound.getTime() - first) % HOUR_MS === 0) ? HOUR_MS : QUARTER_MS;
}
