// Checks the trigger of a workflow when it is saved, and determines the event that starts the workflow.
import { segmentEventName } from "@postloft/contract/event-names.ts";
import { TRIGGER_CONFIGS, type TriggerType } from "@postloft/contract/workflows/graph.ts";
import { unknownFieldIssues } from "@postloft/contract/unknown-fields.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { now } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { fieldErrors } from "../platform/http/errors.ts";
import { invalidField, AppError } from "../platform/app-error.ts";
import { lockSegments, type KnownSegment } from "./reference-queries.ts";
import { segmentIdsOfTrigger } from "./references.ts";
import { faultOfSchedule, nextRunAfter, type Schedule } from "./schedule.ts";

export interface CheckedTrigger {
  type: TriggerType;
  config: Readonly<Record<string, unknown>>;
  /** The event that starts the workflow, or null. */
  event: string | null;
}

/**
 * Returns a trigger ready to be stored. Locks its references until the end of the transaction.
 * @throws AppError VALIDATION_ERROR for `triggerConfig.…`
 */
export async function checkTrigger(
  tx: Tx,
  projectId: string,
  { type, config }: { type: TriggerType; config: Readonly<Record<string, unknown>> },
): Promise<CheckedTrigger> {
  const parsed = TRIGGER_CONFIGS[type].safeParse(config);
  const unknown = unknownFieldIssues(TRIGGER_CONFIGS[type], config, ["triggerConfig"]);
  if (!parsed.success || unknown.length > 0) {
    const faults = parsed.error?.issues ?? [];
    const issues = [...faults.map((one) => ({ ...one, path: ["triggerConfig", ...one.path] })), ...unknown];
    throw new AppError("VALIDATION_ERROR", {
      fields: fieldErrors(issues, { triggerConfig: config }, "triggerConfig"),
    });
  }
  const read: Readonly<Record<string, unknown>> = parsed.data;
  if (type === "SCHEDULE") {
    const fault = faultOfSchedule(read as unknown as Schedule, now());
    if (fault !== null) throw invalidField("triggerConfig.cron", "custom", fault);
  }
  const wanted = segmentIdsOfTrigger({ type, config: read });
  const segments = wanted.length === 0 ? [] : await lockSegments(tx, projectId, wanted);
  for (const id of wanted)
    if (!segments.some((segment) => segment.id === id)) {
      const field = read["segmentId"] === id ? "triggerConfig.segmentId" : "triggerConfig.audienceFilter";
      throw invalidField(field, "custom", withValues("Segment {id} not found.", { id }));
    }
  const [segment] = segments;
  if ((type === "SEGMENT_ENTRY" || type === "SEGMENT_EXIT") && segment !== undefined && !isTracked(segment))
    throw invalidField(
      "triggerConfig.segmentId",
      "custom",
      segment.type === "STATIC"
        ? withValues(
            'Contacts don\'t enter or leave the static segment "{name}" automatically. Choose a dynamic segment.',
            { name: segment.name },
          )
        : withValues(
            'Entries and exits of the segment "{name}" are not tracked. Set its `trackMembership` to true first.',
            { name: segment.name },
          ),
    );
  return { type, config: read, event: eventOf(type, read, segment) };
}

export function isTracked({ type, trackMembership }: KnownSegment): boolean {
  return type === "DYNAMIC" && trackMembership;
}

/** Returns the event that starts a workflow, given the segment of its trigger. */
function eventOf(
  type: TriggerType,
  config: Readonly<Record<string, unknown>>,
  segment: { slug: string } | undefined,
): string | null {
  if (type === "EVENT") return typeof config["eventName"] === "string" ? config["eventName"] : null;
  if (segment === undefined) return null;
  if (type === "SEGMENT_ENTRY") return segmentEventName(segment.slug, "entry");
  return type === "SEGMENT_EXIT" ? segmentEventName(segment.slug, "exit") : null;
}

/** Returns when a workflow with this trigger runs next, and since when its dates count. Both are null unless it is enabled and of the type. */
export function timesOf(
  { type, config }: { type: TriggerType; config: Readonly<Record<string, unknown>> },
  enabled: boolean,
): { nextRunAt: Date | null; datesSince: Date | null } {
  const isScheduled = enabled && type === "SCHEDULE" && typeof config["cron"] === "string";
  const isDated = enabled && type === "DATE" && typeof config["dateField"] === "string";
  return {
    nextRunAt: isScheduled ? nextRunAfter(config as unknown as Schedule, now()) : null,
    datesSince: isDated ? now() : null,
  };
}
