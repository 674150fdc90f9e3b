// The inputs for a time before or after a date: the field, the amount of time, and the time of the day.
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS, Checkbox, Field, Select } from "../../../ui/field.tsx";
import { UNIT_NAMES } from "../../segments/condition-builder/operators.ts";

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

/** A time around a date, as in a DELAY and in the trigger DATE. */
export interface AroundDate {
  amount?: number;
  unit?: Unit;
  until?: string;
  timezone?: string;
  dateField?: string;
  direction?: "before" | "after";
}

interface PartProps {
  value: AroundDate;
  onChange: (value: Readonly<Record<string, unknown>>) => void;
  error: unknown;
  /** Where the API reports the errors of these inputs. */
  errorsAt: "config" | "triggerConfig";
}

export function TimeAndZone({ value, onChange, error, errorsAt }: PartProps) {
  const { until = "", timezone = "UTC" } = value;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set(["UTC", own, timezone])].filter((zone) => zone !== "contact");
  return (
    <>
      <Field
        label={t("Time")}
        type="time"
        value={until}
        onChange={({ target }) => onChange({ ...value, until: target.value })}
        error={problemWith(error, `${errorsAt}.until`)}
      />
      <Select
        label={t("Time zone")}
        options={[
          { value: "contact", label: t("The contact's time zone") },
          ...zones.map((zone) => ({ value: zone, label: zone })),
        ]}
        value={timezone}
        onChange={({ target }) => onChange({ ...value, timezone: target.value })}
        error={problemWith(error, `${errorsAt}.timezone`)}
      />
    </>
  );
}

interface DateFieldProps {
  projectId: string;
  /** Also offers the fields of this event. */
  startEvent?: string | undefined;
  label: string;
  help: string | undefined;
  placeholder?: string;
  autoFocus?: boolean;
  value: string;
  onChange: (field: string) => void;
  error: string | undefined;
}

/** A text field that suggests fields with a date as their newest value. */
export function DateField({
  projectId,
  startEvent,
  label,
  help,
  placeholder = "data.trialEndsAt",
  autoFocus = false,
  value,
  onChange,
  error,
}: DateFieldProps) {
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
        label={label}
        help={help}
        placeholder={placeholder}
        list={listId}
        autoComplete="off"
        autoFocus={autoFocus}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        error={error}
      />
      <datalist id={listId}>
        {dates.map(({ field }) => (
          <option key={field} value={field} />
        ))}
      </datalist>
    </>
  );
}

interface DateFieldsProps extends PartProps {
  projectId: string;
  startEvent?: string | undefined;
  /** The label of the choice between the date and a time before or after it. */
  whenLabel: string;
  help: string;
}

/** The field with the date, the time before or after it, and the time of day. */
export function DateFields(props: DateFieldsProps) {
  const { value, onChange, error, errorsAt, whenLabel, projectId, startEvent, help } = props;
  const { amount, unit = "days", direction = "after", until } = value;
  const { amount: _amount, unit: _unit, direction: _direction, ...atDate } = value;
  const { until: _until, timezone: _timezone, ...atAnyTime } = value;
  return (
    <>
      <DateField
        projectId={projectId}
        startEvent={startEvent}
        label={t("Field with a date")}
        help={help}
        value={value.dateField ?? ""}
        onChange={(dateField) => onChange({ ...value, dateField })}
        error={problemWith(error, `${errorsAt}.dateField`)}
      />
      <Select
        label={whenLabel}
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
                  ...value,
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
          onChange={(next = 1, of) => onChange({ ...value, amount: next, unit: of })}
          error={problemWith(error, `${errorsAt}.amount`) ?? problemWith(error, `${errorsAt}.unit`)}
        />
      )}
      <Checkbox
        label={t("At a time of day")}
        checked={until !== undefined}
        onChange={({ target }) =>
          onChange(target.checked ? { ...value, until: "09:00", timezone: "contact" } : atAnyTime)
        }
      />
      {until !== undefined && (
        <TimeAndZone value={value} onChange={onChange} error={error} errorsAt={errorsAt} />
      )}
    </>
  );
}
