// Changes the trigger of a workflow.
import type { TriggerType } from "@postloft/contract/workflows/graph.ts";
import { AppError } from "../platform/app-error.ts";
import type { Tx } from "../platform/database/database.ts";
import { addDatesJob } from "./dates/follow-dates.ts";
import type { WorkflowRow } from "./queries.ts";
import { subscribeWorkflows } from "./subscriptions.ts";
import { checkTrigger, type CheckedTrigger } from "./trigger.ts";

interface TriggerEdit {
  triggerType?: TriggerType | undefined;
  triggerConfig?: Readonly<Record<string, unknown>> | undefined;
  /** Alias of `triggerConfig.eventName`. */
  eventName?: string | undefined;
}

export function changesTrigger({ triggerType, triggerConfig, eventName }: TriggerEdit): boolean {
  return triggerType !== undefined || triggerConfig !== undefined || eventName !== undefined;
}

/**
 * Returns the new trigger, or null if the edit does not change it.
 * @throws AppError VALIDATION_ERROR
 */
export async function changedTrigger(
  tx: Tx,
  projectId: string,
  row: WorkflowRow,
  edit: TriggerEdit,
): Promise<CheckedTrigger | null> {
  if (!changesTrigger(edit)) return null;
  const { triggerType, triggerConfig, eventName } = edit;
  const type = triggerType ?? row.triggerType;
  if (eventName !== undefined && type !== "EVENT")
    throw new AppError("VALIDATION_ERROR", {
      fields: [{ field: "eventName", code: "custom", message: "Only allowed with the trigger EVENT." }],
    });
  const before = type === row.triggerType ? row.triggerConfig : {};
  const config = { ...(triggerConfig ?? before), ...(eventName === undefined ? {} : { eventName }) };
  // Repeating the current type changes nothing. An unfinished workflow may repeat EVENT.
  if (triggerConfig === undefined && eventName === undefined && type === row.triggerType) return null;
  return checkTrigger(tx, projectId, { type, config });
}

export function columnsOf({ type, config, event }: CheckedTrigger) {
  return { triggerType: type, triggerConfig: JSON.stringify(config), triggerEvent: event };
}

/** Subscribes to the events of a changed trigger, and queues the job that computes the times of its contacts if it has or had any. */
export async function followTrigger(
  tx: Tx,
  projectId: string,
  {
    id,
    before,
    after,
  }: { id: string; before: { datesSince: Date | null }; after: { datesSince: Date | null } },
): Promise<void> {
  await subscribeWorkflows(tx, projectId);
  if (before.datesSince !== null || after.datesSince !== null) await addDatesJob(tx, projectId, id);
}
