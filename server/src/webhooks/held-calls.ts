// Calls held after the database went back to an earlier state: they may have been made already.
import type { Tx } from "../platform/database/database.ts";
import { updateCallsToDropped, updateCallsToHeld, updateCallsToReleased } from "./queries.ts";

export { countHeldCalls } from "./queries.ts";

const DROPPED =
  "Dropped: the database went back to an earlier state, so this call may have been made already.";

/** Holds every call that waits or is under way. */
export async function holdCalls(tx: Tx): Promise<void> {
  await updateCallsToHeld(tx);
}

/** Held calls of a project, or of all, are made, under the ids that they had. */
export async function releaseHeldCalls(tx: Tx, projectId: string | null): Promise<void> {
  await updateCallsToReleased(tx, projectId);
}

/** Held calls of a project, or of all, are not made. The executions that wait for them are dropped with them. */
export async function dropHeldCalls(tx: Tx, projectId: string | null): Promise<void> {
  await updateCallsToDropped(tx, projectId, DROPPED);
}
