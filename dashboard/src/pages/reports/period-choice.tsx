// Chooses the period of the reports: the last days, or two dates.
import { useState } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { isPeriod, type Period } from "./period.ts";
import type { Span } from "./search.ts";

/** Search parameters of a period. `undefined` removes one. */
export interface PeriodChange {
  days?: Span | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

interface PeriodChoiceProps {
  /** The number of last days, or null for two dates. */
  days: Span | null;
  period: Period;
  onChange: (change: PeriodChange) => void;
}

export function PeriodChoice({ days, period, onChange }: PeriodChoiceProps) {
  const isCustom = days === null;
  return (
    <div className="flex flex-col items-end gap-2 max-sm:items-start">
      <Choices
        label={t("Period")}
        options={[
          { value: "7", label: t("7 days") },
          { value: "30", label: t("30 days") },
          { value: "90", label: t("90 days") },
          { value: "365", label: t("A year") },
          { value: "custom", label: t("Custom") },
        ]}
        value={isCustom ? "custom" : (String(days) as `${Span}`)}
        onChoose={(chosen) =>
          onChange(
            chosen === "custom"
              ? { days: undefined, from: period.startDate, to: period.endDate }
              : { days: Number(chosen) as Span, from: undefined, to: undefined },
          )
        }
      />
      {isCustom && (
        <Dates key={`${period.startDate} ${period.endDate}`} period={period} onChange={onChange} />
      )}
    </div>
  );
}

function Dates({ period, onChange }: Omit<PeriodChoiceProps, "days">) {
  const [from, setFrom] = useState(period.startDate);
  const [to, setTo] = useState(period.endDate);
  const isValid = isPeriod(from, to);
  const apply = () => {
    if (isValid) onChange({ from, to });
  };
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <DateInput label={t("First day")} value={from} max={to} onChange={setFrom} />
      <DateInput label={t("Last day")} value={to} min={from} onChange={setTo} />
      <Button type="submit" disabled={!isValid || (from === period.startDate && to === period.endDate)}>
        {t("Apply")}
      </Button>
      {!isValid && (
        <p role="alert" className="w-full text-sm text-bad">
          {t("The last day must not be before the first, and two years are the maximum.")}
        </p>
      )}
    </form>
  );
}

interface DateInputProps {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange: (date: string) => void;
}

function DateInput({ label, value, min, max, onChange }: DateInputProps) {
  return (
    <label className="flex flex-col gap-1 text-xs text-soft">
      {label}
      <input
        type="date"
        required
        value={value}
        min={min}
        max={max}
        onChange={({ target }) => onChange(target.value)}
        className={INPUT_CLASS}
      />
    </label>
  );
}
