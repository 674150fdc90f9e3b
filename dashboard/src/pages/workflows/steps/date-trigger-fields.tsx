// The inputs of the trigger DATE: the time around a date, its repetition, and the audience.
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Checkbox, Select } from "../../../ui/field.tsx";
import { dateText } from "../trigger-text.ts";
import { DateFields, type AroundDate } from "./date-fields.tsx";
import { SegmentSelect } from "./segment-select.tsx";
import type { Config } from "./step-config.ts";

/** The config of a new trigger DATE. */
export const FIRST_DATE: Config = {
  dateField: "",
  amount: 3,
  unit: "days",
  direction: "before",
  until: "09:00",
  timezone: "contact",
};

interface DateTriggerFieldsProps {
  projectId: string;
  config: Config;
  onChange: (config: Config) => void;
  error: unknown;
}

export function DateTriggerFields({ projectId, config, onChange, error }: DateTriggerFieldsProps) {
  const { repeat, ...once } = config;
  return (
    <>
      <DateFields
        projectId={projectId}
        value={config as AroundDate}
        onChange={onChange}
        error={error}
        errorsAt="triggerConfig"
        whenLabel={t("Contacts enter")}
        help={t("data.<key> of the contact. A time that has passed starts nothing.")}
      />
      <Checkbox
        label={t("Repeat each year")}
        help={t("For birthdays and anniversaries. Also allow re-entry.")}
        checked={repeat === "yearly"}
        onChange={({ target }) => onChange(target.checked ? { ...once, repeat: "yearly" } : once)}
      />
      <Audience projectId={projectId} config={config} onChange={onChange} error={error} />
      <p role="status" className="text-sm text-soft">
        {dateText(config)}
      </p>
    </>
  );
}

function Audience({ projectId, config, onChange, error }: DateTriggerFieldsProps) {
  const { segmentId = null, audienceFilter = null, ...everyone } = config;
  const audience = audienceFilter !== null ? "FILTERED" : segmentId === null ? "ALL" : "SEGMENT";
  return (
    <>
      <Select
        label={t("Audience")}
        options={[
          { value: "ALL", label: t("Everyone with a date") },
          { value: "SEGMENT", label: t("A segment") },
          ...(audienceFilter === null
            ? []
            : [{ value: "FILTERED", label: t("Contacts that match a filter") }]),
        ]}
        value={audience}
        onChange={({ target }) =>
          onChange(
            target.value === "FILTERED"
              ? config
              : target.value === "ALL"
                ? everyone
                : { ...everyone, segmentId: "" },
          )
        }
      />
      {audience === "SEGMENT" && (
        <SegmentSelect
          projectId={projectId}
          value={String(segmentId)}
          onChange={(id) => onChange({ ...everyone, segmentId: id })}
          error={problemWith(error, "triggerConfig.segmentId")}
        />
      )}
    </>
  );
}
