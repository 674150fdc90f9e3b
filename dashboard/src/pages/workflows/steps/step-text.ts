// Describes the configuration of a step in words.
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import { locale, plural, t } from "../../../text/t.ts";
import { sentenceOf } from "../../segments/condition-builder/condition-sentence.ts";
import type { Fields } from "../../segments/condition-builder/fields.ts";
import { formatSpan } from "../../segments/condition-builder/operators.ts";
import { shareText } from "./step-kinds.ts";
import { filterOfStored } from "../condition-form.ts";
import { timeOfDay, WEEKDAYS } from "../days-and-times.ts";
import { triggerText, type SegmentNames } from "../trigger-text.ts";
import type { Step, Workflow } from "../workflow-queries.ts";

/** Names that the sentences need. */
export interface Names {
  segments: SegmentNames;
  /** Templates by id. */
  templates: ReadonlyMap<string, string>;
  fields: Pick<Fields, "nameOf" | "typeOf">;
}

const LIST = new Intl.ListFormat(locale(), { type: "disjunction" });
/** Returns a sentence about the step, without a period. */
export function stepText(
  { type, config, templateId }: Pick<Step, "type" | "config" | "templateId">,
  workflow: Pick<Workflow, "triggerType" | "triggerConfig">,
  names: Names,
): string {
  switch (type) {
    case "TRIGGER":
      return triggerText(workflow, names.segments);
    case "SEND_EMAIL":
      return mailText(config as StepConfig<"SEND_EMAIL">, templateId, names);
    case "DELAY":
      return delayText(config as StepConfig<"DELAY">);
    case "WAIT_FOR_EVENT":
      return waitText(config as StepConfig<"WAIT_FOR_EVENT">);
    case "CONDITION":
      return sentenceOf(filterOfStored(config), names.fields);
    case "BRANCH":
      return t("First match of {names}", {
        names: LIST.format((config as StepConfig<"BRANCH">).branches.map(({ name }) => name)),
      });
    case "RANDOM_SPLIT":
      return (config as StepConfig<"RANDOM_SPLIT">).shares
        .map(({ name, percent }) => `${name} ${shareText(percent)}`)
        .join(" · ");
    case "UPDATE_CONTACT":
      return updateText(config as StepConfig<"UPDATE_CONTACT">);
    case "WEBHOOK": {
      const { url, method = "POST" } = config as StepConfig<"WEBHOOK">;
      return t("{method} request to {host}", { method, host: URL.parse(url)?.host ?? url });
    }
    case "EXIT": {
      const { reason = "" } = config as StepConfig<"EXIT">;
      return reason === "" ? t("Ends the path") : reason;
    }
  }
}

function mailText({ recipient }: StepConfig<"SEND_EMAIL">, templateId: string | null, names: Names): string {
  if (templateId === null) return t("No template yet");
  const template = names.templates.get(templateId) ?? t("a template");
  return recipient?.type === "CUSTOM"
    ? t("“{template}” to {address}", { template, address: recipient.customEmail ?? "" })
    : t("“{template}”", { template });
}

/** Returns a phrase such as "Waits until the next Tuesday, 9:00 AM in the contact's time zone". */
export function delayText(config: StepConfig<"DELAY">): string {
  const { amount, unit, until, timezone, weekdays, dateField } = config;
  if (dateField !== undefined) return dateDelayText({ ...config, dateField });
  if (until === undefined)
    return amount === undefined || unit === undefined
      ? t("No duration yet")
      : t("Waits {span}", { span: formatSpan(amount, unit) });
  const time = timeOfDay(until);
  const zone = timezone ?? "UTC";
  if (weekdays === undefined || weekdays.length === WEEKDAYS.length)
    return zone === "contact"
      ? t("Waits until the next {time} in the contact's time zone", { time })
      : t("Waits until the next {time} ({zone})", { time, zone });
  const days = LIST.format(WEEKDAYS.filter(({ day }) => weekdays.includes(day)).map(({ name }) => name));
  return zone === "contact"
    ? t("Waits until the next {days}, {time} in the contact's time zone", { days, time })
    : t("Waits until the next {days}, {time} ({zone})", { days, time, zone });
}

function dateDelayText({
  dateField,
  amount,
  unit,
  direction,
  until,
  timezone = "UTC",
}: StepConfig<"DELAY"> & { dateField: string }): string {
  if (dateField === "") return t("No field yet");
  const field = dateField.replace(/^data[.]/, "");
  const span = amount === undefined || unit === undefined ? null : formatSpan(amount, unit);
  let day = t("Waits until “{field}”", { field });
  if (span !== null)
    day =
      direction === "before"
        ? t("Waits until {span} before “{field}”", { span, field })
        : t("Waits until {span} after “{field}”", { span, field });
  if (until === undefined) return day;
  const time = timeOfDay(until);
  return timezone === "contact"
    ? t("{day}, {time} in the contact's time zone", { day, time })
    : t("{day}, {time} ({zone})", { day, time, zone: timezone });
}

function waitText({ eventName, timeout }: StepConfig<"WAIT_FOR_EVENT">): string {
  if (timeout === undefined) return t("Waits for “{event}” without end", { event: eventName });
  return t("Waits for “{event}”, {span} at most", { event: eventName, span: durationText(timeout) });
}

/** The units of a timeout in seconds, the longest first. */
export const TIMEOUT_UNITS = [
  ["weeks", 604_800],
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
] as const;

/** Returns a duration in the longest unit without a remainder. */
function durationText(seconds: number): string {
  const [unit, length] = TIMEOUT_UNITS.find(([, one]) => seconds % one === 0) ?? [null, 1];
  return unit === null ? plural(seconds, "{n} second", "{n} seconds") : formatSpan(seconds / length, unit);
}

function updateText({ updates = {}, subscriptionAction = "none" }: StepConfig<"UPDATE_CONTACT">): string {
  const fields = Object.keys(updates);
  const parts = [
    ...(fields.length === 0 ? [] : [t("Sets {fields}", { fields: fields.join(", ") })]),
    ...(subscriptionAction === "subscribe" ? [t("Subscribes the contact")] : []),
    ...(subscriptionAction === "unsubscribe" ? [t("Unsubscribes the contact")] : []),
  ];
  return parts.join(" · ");
}
