// The inputs for what lets contacts into a workflow.
import type { ExitCondition } from "@postloft/contract/workflows/exit-conditions.ts";
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import type { TriggerType } from "@postloft/contract/workflows/graph.ts";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Field, Select } from "../../../ui/field.tsx";
import { EventField } from "../event-field.tsx";
import { DateTriggerFields } from "./date-trigger-fields.tsx";
import { SegmentSelect } from "./segment-select.tsx";
import type { Config } from "./step-config.ts";

export interface TriggerDraft {
  name: string;
  triggerType: TriggerType;
  triggerConfig: Config;
  allowReentry: boolean;
  exitConditions: ExitCondition[];
  goal: Goal | null;
  /** False while an exit condition can't be saved. */
  isComplete: boolean;
}

interface TriggerFieldsProps {
  projectId: string;
  draft: TriggerDraft;
  onChange: (config: Config) => void;
  error: unknown;
}

export function TriggerFields({
  projectId,
  draft: { triggerType, triggerConfig },
  onChange,
  error,
}: TriggerFieldsProps) {
  switch (triggerType) {
    case "EVENT":
      return (
        <EventField
          projectId={projectId}
          label={t("Event")}
          value={String(triggerConfig["eventName"] ?? "")}
          onChange={(eventName) => onChange({ ...triggerConfig, eventName })}
          error={problemWith(error, "triggerConfig.eventName") ?? problemWith(error, "eventName")}
        />
      );
    case "SEGMENT_ENTRY":
    case "SEGMENT_EXIT":
      return (
        <SegmentSelect
          projectId={projectId}
          mustBeTracked
          value={String(triggerConfig["segmentId"] ?? "")}
          onChange={(segmentId) => onChange({ segmentId })}
          error={problemWith(error, "triggerConfig.segmentId")}
        />
      );
    case "SCHEDULE":
      return (
        <ScheduleFields projectId={projectId} config={triggerConfig} onChange={onChange} error={error} />
      );
    case "DATE":
      return (
        <DateTriggerFields projectId={projectId} config={triggerConfig} onChange={onChange} error={error} />
      );
    case "MANUAL":
      return (
        <p className="text-sm text-soft">
          {t("Contacts enter only when you or your app start an execution.")}
        </p>
      );
  }
}

interface ScheduleFieldsProps {
  projectId: string;
  config: Config;
  onChange: (config: Config) => void;
  error: unknown;
}

function ScheduleFields({ projectId, config, onChange, error }: ScheduleFieldsProps) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const {
    cron = "",
    timezone = "UTC",
    segmentId,
    audienceType,
    audienceFilter,
  } = config as Partial<Record<string, string>>;
  const isFiltered = (audienceFilter ?? null) !== null;
  const audience = audienceType ?? ((segmentId ?? null) === null ? "" : "SEGMENT");
  const time = { ...(cron === "" ? {} : { cron }), timezone };
  return (
    <>
      <Field
        label={t("Schedule")}
        help={t("Minute, hour, day, month, weekday: 0 9 * * 1 is Mondays at 9:00.")}
        placeholder="0 9 * * 1"
        value={cron}
        onChange={({ target }) => onChange({ ...config, cron: target.value })}
        error={problemWith(error, "triggerConfig.cron")}
      />
      <Select
        label={t("Time zone")}
        options={[...new Set(["UTC", own, timezone])].map((value) => ({ value, label: value }))}
        value={timezone}
        onChange={({ target }) => onChange({ ...config, timezone: target.value })}
        error={problemWith(error, "triggerConfig.timezone")}
      />
      <Select
        label={t("Audience")}
        options={[
          { value: "", label: t("Choose an audience") },
          { value: "ALL", label: t("Everyone") },
          { value: "SEGMENT", label: t("A segment") },
          ...(isFiltered ? [{ value: "FILTERED", label: t("Contacts that match a filter") }] : []),
        ]}
        value={audience}
        onChange={({ target }) =>
          onChange(
            target.value === "FILTERED"
              ? config
              : target.value === ""
                ? time
                : { ...time, audienceType: target.value },
          )
        }
        error={problemWith(error, "triggerConfig.audienceType")}
      />
      {audience === "SEGMENT" && (
        <SegmentSelect
          projectId={projectId}
          value={segmentId ?? ""}
          onChange={(id) => onChange({ ...time, audienceType: "SEGMENT", segmentId: id })}
          error={problemWith(error, "triggerConfig.segmentId")}
        />
      )}
    </>
  );
}
