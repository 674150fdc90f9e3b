// The duration, time or date of a DELAY.
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Checkbox, Select } from "../../../ui/field.tsx";
import { WEEKDAYS } from "../days-and-times.ts";
import { DateFields, Duration, TimeAndZone, type AroundDate } from "./date-fields.tsx";
import type { FieldsProps } from "./step-config.ts";
import { delayText } from "./step-text.ts";

interface Delay extends AroundDate {
  weekdays?: number[];
}

type DelayKind = "for" | "until" | "date";
const FIRST_DELAYS: Record<DelayKind, Delay> = {
  for: { amount: 1, unit: "days" },
  until: { until: "09:00", timezone: "contact" },
  date: { dateField: "", amount: 3, unit: "days", direction: "before", until: "09:00", timezone: "contact" },
};

function kindOf({ until, dateField }: Delay): DelayKind {
  if (dateField !== undefined) return "date";
  return until === undefined ? "for" : "until";
}

export function DelayFields({ projectId, startEvent, config, onChange, error }: FieldsProps) {
  const delay = config as Delay;
  const { amount, unit = "days", until = "" } = delay;
  const kind = kindOf(delay);
  const problem = problemWith(error, "config.amount") ?? problemWith(error, "config.unit");
  return (
    <>
      <Select
        label={t("Wait")}
        options={[
          { value: "for", label: t("For a duration") },
          { value: "until", label: t("Until a time of day") },
          { value: "date", label: t("Until a date in a field") },
        ]}
        value={kind}
        onChange={({ target }) => onChange({ ...FIRST_DELAYS[target.value as DelayKind] })}
      />
      {kind === "for" && (
        <Duration
          label={t("Duration")}
          amount={amount}
          unit={unit}
          onChange={(next, of) => onChange({ ...(next === undefined ? {} : { amount: next }), unit: of })}
          error={problem}
        />
      )}
      {kind === "until" && (
        <>
          <TimeAndZone value={{ ...delay, until }} onChange={onChange} error={error} errorsAt="config" />
          <Weekdays delay={delay} onChange={onChange} error={error} />
        </>
      )}
      {kind === "date" && (
        <DateFields
          projectId={projectId}
          startEvent={startEvent}
          value={delay}
          onChange={onChange}
          error={error}
          errorsAt="config"
          whenLabel={t("Wait until")}
          help={t("data.<key> of the contact or event.<key> of the start event. A past date ends the wait.")}
        />
      )}
      <p role="status" className="text-sm text-soft">
        {delayText(delay)}
      </p>
    </>
  );
}

interface PartProps extends Pick<FieldsProps, "onChange" | "error"> {
  delay: Delay;
}

function Weekdays({ delay, onChange, error }: PartProps) {
  const { weekdays = WEEKDAYS.map(({ day }) => day) } = delay;
  const choose = (day: number, isChosen: boolean) => {
    const days = WEEKDAYS.map((one) => one.day).filter((one) =>
      one === day ? isChosen : weekdays.includes(one),
    );
    const { weekdays: _before, ...rest } = delay;
    onChange(days.length === WEEKDAYS.length ? rest : { ...rest, weekdays: days });
  };
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t("Days")}</legend>
      <div className="grid grid-cols-2 gap-1">
        {WEEKDAYS.map(({ day, name }) => (
          <Checkbox
            key={day}
            label={name}
            checked={weekdays.includes(day)}
            onChange={({ target }) => choose(day, target.checked)}
          />
        ))}
      </div>
      {problemWith(error, "config.weekdays") !== undefined && (
        <p className="text-sm text-bad">{problemWith(error, "config.weekdays")}</p>
      )}
    </fieldset>
  );
}
