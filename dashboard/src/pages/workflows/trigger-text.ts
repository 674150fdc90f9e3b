// Describes triggers in words.
import type { TriggerType } from "@postloft/contract/workflows/graph.ts";
import { t } from "../../text/t.ts";

export const TRIGGER_NAMES: Record<TriggerType, string> = {
  EVENT: t("An event happens"),
  SEGMENT_ENTRY: t("A contact enters a segment"),
  SEGMENT_EXIT: t("A contact leaves a segment"),
  SCHEDULE: t("On a schedule"),
  MANUAL: t("Manually or through the API"),
};

interface Trigger {
  triggerType: TriggerType;
  triggerConfig: Readonly<Record<string, unknown>>;
}

/** Names segments by id. */
export type SegmentNames = ReadonlyMap<string, string>;

/** Returns a phrase such as "“signed-up” happens". */
export function triggerText({ triggerType, triggerConfig }: Trigger, segments: SegmentNames): string {
  const { eventName, segmentId, cron, timezone } = triggerConfig as Partial<Record<string, string>>;
  const segment = segments.get(segmentId ?? "") ?? t("a segment");
  switch (triggerType) {
    case "EVENT":
      return eventName === undefined ? t("No event yet") : t("“{event}” happens", { event: eventName });
    case "SEGMENT_ENTRY":
      return segmentId === undefined ? t("No segment yet") : t("A contact enters “{segment}”", { segment });
    case "SEGMENT_EXIT":
      return segmentId === undefined ? t("No segment yet") : t("A contact leaves “{segment}”", { segment });
    case "SCHEDULE":
      return cron === undefined
        ? t("No schedule yet")
        : t("Schedule {cron} ({zone})", { cron, zone: timezone ?? "UTC" });
    case "MANUAL":
      return TRIGGER_NAMES.MANUAL;
  }
}
