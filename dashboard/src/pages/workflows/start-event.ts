// The event that starts a workflow.
import type { Workflow } from "./workflow-queries.ts";

/** Returns undefined if the trigger is not an event, or has none yet. */
export function startEventOf({
  triggerType,
  triggerConfig,
}: Pick<Workflow, "triggerType" | "triggerConfig">): string | undefined {
  const { eventName } = triggerConfig;
  return triggerType === "EVENT" && typeof eventName === "string" ? eventName : undefined;
}
