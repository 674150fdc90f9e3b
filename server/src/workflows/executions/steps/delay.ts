// DELAY: waits for a duration, until a time of day on certain weekdays, or until a date in a field.
import { Cron } from "croner";
import { delayMs } from "@postloft/contract/workflows/delay.ts";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import { ownValue, timeAtDate, zoneFor } from "../../dates/times-at-dates.ts";
import { delayStart } from "../execution.ts";
import type { Situation, TakeStep } from "./step.ts";

type DelayConfig = StepConfig<"DELAY">;

export const takeDelay: TakeStep<"DELAY"> = (situation) => {
  const { step, contact, execution, run, now } = situation;
  if (run.until === undefined) {
    const { zone, problem } = zoneOf(step.config, contact);
    const end =
      step.config.dateField === undefined
        ? endOfDelay(step.config, zone, delayStart(execution, new Date(run.at)))
        : timeAtDate(
            { ...step.config, dateField: step.config.dateField },
            zone,
            fieldValue(step.config.dateField, situation),
          );
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

/** Returns the value of `data.<key>` of the contact or `event.<key>` of the event that started the execution. */
function fieldValue(
  field: string,
  { contact, execution }: Pick<Situation, "contact" | "execution">,
): unknown {
  const dot = field.indexOf(".");
  const values = field.slice(0, dot) === "data" ? contact.data : execution.context;
  return ownValue(values, field.slice(dot + 1));
}

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
  return isUsed ? zoneFor(timezone, data["timezone"]) : { zone: timezone ?? "UTC" };
}
