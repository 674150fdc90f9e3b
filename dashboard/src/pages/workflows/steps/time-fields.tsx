// The duration or time of a DELAY, and the event and timeout of a WAIT_FOR_EVENT.
import { useId } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS, Checkbox, Field, Select } from "../../../ui/field.tsx";
import { UNIT_NAMES } from "../../segments/condition-builder/operators.ts";
import { WEEKDAYS } from "../days-and-times.ts";
import { EventField } from "../event-field.tsx";
import type { FieldsProps } from "./step-config.ts";
import { delayText, TIMEOUT_UNITS } from "./step-text.ts";

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

function Duration({ label, amount, unit, onChange, error }: DurationProps) {
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
}

export function DelayFields({ config, onChange, error }: FieldsProps) {
  const delay = config as Delay;
  const { amount, unit = "days", until } = delay;
  const problem =
    problemWith(error, "config.amount") ??
    problemWith(error, "config.unit") ??
    problemWith(error, "config.until");
  return (
    <>
      <Select
        label={t("Wait")}
        options={[
          { value: "for", label: t("For a duration") },
          { value: "until", label: t("Until a time of day") },
        ]}
        value={until === undefined ? "for" : "until"}
        onChange={({ target }) =>
          onChange(
            target.value === "for" ? { amount: 1, unit: "days" } : { until: "09:00", timezone: "contact" },
          )
        }
      />
      {until === undefined ? (
        <Duration
          label={t("Duration")}
          amount={amount}
          unit={unit}
          onChange={(next, of) => onChange({ ...(next === undefined ? {} : { amount: next }), unit: of })}
          error={problem}
        />
      ) : (
        <TimeOfDay delay={{ ...delay, until }} onChange={onChange} error={error} problem={problem} />
      )}
      <p role="status" className="text-sm text-soft">
        {delayText(delay)}
      </p>
    </>
  );
}

interface TimeOfDayProps extends Pick<FieldsProps, "onChange" | "error"> {
  delay: Delay & { until: string };
  problem: string | undefined;
}

function TimeOfDay({ delay, onChange, error, problem }: TimeOfDayProps) {
  const { until, timezone = "UTC", weekdays = WEEKDAYS.map(({ day }) => day) } = delay;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set(["UTC", own, timezone])].filter((zone) => zone !== "contact");
  const choose = (day: number, isChosen: boolean) => {
    const days = WEEKDAYS.map((one) => one.day).filter((one) =>
      one === day ? isChosen : weekdays.includes(one),
    );
    const { weekdays: _before, ...rest } = delay;
    onChange(days.length === WEEKDAYS.length ? rest : { ...rest, weekdays: days });
  };
  return (
    <>
      <Field
        label={t("Time")}
        type="time"
        value={until}
        onChange={({ target }) => onChange({ ...delay, until: target.value })}
        error={problem}
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
    </>
  );
}

const SECONDS: ReadonlyMap<string, number> = new Map(TIMEOUT_UNITS);

export function WaitFields({ projectId, config, onChange, error }: FieldsProps) {
  const { eventName = "", timeout } = config as { eventName?: string; timeout?: number };
  const [unit, seconds] = TIMEOUT_UNITS.find(([, one]) => (timeout ?? 0) % one === 0) ?? ["minutes", 60];
  const { timeout: _timeout, ...withoutTimeout } = config;
  return (
    <>
      <EventField
        projectId={projectId}
        label={t("Event")}
        value={eventName}
        onChange={(name) => onChange({ ...config, eventName: name })}
        error={problemWith(error, "config.eventName")}
      />
      <Checkbox
        label={t("Stop waiting after some time")}
        checked={timeout !== undefined}
        onChange={({ target }) => onChange(target.checked ? { ...config, timeout: 604_800 } : withoutTimeout)}
      />
      {timeout !== undefined && (
        <Duration
          label={t("Longest wait")}
          amount={Math.round(timeout / seconds)}
          unit={unit}
          onChange={(amount = 1, of) => onChange({ ...config, timeout: amount * (SECONDS.get(of) ?? 60) })}
          error={problemWith(error, "config.timeout")}
        />
      )}
    </>
  );
}
