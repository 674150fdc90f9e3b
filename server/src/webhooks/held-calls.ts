// Holds calls after the database was rolled back to an earlier state, because they may have been made already.
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Tx } from "../platform/database/database.ts";
import { updateCallsToDropped, updateCallsToHeld, updateCallsToReleased } from "./queries.ts";

export { countHeldCalls } from "./queries.ts";

/** Holds every waiting or running call. */
export async function holdCalls(tx: Tx): Promise<void> {
  await updateCallsToHeld(tx);
}

/** Makes the held calls of a project, or of all, under their previous ids. */
export async function releaseHeldCalls(tx: Tx, projectId: string | null): Promise<void> {
  await updateCallsToReleased(tx, projectId);
}

/** Drops the held calls of a project, or of all. The executions that wait for them are dropped too. */
export async function dropHeldCalls(tx: Tx, projectId: string | null): Promise<void> {
  await updateCallsToDropped(tx, projectId, recordedReason("callDropped"));
}
