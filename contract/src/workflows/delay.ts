// The config of a DELAY: for a duration, until a time of day, or until a date of the contact or of the event.
import { z } from "zod";
import { issue } from "../field.ts";
import { LIMITS } from "../limits/limits.ts";
import { timeZone } from "../schedule-trigger.ts";
import { withValues } from "../translation.ts";

export const DELAY_UNITS = ["minutes", "hours", "days", "weeks"] as const;

const MINUTES: Readonly<Record<(typeof DELAY_UNITS)[number], number>> = {
  minutes: 1,
  hours: 60,
  days: 24 * 60,
  weeks: 7 * 24 * 60,
};

/** Returns the duration of a fixed delay in ms. */
export function delayMs({ amount, unit }: { amount: number; unit: (typeof DELAY_UNITS)[number] }): number {
  return amount * MINUTES[unit] * 60_000;
}

/** The contact's time zone from its field `data.timezone`. If it is missing or unknown, UTC is used and the step's output says so. */
export const CONTACT_ZONE = "contact";

/** A field of the contact, or of the event that started the execution. */
const DATE_FIELD = /^(?:data|event)[.]./;
/** Units that count days of the calendar if a delay has a date. */
export const DAY_UNITS: ReadonlySet<string> = new Set(["days", "weeks"]);

/** The amount of time, the time of day and the zone of a delay or of the trigger DATE. */
export const timeFields = {
  amount: z.int().min(1).optional(),
  unit: z.enum(DELAY_UNITS).optional(),
  until: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "Must be a time of day as HH:mm, for example `09:00`.")
    .optional(),
  timezone: z.union([z.literal(CONTACT_ZONE), timeZone]).optional(),
};

const delayFields = z.object({
  ...timeFields,
  weekdays: z
    .array(z.int().min(1).max(7))
    .min(1)
    .max(7)
    .optional()
    .describe("1 is Monday, 7 is Sunday; default: all days."),
  dateField: z
    .string()
    .max(LIMITS.dataKeyLength.value + "event.".length)
    .regex(DATE_FIELD, "Must be `data.<key>` or `event.<key>`.")
    .optional()
    .describe("Waits until the date in this field, or until `amount` and `unit` before or after it."),
  direction: z
    .enum(["before", "after"])
    .optional()
    .describe("Whether the delay ends before or after the date; default `after`."),
});
type DelayFields = z.infer<typeof delayFields>;
type Fault = ReturnType<typeof issue>;

export const delay = delayFields.superRefine((config, context) => {
  context.issues.push(...(config.dateField === undefined ? faultsOf(config) : faultsWithDate(config)));
});

function faultsOf(config: DelayFields): Fault[] {
  const { amount, unit, until, timezone, weekdays, direction } = config;
  const faults: Fault[] = [];
  if (direction !== undefined)
    faults.push(issue("Only allowed with `dateField`.", "custom", direction, ["direction"]));
  if (until !== undefined && amount !== undefined)
    faults.push(issue("Send either `amount` and `unit`, or `until`.", "custom", amount, ["amount"]));
  if (until !== undefined) return faults;
  if (amount === undefined)
    faults.push(issue("Required unless there is an `until`.", "required", amount, ["amount"]));
  if (unit === undefined) faults.push(issue("Required.", "required", unit, ["unit"]));
  for (const [name, value] of Object.entries({ timezone, weekdays }))
    if (value !== undefined) faults.push(issue("Only allowed with `until`.", "custom", value, [name]));
  return [...faults, ...tooLong(config)];
}

function faultsWithDate(config: DelayFields): Fault[] {
  const { weekdays } = config;
  if (weekdays === undefined) return faultsBesideDate(config);
  return [
    issue("Not allowed with `dateField`.", "custom", weekdays, ["weekdays"]),
    ...faultsBesideDate(config),
  ];
}

/** Returns the faults of amount, unit, direction and time of day in a config with a date. */
export function faultsBesideDate(config: Omit<DelayFields, "weekdays" | "dateField">): Fault[] {
  const { amount, unit, until, direction } = config;
  const faults: Fault[] = [];
  if (amount === undefined && (unit !== undefined || direction !== undefined))
    faults.push(issue("Required.", "required", amount, ["amount"]));
  if (amount !== undefined && unit === undefined) faults.push(issue("Required.", "required", unit, ["unit"]));
  if (until !== undefined && unit !== undefined && !DAY_UNITS.has(unit))
    faults.push(issue("Must be `days` or `weeks` with `until`.", "custom", unit, ["unit"]));
  return [...faults, ...tooLong(config)];
}

function tooLong({ amount, unit }: Pick<DelayFields, "amount" | "unit">): Fault[] {
  const most = LIMITS.delayDays.value;
  if (amount === undefined || unit === undefined || delayMs({ amount, unit }) <= most * 86_400_000) return [];
  return [issue(withValues("Must be at most {most} days.", { most }), "too_big", amount, ["amount"])];
}
