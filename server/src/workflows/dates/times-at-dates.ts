// Computes times before or after a date in a field, for a DELAY until a date and for the trigger DATE. Pure.
import { readDate } from "@postloft/contract/filter-dates.ts";
import { dateKeyOf } from "@postloft/contract/workflows/date-trigger.ts";
import { CONTACT_ZONE, DAY_UNITS, delayMs } from "@postloft/contract/workflows/delay.ts";
import type { StepConfig, TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { instantOf, localTime, midnightOf, zoneNamed } from "./zones.ts";

/** The amount of time around a date, and the time of the day. */
export interface TimeAroundDate extends Pick<
  StepConfig<"DELAY">,
  "amount" | "unit" | "direction" | "until" | "timezone"
> {
  dateField: string;
}

/** A date of a field: a day in a zone, as midnight UTC, or an exact time. */
interface FieldDate {
  atMs: number;
  isDay: boolean;
}

/** A date that nobody means. The library for other times of the day ends here, too. */
const END_MS = Date.UTC(3000, 0);
const SHOWN_LENGTH = 60;

const shorten = (value: unknown) => JSON.stringify(value).slice(0, SHOWN_LENGTH);

/**
 * Returns the date in a field plus or minus the amount. A date without a time is midnight in the zone. `until` sets the time of the day in
 * the zone. Days and weeks then count days of the calendar, because a day has 23 to 25 hours when clocks change.
 * @returns an error if the field has no date
 */
export function timeAtDate(around: TimeAroundDate, zone: string, value: unknown): Date | string {
  const date = readFieldDate(around, zone, value);
  return typeof date === "string" ? date : timeOf(around, zone, date);
}

function readFieldDate(
  { dateField, until }: TimeAroundDate,
  zone: string,
  value: unknown,
): FieldDate | string {
  if (value === undefined || value === null || value === "")
    return recordedReason("noDate", { field: dateField });
  const date = typeof value === "string" ? readDate(value) : null;
  if (date === null) return recordedReason("notADate", { field: dateField, value: shorten(value) });
  if (date.hasTime && until === undefined) return { atMs: date.atMs, isDay: false };
  return { atMs: date.hasTime ? midnightOf(localTime(zone, date.atMs)) : date.atMs, isDay: true };
}

function timeOf(
  { until, amount = 0, unit = "days", direction = "after" }: TimeAroundDate,
  zone: string,
  date: FieldDate,
): Date | string {
  const shiftMs = delayMs({ amount, unit }) * (direction === "before" ? -1 : 1);
  if (!date.isDay) return new Date(date.atMs + shiftMs);
  const wholeDays = DAY_UNITS.has(unit);
  const dayMs = date.atMs + (wholeDays ? shiftMs : 0);
  const time = until ?? "00:00";
  if (dayMs >= END_MS) return `The time ${time} never comes.`;
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const endMs = instantOf(zone, dayMs + (hours * 60 + minutes) * 60_000);
  return new Date(wholeDays ? endMs : endMs + shiftMs);
}

/** Returns the zone of a config, given the contact's field `data.timezone`, and a problem if that names no zone. */
export function zoneFor(
  timezone: string | undefined,
  ofContact: unknown,
): { zone: string; problem?: string } {
  if (timezone !== CONTACT_ZONE) return { zone: timezone ?? "UTC" };
  const zone = typeof ofContact === "string" ? zoneNamed(ofContact) : null;
  if (zone !== null) return { zone };
  const isMissing = ofContact === undefined || ofContact === null || ofContact === "";
  return {
    zone: "UTC",
    problem: recordedReason(isMissing ? "noTimeZone" : "unknownTimeZone"),
  };
}

/** Returns a value of a contact or an event, or undefined for a name such as `toString`. */
export function ownValue(values: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

const ZONE_KEY = "timezone";

/** Returns the keys of contact data that decide when contacts enter. */
export function dateKeysOf(configs: ReadonlyArray<Pick<TimeAroundDate, "dateField">>): string[] {
  return [...new Set([ZONE_KEY, ...configs.map(({ dateField }) => dateKeyOf(dateField))])];
}

/** A time at which a contact enters. */
export interface DateEntry {
  /** The date, in a yearly trigger that of one year. A day is midnight UTC. */
  occursAt: Date;
  /** The date as in a field: a day or an exact time. */
  date: string;
  dueAt: Date;
}

/** Returns the context of an execution that a date starts. */
export function contextOf({ date, dueAt }: DateEntry): { date: string; scheduledAt: string } {
  return { date, scheduledAt: dueAt.toISOString() };
}

/** Years that contain the next time of a yearly trigger, because the time is up to a year before or after the date. */
const YEARS_TRIED = 4;

/**
 * Returns the next time after `after` at which a contact enters by a trigger DATE.
 * @returns a sentence that says why there is none
 */
export function nextDateEntry(
  config: TriggerConfig<"DATE">,
  data: Readonly<Record<string, unknown>>,
  after: Date,
): DateEntry | string {
  const { zone } = zoneFor(config.timezone, data[ZONE_KEY]);
  const first = readFieldDate(config, zone, ownValue(data, dateKeyOf(config.dateField)));
  if (typeof first === "string") return first;
  const dates = config.repeat === "yearly" ? yearsOf(first, after) : [first];
  let passed = "";
  for (const date of dates) {
    const dueAt = timeOf(config, zone, date);
    if (typeof dueAt === "string") return dueAt;
    if (dueAt.getTime() >= END_MS) return "The time never comes.";
    if (dueAt > after) return { occursAt: new Date(date.atMs), date: textOf(date), dueAt };
    passed = `The time ${dueAt.toISOString()} has passed.`;
  }
  return passed;
}

const textOf = ({ atMs, isDay }: FieldDate) => new Date(atMs).toISOString().slice(0, isDay ? 10 : undefined);

/** Returns the date in the years around a time, but none before the date itself. */
function yearsOf(first: FieldDate, around: Date): FieldDate[] {
  const year = Math.max(new Date(first.atMs).getUTCFullYear(), around.getUTCFullYear() - 1);
  return Array.from({ length: YEARS_TRIED }, (_, at) => ({ ...first, atMs: inYear(first.atMs, year + at) }));
}

/** Returns the same day and time of another year. February 29 becomes February 28 in years without it. */
function inYear(atMs: number, year: number): number {
  const date = new Date(atMs);
  const month = date.getUTCMonth();
  date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month) date.setUTCDate(0);
  return date.getTime();
}
