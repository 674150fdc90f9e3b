// DELAY: waits for a duration, or until a time of day on certain weekdays.
import { Cron } from "croner";
import { CONTACT_ZONE, delayMs, type StepConfig } from "@postloft/contract/workflows/graph.ts";
import type { FilterContact } from "../../../segments/filters/evaluate-filter.ts";
import type { TakeStep } from "./step.ts";

export const takeDelay: TakeStep<"DELAY"> = ({ step, contact, run, now }) => {
  const untilMs = run.until ?? endOfDelay(step.config, contact, now)?.getTime();
  if (untilMs === undefined) return { goes: "fail", error: `The time ${step.config.until} never comes.` };
  run.until = untilMs;
  return untilMs <= now.getTime() ? { goes: "on" } : { goes: "wait", dueAt: new Date(untilMs) };
};

/**
 * Returns when a delay that begins now ends. A time of day equal to the current time means the next day.
 * @returns null if the time never comes, because the library ends in the year 2999
 */
function endOfDelay(
  config: StepConfig<"DELAY">,
  contact: Pick<FilterContact, "data">,
  now: Date,
): Date | null {
  const { amount, unit, until, timezone, weekdays } = config;
  if (until === undefined)
    return new Date(now.getTime() + delayMs({ amount: amount ?? 0, unit: unit ?? "minutes" }));
  const [hour = "0", minute = "0"] = until.split(":");
  const days = weekdays === undefined ? "*" : weekdays.join(",");
  const zone = timezone === CONTACT_ZONE ? zoneOf(contact) : (timezone ?? "UTC");
  return new Cron(`${Number(minute)} ${Number(hour)} * * ${days}`, { timezone: zone }).nextRun(now);
}

/** Returns the zone in the contact's field `timezone`, or UTC. */
function zoneOf({ data }: Pick<FilterContact, "data">): string {
  const { timezone } = data;
  if (typeof timezone !== "string") return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}
