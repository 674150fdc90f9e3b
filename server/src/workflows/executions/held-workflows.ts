// Executions and schedules held after the database went back to an earlier state: what they would send may have left already. What starts
// afterwards goes on.
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import type { Tx } from "../../platform/database/database.ts";
import { listProjectsWithReactions } from "../../reactions/reactions.ts";
import { nextRunAfter } from "../schedule.ts";
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

const HELD =
  "Held: the database went back to an earlier state, so what comes next may have happened already. Whoever runs the installation releases or drops it.";
const DROPPED =
  "Dropped: the database went back to an earlier state, so what came next may have happened already.";

/** Holds every execution that is under way and every schedule. What happened before enters first, and is held with them. */
export async function holdWorkflows(tx: Tx): Promise<void> {
  await updateSchedulesToHeld(tx);
  for (const projectId of await listProjectsWithReactions(tx, "workflows"))
    while (await reactOnce(tx, projectId));
  await updateExecutionsToHeld(tx, HELD);
}

/** They go on where they stand; a schedule whose time has passed runs once. */
export async function releaseHeldWorkflows(tx: Tx, projectId: string | null): Promise<void> {
  await updateExecutionsToReleased(tx, projectId);
  await updateSchedulesToReleased(tx, projectId);
}

/** Executions are cancelled; schedules run at their next time. */
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
