// A dialog that asks for a future time, with presets.
import { useState, type FormEvent } from "react";
import { problemWith } from "../api/call.ts";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { formatInstant, formatTime } from "./format.ts";
import { Failure } from "./states.tsx";

const HOUR_MS = 3_600_000;
const NINE = 9;
const FOURTEEN = 14;
const MONDAY = 1;

function atHour(daysFromToday: number, hour: number): Date {
  const day = new Date();
  day.setDate(day.getDate() + daysFromToday);
  day.setHours(hour, 0, 0, 0);
  return day;
}

function presets(): Array<{ label: string; at: Date }> {
  const monday = atHour((MONDAY + 7 - new Date().getDay()) % 7 || 7, NINE);
  return [
    { label: t("In an hour"), at: new Date(Date.now() + HOUR_MS) },
    { label: t("In three hours"), at: new Date(Date.now() + 3 * HOUR_MS) },
    ...[NINE, FOURTEEN].map((hour) => {
      const at = atHour(1, hour);
      return { label: t("Tomorrow, {time}", { time: formatTime(at.toISOString()) }), at };
    }),
    { label: t("Next Monday, {time}", { time: formatTime(monday.toISOString()) }), at: monday },
  ];
}

/** Returns a `datetime-local` value in the user's time zone, with minute precision. */
function fieldValueOf(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, "yyyy-mm-ddThh:mm".length);
}

interface ScheduleDialogProps {
  title: string;
  /** The time before the change. Without one in the future, tomorrow morning is offered. */
  planned: string | null;
  /** Stores the time. The API reports its errors at `scheduledFor`. */
  doing: { error: unknown; isPending: boolean; mutate: (scheduledFor: string) => void };
  onClose: () => void;
}

export function ScheduleDialog({ title, planned, doing, onClose }: ScheduleDialogProps) {
  const [value, setValue] = useState(() => {
    const at = new Date(planned ?? 0);
    return fieldValueOf(at.getTime() > Date.now() ? at : atHour(1, NINE));
  });
  const chosen = new Date(value);
  const isPast = Number.isNaN(chosen.getTime()) || chosen.getTime() <= Date.now();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    doing.mutate(chosen.toISOString());
  };
  return (
    <Dialog title={title} open onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {doing.error !== null && <Failure error={doing.error} atInputs={isPast ? [] : ["scheduledFor"]} />}
        <div className="flex flex-wrap gap-2">
          {presets().map(({ label, at }) => (
            <Button key={label} onClick={() => setValue(fieldValueOf(at))}>
              {label}
            </Button>
          ))}
        </div>
        <Field
          label={t("Date and time")}
          type="datetime-local"
          value={value}
          onChange={({ target }) => setValue(target.value)}
          help={t("In your time zone, {zone}.", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
          error={isPast ? t("Choose a time in the future.") : problemWith(doing.error, "scheduledFor")}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={doing.isPending} disabled={isPast}>
            {isPast ? t("Schedule") : t("Schedule for {when}", { when: formatInstant(chosen.toISOString()) })}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
