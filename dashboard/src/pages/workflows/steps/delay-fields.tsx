// The duration, time or date of a DELAY.
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS, Checkbox, Field, Select } from "../../../ui/field.tsx";
import { UNIT_NAMES } from "../../segments/condition-builder/operators.ts";
import { WEEKDAYS } from "../days-and-times.ts";
import type { FieldsProps } from "./step-config.ts";
import { delayText } from "./step-text.ts";

const UNITS = ["minutes", "hours", "days", "weeks"] as const;
type Unit = (typeof UNITS)[number];
const UNIT_OPTIONS = UNITS.map((value) => ({ value, label: UNIT_NAMES[value] }));

interface DurationProps {
  label: string;
  amount: number | undefined;
  unit: Unit;
  onChange: (amount: number | undefined, unit: Unit) => void;
  error: string | undefined;
}

/** An amount of time with its unit. */
export function Duration({ label, amount, unit, onChange, error }: DurationProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <div className="grid grid-cols-2 gap-1.5">
        <input
          id={id}
          type="number"
          min={1}
          value={amount ?? ""}
          aria-invalid={error === undefined ? undefined : true}
          onChange={({ target }) => onChange(target.value === "" ? undefined : Number(target.value), unit)}
          className={INPUT_CLASS}
        />
        <select
          aria-label={t("Unit of time")}
          value={unit}
          onChange={({ target }) => onChange(amount, target.value as Unit)}
          className={INPUT_CLASS}
        >
          {UNIT_OPTIONS.map(({ value, label: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {error !== undefined && <p className="text-sm text-bad">{error}</p>}
    </div>
  );
}

interface Delay {
  amount?: number;
  unit?: Unit;
  until?: string;
  timezone?: string;
  weekdays?: number[];
  dateField?: string;
  direction?: "before" | "after";
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
          <TimeAndZone delay={{ ...delay, until }} onChange={onChange} error={error} />
          <Weekdays delay={delay} onChange={onChange} error={error} />
        </>
      )}
      {kind === "date" && <DateFields {...{ projectId, startEvent, delay, onChange, error }} />}
      <p role="status" className="text-sm text-soft">
        {delayText(delay)}
      </p>
    </>
  );
}

interface PartProps extends Pick<FieldsProps, "onChange" | "error"> {
  delay: Delay;
}

function TimeAndZone({ delay, onChange, error }: PartProps) {
  const { until = "", timezone = "UTC" } = delay;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set(["UTC", own, timezone])].filter((zone) => zone !== "contact");
  return (
    <>
      <Field
        label={t("Time")}
        type="time"
        value={until}
        onChange={({ target }) => onChange({ ...delay, until: target.value })}
        error={problemWith(error, "config.until")}
      />
      <Select
        label={t("Time zone")}
        options={[
          { value: "contact", label: t("The contact's time zone") },
          ...zones.map((value) => ({ value, label: value })),
        ]}
        value={timezone}
        onChange={({ target }) => onChange({ ...delay, timezone: target.value })}
        error={problemWith(error, "config.timezone")}
      />
    </>
  );
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

type DateFieldsProps = PartProps & Pick<FieldsProps, "projectId" | "startEvent">;

/** A text field that suggests the fields whose newest value is a date. */
function DateField({ projectId, startEvent, delay, onChange, error }: DateFieldsProps) {
  const { data } = useQuery(
    query(api.workflows.listFields, {
      projectId,
      query: startEvent === undefined ? {} : { eventName: startEvent },
    }),
  );
  const listId = useId();
  const dates = (data?.typedFields ?? []).filter(
    ({ field, type }) => type === "date" && /^(?:data|event)[.]/.test(field),
  );
  return (
    <>
      <Field
        label={t("Field with a date")}
        help={t("data.<key> of the contact or event.<key> of the start event. A past date ends the wait.")}
        placeholder="data.trialEndsAt"
        list={listId}
        autoComplete="off"
        value={delay.dateField ?? ""}
        onChange={({ target }) => onChange({ ...delay, dateField: target.value })}
        error={problemWith(error, "config.dateField")}
      />
      <datalist id={listId}>
        {dates.map(({ field }) => (
          <option key={field} value={field} />
        ))}
      </datalist>
    </>
  );
}

/** The field with the date, the time before or after it, and the time of day. */
function DateFields(props: DateFieldsProps) {
  const { delay, onChange, error } = props;
  const { amount, unit = "days", direction = "after", until } = delay;
  const { amount: _amount, unit: _unit, direction: _direction, ...atDate } = delay;
  const { until: _until, timezone: _timezone, ...atAnyTime } = delay;
  return (
    <>
      <DateField {...props} />
      <Select
        label={t("Wait until")}
        options={[
          { value: "at", label: t("On that date") },
          { value: "before", label: t("Before it") },
          { value: "after", label: t("After it") },
        ]}
        value={amount === undefined ? "at" : direction}
        onChange={({ target }) =>
          onChange(
            target.value === "at"
              ? atDate
              : {
                  ...delay,
                  amount: amount ?? 1,
                  unit,
                  direction: target.value === "before" ? "before" : "after",
                },
          )
        }
      />
      {amount !== undefined && (
        <Duration
          label={t("Duration")}
          amount={amount}
          unit={unit}
          onChange={(next = 1, of) => onChange({ ...delay, amount: next, unit: of })}
          error={problemWith(error, "config.amount") ?? problemWith(error, "config.unit")}
        />
      )}
      <Checkbox
        label={t("At a time of day")}
        checked={until !== undefined}
        onChange={({ target }) =>
          onChange(target.checked ? { ...delay, until: "09:00", timezone: "contact" } : atAnyTime)
        }
      />
      {until !== undefined && <TimeAndZone delay={delay} onChange={onChange} error={error} />}
    </>
  );
}
