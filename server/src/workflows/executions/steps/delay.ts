// DELAY: waits for a duration, or until a time of day on certain weekdays.
import { Cron } from "croner";
import { CONTACT_ZONE, delayMs, type StepConfig } from "@postloft/contract/workflows/graph.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import { delayStart } from "../execution.ts";
import type { TakeStep } from "./step.ts";

export const takeDelay: TakeStep<"DELAY"> = ({ step, contact, execution, run, now }) => {
  if (run.until === undefined) {
    const { zone, problem } = zoneOf(step.config, contact);
    const end = endOfDelay(step.config, zone, delayStart(execution, now));
    if (end === null) return { goes: "fail", error: `The time ${step.config.until} never comes.` };
    run.until = end.getTime();
    if (problem !== undefined) run.out = { timezone: zone, problem };
  }
  return run.until <= now.getTime() ? { goes: "on" } : { goes: "wait", dueAt: new Date(run.until) };
};

/**
 * Returns when a delay ends. A time of day equal to that of the beginning means the next day.
 * @returns null if the time never comes, because the library ends in the year 2999
 */
function endOfDelay(config: StepConfig<"DELAY">, zone: string, begin: Date): Date | null {
  const { amount, unit, until, weekdays } = config;
  if (until === undefined)
    return new Date(begin.getTime() + delayMs({ amount: amount ?? 0, unit: unit ?? "minutes" }));
  const [hour = "0", minute = "0"] = until.split(":");
  const days = weekdays === undefined ? "*" : weekdays.join(",");
  return new Cron(`${Number(minute)} ${Number(hour)} * * ${days}`, { timezone: zone }).nextRun(begin);
}

/** Returns the zone of a time of day, and a problem if the contact's field `data.timezone` names none. */
function zoneOf(
  { until, timezone }: StepConfig<"DELAY">,
  { data }: Pick<FilterContact, "data">,
): { zone: string; problem?: string } {
  if (until === undefined || timezone !== CONTACT_ZONE) return { zone: timezone ?? "UTC" };
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
