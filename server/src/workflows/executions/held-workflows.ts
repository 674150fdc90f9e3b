// Holds executions and schedules after the database was rolled back to an earlier state, because their emails may have been sent already.
// Later executions are not affected.
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Tx } from "../../platform/database/database.ts";
import { listProjectsWithReactions } from "../../reactions/reactions.ts";
import { nextRunAfter } from "../schedule.ts";
import { enterAllByDates } from "../dates/enter-by-dates.ts";
import { updateNextRun } from "./entry-queries.ts";
import {
  takeHeldSchedules,
  updateExecutionsToDropped,
  updateExecutionsToHeld,
  updateExecutionsToReleased,
  updateSchedulesToHeld,
  updateSchedulesToReleased,
} from "./held-queries.ts";
import { reactOnce } from "./react.ts";

export { countHeldExecutions, countHeldSchedules } from "./held-queries.ts";

const HELD = recordedReason("executionHeld");
const DROPPED = recordedReason("executionDropped");

/** Holds every active execution and every schedule. Contacts enter for earlier events and dates first, so that their executions are held too. */
export async function holdWorkflows(tx: Tx): Promise<void> {
  await updateSchedulesToHeld(tx);
  for (const projectId of await listProjectsWithReactions(tx, "workflows"))
    while (await reactOnce(tx, projectId));
  await enterAllByDates(tx);
  await updateExecutionsToHeld(tx, HELD);
}

/** Resumes held executions at their steps. An overdue schedule runs once. */
export async function releaseHeldWorkflows(tx: Tx, projectId: string | null): Promise<void> {
  await updateExecutionsToReleased(tx, projectId);
  await updateSchedulesToReleased(tx, projectId);
}

/** Cancels held executions. Held schedules continue with their next run. */
export async function dropHeldWorkflows(tx: Tx, projectId: string | null): Promise<void> {
  await updateExecutionsToDropped(tx, projectId, DROPPED);
  for (const { projectId: ownerId, id, triggerConfig, isDue, now } of await takeHeldSchedules(
    tx,
    projectId,
  )) {
    const { cron, timezone } = triggerConfig as TriggerConfig<"SCHEDULE">;
    if (isDue)
      await updateNextRun(tx, ownerId, id, nextRunAfter({ cron, ...(timezone && { timezone }) }, now));
  }
}
