// When a DELAY until a date ends, and which configurations it accepts, as tables.
import { expect, test } from "vitest";
import { STEP_CONFIGS, type StepConfig } from "@postloft/contract/workflows/graph.ts";
import { takeDelay } from "./delay.ts";
import type { Situation } from "./step.ts";

const now = new Date("2027-01-01T12:00:00Z");
const data = {
  day: "2027-03-31",
  moment: "2027-03-31T23:30:00Z",
  late: "2027-01-20T01:00:00-05:00",
  leap: "2028-02-29",
  never: "2027-02-30",
  text: "soon",
  number: 20270331,
  empty: "",
  timezone: "America/New_York",
  "a.b": "2027-05-01",
};

/** Returns the end of the delay, or its error. */
function endOf(config: StepConfig<"DELAY">): string {
  const run = { n: 0, at: now.getTime() };
  const result = takeDelay({
    now,
    step: { config },
    contact: { data },
    execution: { context: { due: "2027-02-01" } },
    run,
  } as unknown as Situation<"DELAY">);
  if (result.goes === "fail") return result.error;
  return result.goes === "wait" ? (result.dueAt?.toISOString() ?? "") : "on";
}

test.each<[string, StepConfig<"DELAY">]>([
  // A date is midnight in the zone.
  ["2027-03-31T00:00:00.000Z", { dateField: "data.day" }],
  ["2027-03-31T04:00:00.000Z", { dateField: "data.day", timezone: "contact" }],
  ["2027-03-31T07:00:00.000Z", { dateField: "data.day", until: "09:00", timezone: "Europe/Berlin" }],
  ["2027-03-30T19:00:00.000Z", { dateField: "data.day", until: "09:00", timezone: "Pacific/Kiritimati" }],
  ["2027-03-31T20:00:00.000Z", { dateField: "data.day", until: "09:00", timezone: "Pacific/Pago_Pago" }],
  ["2027-05-01T00:00:00.000Z", { dateField: "data.a.b" }],
  ["2027-02-01T00:00:00.000Z", { dateField: "event.due" }],
  // Days keep the time of day. Clocks in Berlin changed on March 28.
  [
    "2027-03-27T08:00:00.000Z",
    {
      dateField: "data.day",
      amount: 4,
      unit: "days",
      direction: "before",
      until: "09:00",
      timezone: "Europe/Berlin",
    },
  ],
  ["2027-04-07T00:00:00.000Z", { dateField: "data.day", amount: 1, unit: "weeks" }],
  ["2027-03-30T21:00:00.000Z", { dateField: "data.day", amount: 3, unit: "hours", direction: "before" }],
  ["2028-03-01T00:00:00.000Z", { dateField: "data.leap", amount: 1, unit: "days", direction: "after" }],
  // A time is exact, unless there is a time of day for its day in the zone.
  ["2027-03-31T23:30:00.000Z", { dateField: "data.moment", timezone: "Europe/Berlin" }],
  ["2027-03-30T23:30:00.000Z", { dateField: "data.moment", amount: 1, unit: "days", direction: "before" }],
  ["2027-04-01T07:00:00.000Z", { dateField: "data.moment", until: "09:00", timezone: "Europe/Berlin" }],
  ["2027-01-20T06:00:00.000Z", { dateField: "data.late" }],
  // What has passed ends the wait.
  ["on", { dateField: "data.late", amount: 3, unit: "weeks", direction: "before" }],
  ["“data.missing” has no value.", { dateField: "data.missing" }],
  ["“data.empty” has no value.", { dateField: "data.empty" }],
  ["“data.toString” has no value.", { dateField: "data.toString" }],
  ["“event.day” has no value.", { dateField: "event.day" }],
  [
    '“data.text” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: "soon".',
    { dateField: "data.text" },
  ],
  [
    '“data.never” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: "2027-02-30".',
    { dateField: "data.never" },
  ],
  [
    "“data.number” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: 20270331.",
    { dateField: "data.number" },
  ],
])("waits until %s", (expected, config) => {
  expect(STEP_CONFIGS.DELAY.safeParse(config).error).toBeUndefined();
  expect(endOf(config)).toBe(expected);
});

test.each<[string, object]>([
  ["dateField", { dateField: "trialEndsAt" }],
  ["dateField", { dateField: "data." }],
  ["weekdays", { dateField: "data.day", weekdays: [1] }],
  ["amount", { dateField: "data.day", unit: "days" }],
  ["amount", { dateField: "data.day", direction: "before" }],
  ["unit", { dateField: "data.day", amount: 1 }],
  ["unit", { dateField: "data.day", amount: 1, unit: "hours", until: "09:00" }],
  ["amount", { dateField: "data.day", amount: 366, unit: "days" }],
  ["direction", { amount: 1, unit: "days", direction: "before" }],
])("rejects %s of a delay that can't be meant", (field, config) => {
  const faults = STEP_CONFIGS.DELAY.safeParse(config).error?.issues ?? [];
  expect(faults.map(({ path }) => path.join("."))).toEqual([field]);
});
