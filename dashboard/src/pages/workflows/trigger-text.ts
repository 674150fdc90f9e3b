// Describes triggers in words.
import type { TriggerConfig, TriggerType } from "@postloft/contract/workflows/graph.ts";
import { t } from "../../text/t.ts";
import { formatSpan } from "../segments/condition-builder/operators.ts";
import { timeOfDay, WEEKDAYS } from "./days-and-times.ts";

export const TRIGGER_NAMES: Record<TriggerType, string> = {
  EVENT: t("An event happens"),
  SEGMENT_ENTRY: t("A contact enters a segment"),
  SEGMENT_EXIT: t("A contact leaves a segment"),
  SCHEDULE: t("On a schedule"),
  DATE: t("A date in a field comes"),
  MANUAL: t("Manually or through the API"),
};

interface Trigger {
  triggerType: TriggerType;
  triggerConfig: Readonly<Record<string, unknown>>;
}

/** Names segments by id. */
export type SegmentNames = ReadonlyMap<string, string>;

/** Returns a phrase such as "When “signed-up” happens". */
export function triggerText({ triggerType, triggerConfig }: Trigger, segments: SegmentNames): string {
  const { eventName, segmentId, cron, timezone } = triggerConfig as Partial<Record<string, string>>;
  const segment = segments.get(segmentId ?? "") ?? t("a segment");
  switch (triggerType) {
    case "EVENT":
      return eventName === undefined ? t("No event yet") : t("When “{event}” happens", { event: eventName });
    case "SEGMENT_ENTRY":
      return segmentId === undefined ? t("No segment yet") : t("When someone joins “{segment}”", { segment });
    case "SEGMENT_EXIT":
      return segmentId === undefined
        ? t("No segment yet")
        : t("When someone leaves “{segment}”", { segment });
    case "SCHEDULE":
      return cron === undefined ? t("No schedule yet") : scheduleText(cron, timezone ?? "UTC");
    case "DATE":
      return dateText(triggerConfig);
    case "MANUAL":
      return TRIGGER_NAMES.MANUAL;
  }
}

/** Returns a phrase such as "3 days before “trialEndsAt”, 9:00 AM in the contact's time zone". */
export function dateText(config: Readonly<Record<string, unknown>>): string {
  const {
    dateField = "",
    amount,
    unit,
    direction,
    until,
    timezone = "UTC",
    repeat,
  } = config as Partial<TriggerConfig<"DATE">>;
  if (dateField === "") return t("No field yet");
  const field = dateField.replace(/^data[.]/, "");
  const span = amount === undefined || unit === undefined ? null : formatSpan(amount, unit);
  let day = t("On “{field}”", { field });
  if (span !== null)
    day =
      direction === "before"
        ? t("{span} before “{field}”", { span, field })
        : t("{span} after “{field}”", { span, field });
  if (repeat === "yearly") day = t("{day}, each year", { day });
  if (until === undefined) return day;
  const time = timeOfDay(until);
  return timezone === "contact"
    ? t("{day}, {time} in the contact's time zone", { day, time })
    : t("{day}, {time} ({zone})", { day, time, zone: timezone });
}

const WORKDAYS = "1-5";
const EVERY = "*";

/** Returns a phrase for daily, weekly and monthly schedules, and otherwise the cron expression. */
function scheduleText(cron: string, zone: string): string {
  const [minute = "", hour = "", date = "", month = "", weekday = ""] = cron.trim().split(/\s+/);
  const isOnceADay = /^\d+$/.test(minute) && /^\d+$/.test(hour) && month === EVERY;
  const time = isOnceADay ? timeOfDay(`${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`) : "";
  const sunday = 7;
  const day = WEEKDAYS.find(
    (one) => /^[0-7]$/.test(weekday) && one.day === (Number(weekday) || sunday),
  )?.name;
  if (isOnceADay && date === EVERY) {
    if (weekday === EVERY) return t("Every day at {time} ({zone})", { time, zone });
    if (weekday === WORKDAYS) return t("Monday to Friday at {time} ({zone})", { time, zone });
    if (day !== undefined) return t("Every {day} at {time} ({zone})", { day, time, zone });
  }
  if (isOnceADay && weekday === EVERY && /^\d+$/.test(date))
    return t("On day {date} of each month at {time} ({zone})", { date, time, zone });
  return t("On the schedule {cron} ({zone})", { cron, zone });
}
