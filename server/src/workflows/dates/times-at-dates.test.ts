// When contacts enter by a trigger DATE, and which configurations it accepts, as tables.
import { expect, test } from "vitest";
import { TRIGGER_CONFIGS, type TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { nextDateEntry } from "./times-at-dates.ts";

type Config = TriggerConfig<"DATE">;

const after = new Date("2027-01-01T12:00:00Z");

/** Returns the time of the next entry with its date, or why there is none. */
function nextOf(config: Omit<Config, "dateField">, value: unknown, timezone?: string, from = after): string {
  const whole = { dateField: "data.day", ...config };
  expect(TRIGGER_CONFIGS.DATE.safeParse(whole).error).toBeUndefined();
  const entry = nextDateEntry(whole, { day: value, timezone }, from);
  return typeof entry === "string" ? entry : `${entry.dueAt.toISOString()} ${entry.date}`;
}

const AT_NINE: Omit<Config, "dateField"> = {
  amount: 3,
  unit: "days",
  direction: "before",
  until: "09:00",
  timezone: "contact",
};

test.each<[string, Omit<Config, "dateField">, unknown, string?]>([
  ["2027-03-07T09:00:00.000Z 2027-03-10", AT_NINE, "2027-03-10"],
  ["2027-03-07T08:00:00.000Z 2027-03-10", AT_NINE, "2027-03-10", "Europe/Berlin"],
  ["2027-03-07T09:00:00.000Z 2027-03-10", AT_NINE, "2027-03-10", "Mars/Base"],
  // The time of the day keeps its hour when clocks change in between, and moves to the end of a skipped hour.
  ["2027-03-28T07:00:00.000Z 2027-03-31", AT_NINE, "2027-03-31", "Europe/Berlin"],
  ["2027-03-28T01:00:00.000Z 2027-03-28", { until: "02:30", timezone: "Europe/Berlin" }, "2027-03-28"],
  // An exact time stays exact.
  [
    "2027-02-28T23:30:00.000Z 2027-03-01T00:30:00.000Z",
    { amount: 1, unit: "hours", direction: "before" },
    "2027-03-01T00:30:00Z",
  ],
  [
    "2027-03-02T00:30:00.000Z 2027-03-01T00:30:00.000Z",
    { amount: 1, unit: "days" },
    "2027-03-01T01:30:00+01:00",
  ],
  // With a time of the day, a time stands for its day in the zone.
  [
    "2027-03-01T14:00:00.000Z 2027-03-01",
    { until: "09:00", timezone: "America/New_York" },
    "2027-03-02T02:00:00Z",
  ],
  ["The time 2026-12-31T09:00:00.000Z has passed.", AT_NINE, "2027-01-03"],
  ["“data.day” has no value.", AT_NINE, undefined],
  ["“data.day” has no value.", AT_NINE, ""],
  ['“data.day” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: "soon".', AT_NINE, "soon"],
  ["“data.day” is not a date such as 2027-01-31 or 2027-01-31T09:00:00Z: 5.", AT_NINE, 5],
  ["The time 09:00 never comes.", { until: "09:00" }, "9999-12-31"],
  ["The time never comes.", {}, "9999-12-31T00:00:00Z"],
])("a contact enters at %s", (expected, config, value, timezone) => {
  expect(nextOf(config, value, timezone)).toBe(expected);
});

const YEARLY: Omit<Config, "dateField"> = { repeat: "yearly", until: "09:00" };

test.each<[string, Omit<Config, "dateField">, unknown, string]>([
  ["2027-05-04T09:00:00.000Z 2027-05-04", YEARLY, "1990-05-04", "2027-01-01T12:00:00Z"],
  ["2027-05-04T09:00:00.000Z 2027-05-04", YEARLY, "1990-05-04", "2027-05-04T08:59:59Z"],
  ["2028-05-04T09:00:00.000Z 2028-05-04", YEARLY, "1990-05-04", "2027-05-04T09:00:00Z"],
  ["2027-02-28T09:00:00.000Z 2027-02-28", YEARLY, "1992-02-29", "2027-01-01T12:00:00Z"],
  ["2028-02-29T09:00:00.000Z 2028-02-29", YEARLY, "1992-02-29", "2027-03-01T12:00:00Z"],
  // The time is in another year than the date.
  [
    "2027-12-30T09:00:00.000Z 2028-01-02",
    { ...YEARLY, amount: 3, unit: "days", direction: "before" },
    "1990-01-02",
    "2027-06-01T00:00:00Z",
  ],
  [
    "2027-01-02T09:00:00.000Z 2026-12-30",
    { ...YEARLY, amount: 3, unit: "days" },
    "1990-12-30",
    "2027-01-01T12:00:00Z",
  ],
  [
    "2027-01-01T09:00:00.000Z 2028-01-01",
    { ...YEARLY, amount: 365, unit: "days", direction: "before" },
    "1990-01-01",
    "2026-12-31T12:00:00Z",
  ],
  // No year before the date itself.
  ["2031-05-04T09:00:00.000Z 2031-05-04", YEARLY, "2031-05-04", "2027-01-01T12:00:00Z"],
  [
    "2027-05-04T10:00:00.000Z 2027-05-04T10:00:00.000Z",
    { repeat: "yearly" },
    "1990-05-04T10:00:00Z",
    "2027-01-01T12:00:00Z",
  ],
])("a contact enters at %s each year", (expected, config, value, from) => {
  expect(nextOf(config, value, undefined, new Date(from))).toBe(expected);
});

test.each<[string, object]>([
  ["dateField", {}],
  ["dateField", { dateField: "event.day" }],
  ["dateField", { dateField: "data." }],
  ["amount", { dateField: "data.day", unit: "days" }],
  ["unit", { dateField: "data.day", amount: 1, unit: "hours", until: "09:00" }],
  ["amount", { dateField: "data.day", amount: 366, unit: "days" }],
  ["timezone", { dateField: "data.day", timezone: "Mars/Base" }],
  ["repeat", { dateField: "data.day", repeat: "monthly" }],
  [
    "segmentId",
    {
      dateField: "data.day",
      segmentId: "00000000-0000-4000-8000-000000000000",
      audienceFilter: { operator: "AND", conditions: [{ field: "data.plan", operator: "exists" }] },
    },
  ],
])("rejects %s of a trigger that can't be meant", (field, config) => {
  const faults = TRIGGER_CONFIGS.DATE.safeParse(config).error?.issues ?? [];
  expect(faults.map(({ path }) => path.join("."))).toEqual([field]);
});
