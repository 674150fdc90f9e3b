// The event and timeout of a WAIT_FOR_EVENT.
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Checkbox } from "../../../ui/field.tsx";
import { EventField } from "../event-field.tsx";
import type { FieldsProps } from "./step-config.ts";
import { TIMEOUT_UNITS } from "./step-text.ts";
import { Duration } from "./date-fields.tsx";

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
