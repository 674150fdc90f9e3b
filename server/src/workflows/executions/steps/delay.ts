// DELAY: waits for a duration, until a time of day on certain weekdays, or until a date in a field.
import { Cron } from "croner";
import { readDate } from "@postloft/contract/filter-dates.ts";
import { CONTACT_ZONE, DAY_UNITS, delayMs } from "@postloft/contract/workflows/delay.ts";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import { delayStart } from "../execution.ts";
import type { Situation, TakeStep } from "./step.ts";

type DelayConfig = StepConfig<"DELAY">;

export const takeDelay: TakeStep<"DELAY"> = (situation) => {
  const { step, contact, execution, run, now } = situation;
  if (run.until === undefined) {
    const { zone, problem } = zoneOf(step.config, contact);
    const end =
      step.config.dateField === undefined
        ? endOfDelay(step.config, zone, delayStart(execution, now))
        : endAtDate(step.config, zone, fieldValue(step.config.dateField, situation));
    if (typeof end === "string") return { goes: "fail", error: end };
    run.until = end.getTime();
    if (problem !== undefined) run.out = { timezone: zone, problem };
  }
  return run.until <= now.getTime() ? { goes: "on" } : { goes: "wait", dueAt: new Date(run.until) };
};

/**
 * Returns when a delay ends. A time of day equal to that of the beginning means the next day.
 * @returns an error if the time never comes, because the library ends in the year 2999
 */
function endOfDelay(
  { amount, unit, until, weekdays }: DelayConfig,
  zone: string,
  begin: Date,
): Date | string {
  if (until === undefined)
    return new Date(begin.getTime() + delayMs({ amount: amount ?? 0, unit: unit ?? "minutes" }));
  return nextTime(until, { zone, days: `* * ${weekdays?.join(",") ?? "*"}`, begin });
}

/**
 * Returns the date in a field plus or minus the amount. A date without a time is midnight in the zone. `until` sets the time of the day in
 * the zone. Days and weeks then count days of the calendar, because a day has 23 to 25 hours when clocks change.
 * @returns an error if the field has no date
 */
function endAtDate(config: DelayConfig, zone: string, value: unknown): Date | string {
  const { dateField, until, amount = 0, unit = "days", direction = "after" } = config;
  if (value === undefined || value === null || value === "") return `There is no \`${dateField}\`.`;
  const date = typeof value === "string" ? readDate(value) : null;
  if (date === null)
    return `\`${dateField}\` is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: ${shorten(value)}.`;
  const shiftMs = delayMs({ amount, unit }) * (direction === "before" ? -1 : 1);
  if (date.hasTime && until === undefined) return new Date(date.atMs + shiftMs);
  const wholeDays = DAY_UNITS.has(unit);
  const dayMs =
    (date.hasTime ? midnightUtcOf(dayIn(zone, date.atMs)) : date.atMs) + (wholeDays ? shiftMs : 0);
  const day = new Date(dayMs);
  const end = nextTime(until ?? "00:00", {
    zone,
    days: `${day.getUTCDate()} ${day.getUTCMonth() + 1} *`,
    // No zone is further from UTC than 14 hours.
    begin: new Date(dayMs - DAY_MS),
  });
  return typeof end === "string" || wholeDays ? end : new Date(end.getTime() + shiftMs);
}

const DAY_MS = 86_400_000;
const SHOWN_LENGTH = 60;

const shorten = (value: unknown) => JSON.stringify(value).slice(0, SHOWN_LENGTH);

/** Returns the value of `data.<key>` of the contact or `event.<key>` of the event that started the execution. */
function fieldValue(
  field: string,
  { contact, execution }: Pick<Situation, "contact" | "execution">,
): unknown {
  const dot = field.indexOf(".");
  const values = field.slice(0, dot) === "data" ? contact.data : execution.context;
  const key = field.slice(dot + 1);
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Returns the day in a zone as `YYYY-MM-DD`. */
function dayIn(zone: string, atMs: number): string {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "iso8601",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).formatToParts(atMs);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
}

const midnightUtcOf = (day: string) => Date.parse(`${day}T00:00:00Z`);

/** Returns the next such time after `begin`. `days` is the day of the month, the month and the weekday of a cron expression. */
function nextTime(
  time: string,
  { zone, days, begin }: { zone: string; days: string; begin: Date },
): Date | string {
  const [hour = "0", minute = "0"] = time.split(":");
  const cron = new Cron(`${Number(minute)} ${Number(hour)} ${days}`, { timezone: zone });
  return cron.nextRun(begin) ?? `The time ${time} never comes.`;
}

/** Returns the zone of a time of day, and a problem if the contact's field `data.timezone` names none. */
function zoneOf(
  { until, dateField, timezone }: DelayConfig,
  { data }: Pick<FilterContact, "data">,
): { zone: string; problem?: string } {
  const isUsed = until !== undefined || dateField !== undefined;
  if (!isUsed || timezone !== CONTACT_ZONE) return { zone: timezone ?? "UTC" };
  const given = data["timezone"];
  try {
    const name = typeof given === "string" ? given : "";
    return { zone: new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone };
  } catch {
    const isMissing = given === undefined || given === null || given === "";
    return {
      zone: "UTC",
      problem: isMissing
        ? "The contact has no `data.timezone`, so UTC was used."
        : "The contact's `data.timezone` is not a time zone of the IANA database, so UTC was used.",
    };
  }
}
