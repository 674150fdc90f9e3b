// DELAY: so long, or until a time of day on some days of the week.
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
 * When a delay that begins now is over. A time of day that this instant already shows is that of the next day.
 * @returns null where such a time never comes: the library ends with the year 2999
 */
export function endOfDelay(
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

/** The zone that a contact's field `timezone` names; UTC where there is none. */
function zoneOf({ data }: Pick<FilterContact, "data">): string {
  const { timezone } = data;
  if (typeof timezone !== "string") return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}
